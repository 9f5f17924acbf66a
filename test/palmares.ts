import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'
import { migrations } from '../src/store/migrations/index.js'
import { freePort } from './servers/child.js'

export const MAIN = join(import.meta.dirname, '..', 'dist', 'main.js')

export interface Run {
  status: number | null
  stdout: string
  stderr: string
}

export interface RunOptions {
  /** The folder that it runs in. */
  cwd: string
  /** Variables added to those of this process, whose PALMARES_ ones are removed. */
  env?: Record<string, string>
  input?: string
  /** Runs it as another user. */
  uid?: number
}

/** Runs the built program to its end. */
export async function palmares(args: readonly string[], options: RunOptions): Promise<Run> {
  const child = start(args, options)
  const run: Run = { status: null, stdout: '', stderr: '' }
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (run.stdout += text))
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (run.stderr += text))
  // A program that refuses its arguments does not read its input.
  child.stdin!.on('error', () => undefined).end(options.input ?? '')
  await new Promise((resolve) => child.on('close', resolve))
  return { ...run, status: child.exitCode }
}

export interface Running {
  url: string
  pid: number
  /** Its exit status once it has ended; null if a signal ended it. */
  ended: Promise<number | null>
  /** Its standard output and standard error together. */
  output(): string
  stdout(): string
  /** Sends SIGTERM and returns the exit status. */
  stop(): Promise<number | null>
}

/** Starts `serve` or `demo` on a free port and waits until it answers. */
export async function startPalmares(args: readonly string[], options: RunOptions): Promise<Running> {
  // Replacement workers must find the port again, so no other process may take it meanwhile.
  const port = args.includes('--workers') ? await freePort() : 0
  const child = start([...args, '--port', String(port)], options)
  let output = ''
  let stdout = ''
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  const closed = new Promise<number | null>((resolve) => child.on('close', () => resolve(child.exitCode)))
  const url = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout!, child.stderr!]) {
      stream.on('data', (text: Buffer) => {
        output += text
        const [, address] = (args[0] === 'demo' ? SERVES_DEMO : SERVES).exec(output) ?? []
        if (address) resolve(address)
      })
    }
    void closed.then((status) => reject(new Error(`it ended with ${status}: ${output}`)))
  })
  return {
    url,
    pid: child.pid!,
    ended: closed,
    output: () => output,
    stdout: () => stdout,
    stop() {
      child.kill('SIGTERM')
      return closed
    },
  }
}

const SERVES = /"listening on (https?:\/\/[^"]+)"/
/** The whole message, which ends with how to stop it. */
const SERVES_DEMO = /Palmarès serves [\w ]+ on (http:\/\/\S+)\/ [\s\S]*Ctrl-C stops it/

/** Starts the built program. */
export function start(args: readonly string[], { cwd, env, uid }: RunOptions): ChildProcess {
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('PALMARES_'))
  return spawn(process.execPath, [MAIN, ...args], {
    cwd,
    env: { ...Object.fromEntries(own), ...env },
    ...(uid === undefined ? {} : { uid, gid: uid }),
  })
}

/** The output of `migrate` for a store without a schema. */
export function migrationLines(verb: 'ran' | 'would run'): string {
  return migrations.map(({ version, nom }) => `${verb} migration ${version} (${nom})\n`).join('')
}
