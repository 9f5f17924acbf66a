import { request } from 'node:http'
import type { CapturedAnswer } from './baselines.js'
import type { Kind } from './kinds.js'
import { freshPaths, type Job, type LoadResult } from './load.js'
import { runJob, type Started, setAnswer } from './processes.js'

/** How long and how often each pair is measured. */
export interface Pace {
  rounds: number
  seconds: number
  warmSeconds: number
  connections: number
}

/** What a pair of servers did with one kind of request. */
export interface Comparison {
  kind: Kind
  palmares: Measured
  baseline: Measured
  /** Palmarès over its baseline, round by round. */
  ratio: Spread
}

export interface Measured {
  requestsPerSecond: number
  p50Milliseconds: number
  p99Milliseconds: number
  /** How busy the load generator was at most. */
  loadBusy: number
}

export interface Spread {
  median: number
  min: number
  max: number
}

export interface Arena {
  palmares: Started
  bare: Started
  handWritten: Started
  load: Parameters<typeof runJob>[0]
  authors: number
  key: string
}

/** Every server is asked under this name, so that answers that hold it are the same. */
const HOST = 'palmares.bench'
const CHECKED_FRESH_PATHS = 200

/** Checks that both servers answer a kind with the same bytes, then measures them in turn: A B A B … */
export async function compare(arena: Arena, kind: Kind, pace: Pace): Promise<Comparison> {
  const { palmares, load } = arena
  const baseline = kind.against === 'bare' ? arena.bare : arena.handWritten
  const path = kind.path(arena.authors)
  const headers = headersOf(kind, arena.key)
  if (typeof path === 'string') {
    const first = await ask(palmares.port, path, headers)
    if (kind.isConditional) headers['if-none-match'] = headerOf(first, 'etag')
    const answer = kind.isConditional ? await ask(palmares.port, path, headers) : first
    if (kind.against === 'bare') await setAnswer(arena.bare, answer)
    checkSame(answer, await ask(baseline.port, path, headers), kind, path)
  } else {
    const next = freshPaths(path, 1)
    for (let i = 0; i < CHECKED_FRESH_PATHS; i++) {
      const fresh = next()
      checkSame(await ask(palmares.port, fresh, headers), await ask(baseline.port, fresh, headers), kind, fresh)
    }
  }

  const { connections, rounds, seconds, warmSeconds } = pace
  const job: Omit<Job, 'port' | 'seed' | 'warmSeconds'> = { connections, seconds, path, headers, status: kind.status }
  const ours: LoadResult[] = []
  const theirs: LoadResult[] = []
  for (let round = 0; round < rounds; round++) {
    const warm = round === 0 ? warmSeconds : warmSeconds / 10
    const turn = { ...job, seed: (round + 1) * SEED_STEP, warmSeconds: warm }
    ours.push(await runJob(load, { ...turn, port: palmares.port }))
    theirs.push(await runJob(load, { ...turn, port: baseline.port }))
  }
  const ratios = ours.map((result, round) => result.requestsPerSecond / (theirs[round] as LoadResult).requestsPerSecond)
  return { kind, palmares: summarize(ours), baseline: summarize(theirs), ratio: spreadOf(ratios) }
}

/** More requests than a round can send, so that no two rounds share a path. */
const SEED_STEP = 10_000_000

/** How many requests the load generator can drive at most: against a server that does not even speak HTTP. */
export async function measureCeiling(arena: Pick<Arena, 'load'>, raw: Started, pace: Pace): Promise<Measured> {
  const { connections, seconds, warmSeconds } = pace
  const job = { connections, seconds, warmSeconds, path: '/classement', headers: { host: HOST }, status: 200, seed: 1 }
  return summarize([await runJob(arena.load, { ...job, port: raw.port })])
}

export function spreadOf(values: number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  return { median: median(sorted), min: sorted[0] as number, max: sorted.at(-1) as number }
}

function summarize(results: LoadResult[]): Measured {
  const of = (field: (result: LoadResult) => number) => median(results.map(field).sort((a, b) => a - b))
  return {
    requestsPerSecond: of((result) => result.requestsPerSecond),
    p50Milliseconds: of((result) => result.p50Milliseconds),
    p99Milliseconds: of((result) => result.p99Milliseconds),
    loadBusy: Math.max(...results.map((result) => result.busy)),
  }
}

function median(sorted: number[]): number {
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 > 0
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}

function headersOf(kind: Kind, key: string): Record<string, string> {
  return kind.isAnonymous ? { host: HOST } : { host: HOST, cookie: `api_key=${key}` }
}

function ask(port: number, path: string, headers: Record<string, string>): Promise<CapturedAnswer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const status = response.statusCode as number
        resolve({ status, headers: withoutNodes(response.rawHeaders), body: Buffer.concat(chunks) })
      })
    })
    sent.setTimeout(10_000, () => sent.destroy(new Error(`no answer to ${path}`)))
    sent.on('error', reject).end()
  })
}

/** Headers without those that node:http writes of its own. */
function withoutNodes(rawHeaders: string[]): string[] {
  const kept: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (!['Date', 'Connection', 'Keep-Alive'].includes(rawHeaders[i] as string))
      kept.push(rawHeaders[i] as string, rawHeaders[i + 1] as string)
  }
  return kept
}

function headerOf({ headers }: CapturedAnswer, name: string): string {
  return headers[headers.indexOf(name) + 1] as string
}

/** Ids and counts of requests differ from answer to answer; all else must not. */
function checkSame(ours: CapturedAnswer, theirs: CapturedAnswer, kind: Kind, path: string): void {
  const comparable = ({ headers }: CapturedAnswer) =>
    JSON.stringify(headers.map((text, i) => (i % 2 && VARYING.has(headers[i - 1] as string) ? '' : text)))
  const fault =
    ours.status !== kind.status || theirs.status !== kind.status
      ? `status ${ours.status} and ${theirs.status}, not ${kind.status}`
      : !ours.body.equals(theirs.body)
        ? `bodies differ:\n${ours.body}\n${theirs.body}`
        : comparable(ours) !== comparable(theirs)
          ? `headers differ:\n${ours.headers}\n${theirs.headers}`
          : undefined
  if (fault)
    throw new Error(`${kind.name}, ${path}: Palmarès and the ${kind.against} server do not answer alike: ${fault}`)
}

const VARYING = new Set(['x-request-id', 'ratelimit'])
