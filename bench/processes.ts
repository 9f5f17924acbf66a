import { type ChildProcess, fork, type StdioOptions, spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { performance } from 'node:perf_hooks'
import type { Baseline, CapturedAnswer } from './baselines.js'
import { ask } from './client.js'
import type { Job, LoadResult } from './load.js'
import { peakBytes } from './memory.js'

/** A process of the bench: a server, or a worker that waits for jobs. */
export interface Started {
  port: number
  child: ChildProcess
}

/** Additional environment variables of a process. */
export type Variables = Record<string, string>

const START_MILLISECONDS = 30_000
const STOP_MILLISECONDS = 3_000
const LOAD_GRACE_MILLISECONDS = 10_000
const PEAK_MILLISECONDS = 20
const PROBE_MILLISECONDS = 5

const children = new Set<ChildProcess>()

/** Kills all started processes when the bench ends for any reason. */
export function killAllOnExit(): void {
  process.on('exit', killAll)
}

export function killAll(): void {
  for (const child of children) child.kill('SIGKILL')
}

/** Asks a process to stop, then kills it. */
export async function stop({ child }: Pick<Started, 'child'>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MILLISECONDS)
  child.kill('SIGTERM')
  await exited
  clearTimeout(timer)
}

/** The request that is repeated until the server is ready. */
export interface Probe {
  path: string
  headers?: Variables
}

/** Starts an external server and waits until it answers. */
export async function startServer(args: string[], env: Variables, port: number, probe: Probe): Promise<Started> {
  const options = { env: { ...process.env, ...env }, stdio: ['ignore', 'ignore', 'inherit'] satisfies StdioOptions }
  const child = keep(spawn(process.execPath, args, options))
  const deadline = Date.now() + START_MILLISECONDS
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${args.join(' ')} ended with ${child.exitCode}`)
    const isUp = await ask(port, probe.path, { headers: probe.headers ?? {} }).then(
      ({ status }) => status === 200,
      () => false,
    )
    if (isUp) return { port, child }
    if (Date.now() > deadline) throw new Error(`${args.join(' ')} does not answer`)
    await new Promise((resolve) => setTimeout(resolve, PROBE_MILLISECONDS))
  }
}

/** Starts a server of `baselines.ts`. Passes the database URL in a variable: it may contain a password. */
export async function startBaseline(kind: Baseline, database = ''): Promise<Started> {
  const child = keep(fork(moduleFile('baselines'), [kind], { env: { ...process.env, BASELINE_DATABASE: database } }))
  const { port } = await request<{ port: number }>(child, undefined, START_MILLISECONDS)
  return { port, child }
}

/** Sets the response of the bare server. */
export async function setAnswer({ child }: Started, { body, ...rest }: CapturedAnswer): Promise<void> {
  await request(child, { ...rest, body: body.toString('base64') }, START_MILLISECONDS)
}

/** The process of the load generator. */
export type Load = Pick<Started, 'child'>

export function startLoad(): Load {
  return { child: keep(fork(moduleFile('load'))) }
}

/** Ends the current job early. */
export function endJob({ child }: Load): void {
  child.send('end')
}

export async function runJob({ child }: Load, job: Job): Promise<LoadResult> {
  const limit = (job.warmSeconds + job.seconds) * 1000 + LOAD_GRACE_MILLISECONDS
  const answer = await request<{ result: LoadResult } | { fault: string }>(child, job, limit)
  if ('fault' in answer) throw new Error(answer.fault)
  return answer.result
}

/** The output, duration and peak memory of a program. */
export interface Ended {
  output: string
  seconds: number
  peakBytes: number | undefined
}

export interface RunOptions {
  env: Variables
  /** Its standard input. */
  input?: string
  stdout?: 'pipe' | number
}

/** Runs a program to its end, with a time limit. */
export function runToEnd(args: string[], seconds: number, { env, input = '', stdout }: RunOptions): Promise<Ended> {
  const start = performance.now()
  const stdio: StdioOptions = ['pipe', stdout ?? 'pipe', 'pipe']
  const limits = { timeout: seconds * 1000, killSignal: 'SIGKILL' } as const
  const child = keep(spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio, ...limits }))
  let output = ''
  let complaints = ''
  child.stdout?.on('data', (chunk) => (output += chunk))
  child.stderr?.on('data', (chunk) => (complaints += chunk))
  child.stdin?.end(input)
  const peak = watchPeak(child)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve({ output, seconds: (performance.now() - start) / 1000, peakBytes: peak() })
      else reject(new Error(`${args.join(' ')} ended with ${code ?? `no end in ${seconds} s`}\n${complaints}`))
    })
  })
}

/** Polls the peak memory, because the system discards it when the process ends. */
function watchPeak(child: ChildProcess): () => number | undefined {
  let peak: number | undefined
  const look = () => {
    peak = (child.pid && peakBytes(child.pid)) || peak
  }
  const timer = setInterval(look, PEAK_MILLISECONDS)
  child.once('exit', () => clearInterval(timer))
  child.once('error', () => clearInterval(timer))
  return () => peak
}

/** A free loopback port. */
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

/** The next message of a child process, with a time limit. */
function request<T>(child: ChildProcess, message: object | undefined, milliseconds: number): Promise<T> {
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
      reject(new Error('a process of the bench does not respond'))
    }, milliseconds)
    child.on('message', onMessage).on('exit', onExit)
    if (message) child.send(message)
  })
}

/** The built version of a file of the bench. */
export function moduleFile(name: string): string {
  return new URL(`./${name}.js`, import.meta.url).pathname
}
