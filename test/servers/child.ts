import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, closeSync, existsSync, mkdtempSync, openSync, readFileSync, statfsSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** The user that runs a server. */
export interface User {
  uid: number
  gid: number
}

const START_SECONDS = 120
/** PostgreSQL kills its remaining processes 5 seconds after an immediate shutdown. */
const END_SECONDS = 8
/** A container has 64 MB by default. */
const MEMORY_ROOM_BYTES = 4 * 1024 ** 3

// A worker of an interrupted run would keep running, with its servers, until its test times out.
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'))

/** A server's processes, in a temporary folder. None of it outlives this process, however that ends. */
export class ServerProcess {
  readonly folder: string
  readonly #user: User | undefined
  readonly #lastSignal: NodeJS.Signals
  readonly #keeper: ChildProcess
  #child: ChildProcess | undefined
  #paused: number[] = []

  /** `lastSignal` ends the server at once. */
  constructor(name: string, lastSignal: NodeJS.Signals, user?: User) {
    this.folder = mkdtempSync(join(temporaryFolder(), `palmares-${name}-`))
    if (user) chownSync(this.folder, user.uid, user.gid)
    this.#user = user
    this.#lastSignal = lastSignal
    this.#keeper = startKeeper(this.folder, lastSignal)
  }

  get running(): boolean {
    return this.#child !== undefined
  }

  /** Runs a program to its end. A failure throws its output. */
  async run(program: string, args: readonly string[]): Promise<void> {
    const child = await this.#spawn(program, args)
    await whenEnded(child)
    if (child.exitCode !== 0) throw new Error(this.#failure(program, child))
  }

  /** Starts the server and waits until `ready` no longer throws. */
  async start(program: string, args: readonly string[], ready: () => Promise<unknown>): Promise<void> {
    const child = await this.#spawn(program, args)
    const deadline = Date.now() + START_SECONDS * 1000
    for (;;) {
      const isReady = await ready().then(
        () => true,
        () => false,
      )
      if (hasEnded(child) || Date.now() > deadline) break
      if (isReady) return
      await sleep(20)
    }
    child.kill('SIGKILL')
    throw new Error(this.#failure(program, child))
  }

  /** Stops the server and waits until it has ended. */
  async stop(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child
    child?.kill(signal)
    this.resume()
    if (child) await whenEnded(child)
  }

  /** Freezes the server with all its processes: its port accepts connections, and no request is answered. */
  pause(): void {
    const pid = this.#child?.pid
    if (!pid) throw new Error('the server does not run')
    // The first process is stopped first, so that it cannot start others meanwhile.
    process.kill(pid, 'SIGSTOP')
    this.#paused = [pid, ...childrenOf(pid)]
    for (const child of this.#paused) sendSignal(child, 'SIGSTOP')
  }

  resume(): void {
    for (const pid of this.#paused) sendSignal(pid, 'SIGCONT')
    this.#paused = []
  }

  /** Ends the server at once, and removes its folder. */
  async destroy(): Promise<void> {
    const ended = this.stop(this.#lastSignal)
    await Promise.race([ended, sleep(END_SECONDS * 1000, undefined, { ref: false })])
    this.#child?.kill('SIGKILL')
    await ended
    this.#keeper.stdin!.end()
    await whenEnded(this.#keeper)
  }

  async #spawn(program: string, args: readonly string[]): Promise<ChildProcess> {
    if (this.#child) throw new Error(`${this.#child.spawnfile} still runs`)
    const log = openSync(join(this.folder, 'log'), 'a')
    const child = spawn(program, args, {
      // The server's user can certainly enter its own folder.
      cwd: this.folder,
      env: { ...withoutPostgres(process.env), HOME: this.folder },
      // Ctrl-C in the terminal must reach only the tests, which then end the server.
      detached: true,
      stdio: ['ignore', log, log],
      ...this.#user,
    })
    closeSync(log)
    child.unref()
    this.#child = child
    child.once('exit', () => {
      this.#child = undefined
      this.#keep('')
    })
    await once(child, 'spawn').catch((error) => {
      this.#child = undefined
      throw error
    })
    this.#keep(String(child.pid))
    return child
  }

  #keep(pid: string): void {
    if (!this.#keeper.stdin!.writableEnded) this.#keeper.stdin!.write(`${pid}\n`)
  }

  #failure(program: string, child: ChildProcess): string {
    const end = hasEnded(child) ? `ended with ${child.exitCode ?? child.signalCode}` : 'is not ready'
    return `${program} ${end}:\n${readFileSync(join(this.folder, 'log'), 'utf8').slice(-2000)}`
  }
}

/**
 * A free port that stays free while a server is down: it is below 32768, where the system takes no ports for outgoing
 * connections.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 15_000 + Math.floor(Math.random() * 17_000)
    const server = createServer().listen(port, '127.0.0.1')
    const free = await once(server, 'listening').then(
      () => true,
      () => false,
    )
    if (!free) continue
    server.close()
    await once(server, 'close')
    return port
  }
}

/**
 * Reads the pid of each process, and when its input ends, ends the last one and removes the folder. The system closes the
 * input even if the test process is killed, which runs no exit handler.
 */
const KEEPER = `
while read -r line; do pid=$line; done
if [ -n "$pid" ]; then
  kill -s "$2" "$pid"
  kill -s CONT "$pid"
  tenths=0
  while kill -0 "$pid" && [ $tenths -lt ${END_SECONDS}0 ]; do sleep 0.1; tenths=$((tenths + 1)); done
fi
rm -rf "$1"`

function startKeeper(folder: string, signal: NodeJS.Signals): ChildProcess {
  const args = ['-c', KEEPER, 'keeper', folder, signal.replace('SIG', '')]
  const keeper = spawn('sh', args, { cwd: tmpdir(), detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  keeper.unref()
  const input = keeper.stdin as Socket
  input.unref()
  input.on('error', () => undefined)
  return keeper
}

/** In memory if there is room, because PostgreSQL creates the 300 files of a database ten times as fast there. */
function temporaryFolder(): string {
  const memory = '/dev/shm'
  if (process.env.TMPDIR || !existsSync(memory)) return tmpdir()
  const { bavail, bsize } = statfsSync(memory)
  return Math.min(bavail * bsize, freemem()) > MEMORY_ROOM_BYTES ? memory : tmpdir()
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

async function whenEnded(child: ChildProcess): Promise<void> {
  child.ref()
  if (!hasEnded(child)) await once(child, 'exit')
}

/** Without the variables that configure PostgreSQL's programs, which are meant for another server. */
function withoutPostgres(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('PG')))
}

function childrenOf(pid: number): number[] {
  try {
    return numbersOf(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8'))
  } catch {
    // /proc exists only on Linux, and ps is missing on some Linux systems.
    const pairs = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' }).split('\n').map(numbersOf)
    return pairs.filter(([, parent]) => parent === pid).map(([child]) => child!)
  }
}

function numbersOf(text: string): number[] {
  return text.split(/\s+/).filter(Boolean).map(Number)
}

/** Ignores a process that has ended meanwhile. */
function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
