import { type ChildProcess, fork, type StdioOptions, spawn } from 'node:child_process'
import { createServer } from 'node:net'
import type { CapturedAnswer } from './baselines.js'
import type { Job, LoadResult } from './load.js'

/** A process of the bench that listens, or that waits for jobs. */
export interface Started {
  port: number
  child: ChildProcess
}

const START_MILLISECONDS = 30_000
const STOP_MILLISECONDS = 3_000
const LOAD_GRACE_MILLISECONDS = 10_000

const children = new Set<ChildProcess>()

/** Whatever way the bench ends, nothing that it started outlives it. */
export function killAllOnExit(): void {
  process.on('exit', () => {
    for (const child of children) child.kill('SIGKILL')
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))
}

/** Asks a process to stop, then makes it. */
export async function stop({ child }: Pick<Started, 'child'>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MILLISECONDS)
  child.kill('SIGTERM')
  await exited
  clearTimeout(timer)
}

/** Starts a server that is not of the bench and waits until it answers. */
export async function startServer(args: string[], port: number, probe: string): Promise<Started> {
  const child = keep(spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] }))
  const deadline = Date.now() + START_MILLISECONDS
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${args.join(' ')} ended with ${child.exitCode}`)
    const isUp = await fetch(`http://127.0.0.1:${port}${probe}`).then(
      (response) => response.ok,
      () => false,
    )
    if (isUp) return { port, child }
    if (Date.now() > deadline) throw new Error(`${args.join(' ')} does not answer`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

/** Starts one of the servers of `baselines.ts`. */
export async function startBaseline(kind: 'bare' | 'raw' | 'hand-written', database = ''): Promise<Started> {
  const child = keep(fork(moduleFile('baselines'), [kind, database]))
  const { port } = await ask<{ port: number }>(child, undefined, START_MILLISECONDS)
  return { port, child }
}

/** Tells the bare server what to answer from now on. */
export async function setAnswer({ child }: Started, { body, ...rest }: CapturedAnswer): Promise<void> {
  await ask(child, { ...rest, body: body.toString('base64') }, START_MILLISECONDS)
}

export function startLoad(): { child: ChildProcess } {
  return { child: keep(fork(moduleFile('load'))) }
}

export async function runJob({ child }: { child: ChildProcess }, job: Job): Promise<LoadResult> {
  const limit = (job.warmSeconds + job.seconds) * 1000 + LOAD_GRACE_MILLISECONDS
  const answer = await ask<{ result: LoadResult } | { fault: string }>(child, job, limit)
  if ('fault' in answer) throw new Error(answer.fault)
  return answer.result
}

/** Runs a program to its end and returns what it wrote; `input` is its standard input. */
export function runToEnd(
  args: string[],
  seconds: number,
  input = '',
  stdout: 'pipe' | number = 'pipe',
): Promise<string> {
  const stdio: StdioOptions = ['pipe', stdout, 'pipe']
  const child = keep(spawn(process.execPath, args, { stdio, timeout: seconds * 1000, killSignal: 'SIGKILL' }))
  let written = ''
  let complaints = ''
  child.stdout?.on('data', (chunk) => (written += chunk))
  child.stderr?.on('data', (chunk) => (complaints += chunk))
  child.stdin?.end(input)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve(written)
      else reject(new Error(`${args.join(' ')} ended with ${code ?? `no end in ${seconds} s`}\n${complaints}`))
    })
  })
}

/** A loopback port that nobody listened on a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

function keep(child: ChildProcess): ChildProcess {
  children.add(child)
  child.once('exit', () => children.delete(child))
  return child
}

/** The next message of a child, which must come in time. */
function ask<T>(child: ChildProcess, message: object | undefined, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer)
      child.off('message', onMessage).off('exit', onExit)
    }
    const onMessage = (answer: unknown) => {
      end()
      resolve(answer as T)
    }
    const onExit = (code: number | null) => {
      end()
      reject(new Error(`a process of the bench ended with ${code}`))
    }
    const timer = setTimeout(() => {
      end()
      reject(new Error('a process of the bench has stopped answering'))
    }, milliseconds)
    child.on('message', onMessage).on('exit', onExit)
    if (message) child.send(message)
  })
}

function moduleFile(name: string): string {
  return new URL(`./${name}.js`, import.meta.url).pathname
}
