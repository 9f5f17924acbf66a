import type { CapturedAnswer } from './baselines.js'
import { ask, HOST, headersWith } from './client.js'
import type { Kind } from './kinds.js'
import { freshPaths, type Job, type LoadResult } from './load.js'
import type { Pace } from './pace.js'
import { type Load, runJob, type Started, setAnswer } from './processes.js'
import { type Spread, spreadOf } from './statistics.js'

/** The results of a pair of servers for one kind of request. */
export interface Comparison {
  kind: Kind
  palmares: Measured
  baseline: Measured
  /** Palmarès divided by its baseline, per round. */
  ratio: Spread
}

export interface Measured {
  requestsPerSecond: number
  p50Milliseconds: number
  p99Milliseconds: number
  /** Highest utilisation of the load generator. */
  loadBusy: number
}

interface Arena {
  palmares: Started
  bare: Started
  handWritten: Started
  load: Load
  authors: number
  key: string
}

const CHECKED_FRESH_PATHS = 200

/** Checks that both servers send the same bytes for a kind, then measures them alternately: A B A B … */
export async function compare(arena: Arena, kind: Kind, pace: Pace): Promise<Comparison> {
  const { palmares, load } = arena
  const baseline = kind.against === 'bare' ? arena.bare : arena.handWritten
  const path = kind.path(arena.authors)
  const headers = headersOf(kind, arena.key)
  if (typeof path === 'string') {
    const first = await ask(palmares.port, path, { headers })
    if (kind.isConditional) headers['if-none-match'] = headerOf(first, 'etag')
    const answer = kind.isConditional ? await ask(palmares.port, path, { headers }) : first
    if (kind.against === 'bare') await setAnswer(arena.bare, answer)
    checkSame(answer, await ask(baseline.port, path, { headers }), kind, path)
  } else {
    const next = freshPaths(path, 1)
    for (let i = 0; i < CHECKED_FRESH_PATHS; i++) {
      const fresh = next()
      checkSame(await ask(palmares.port, fresh, { headers }), await ask(baseline.port, fresh, { headers }), kind, fresh)
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

/** The maximum rate of the load generator, against a server without HTTP. */
export async function measureCeiling(arena: Pick<Arena, 'load'>, raw: Started, pace: Pace): Promise<Measured> {
  const { connections, seconds, warmSeconds } = pace
  const job = { connections, seconds, warmSeconds, path: '/classement', headers: { host: HOST }, status: 200, seed: 1 }
  return summarize([await runJob(arena.load, { ...job, port: raw.port })])
}

function summarize(results: LoadResult[]): Measured {
  const of = (field: (result: LoadResult) => number) => spreadOf(results.map(field)).median
  return {
    requestsPerSecond: of((result) => result.requestsPerSecond),
    p50Milliseconds: of((result) => result.p50Milliseconds),
    p99Milliseconds: of((result) => result.p99Milliseconds),
    loadBusy: Math.max(...results.map((result) => result.busy)),
  }
}

function headersOf(kind: Kind, key: string): Record<string, string> {
  return kind.isAnonymous ? { host: HOST } : headersWith(key)
}

function headerOf({ headers }: CapturedAnswer, name: string): string {
  return headers[headers.indexOf(name) + 1] as string
}

/** Request ids and rate-limit counters may differ between responses; everything else must be equal. */
function checkSame(ours: CapturedAnswer, theirs: CapturedAnswer, kind: Kind, path: string): void {
  // Only Palmarès reports the ignored parameter `x`, which makes every URL unique.
  const isCompared = (headers: readonly string[], i: number) => headers[i - (i % 2)] !== 'x-parametres-ignores'
  const comparable = ({ headers }: CapturedAnswer) =>
    JSON.stringify(
      headers
        .map((text, i) => (i % 2 && VARYING.has(headers[i - 1] as string) ? '' : text))
        .filter((_, i) => isCompared(headers, i)),
    )
  const fault =
    ours.status !== kind.status || theirs.status !== kind.status
      ? `status ${ours.status} and ${theirs.status}, not ${kind.status}`
      : !ours.body.equals(theirs.body)
        ? `bodies differ:\n${ours.body}\n${theirs.body}`
        : comparable(ours) !== comparable(theirs)
          ? `headers differ:\n${ours.headers}\n${theirs.headers}`
          : undefined
  if (fault)
    throw new Error(`${kind.name}, ${path}: Palmarès and the ${kind.against} server send different responses: ${fault}`)
}

const VARYING = new Set(['x-request-id', 'ratelimit'])
