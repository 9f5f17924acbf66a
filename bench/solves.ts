import { Agent } from 'node:http'
import { performance } from 'node:perf_hooks'
import { ask, headersWith } from './client.js'
import type { Finding } from './findings.js'
import { CHALLENGES, FIRST_DAY, isHidden, SPAN_MILLISECONDS, solvedBy } from './generate.js'
import type { Pace } from './pace.js'
import type { Portal, Served } from './portal.js'
import { randomFrom } from './random.js'
import { ratiosOf, spreadOf } from './statistics.js'
import { count } from './table.js'

export interface Solve {
  type: 'validation'
  id_auteur: number
  id_challenge: number
  date: string
}

/** Solves that a generated portal does not contain yet, each once, by ranked authors. */
export class Solves {
  private readonly sent = new Set<string>()
  private readonly random = randomFrom(3)

  constructor(private readonly authors: number) {}

  /** The date is in the last year of the portal, whose rankings by period are as long as any. */
  next(): Solve {
    for (;;) {
      const id_auteur = 1 + Math.floor(this.random() * this.authors)
      const id_challenge = 1 + Math.floor(this.random() * CHALLENGES)
      const name = `${id_auteur}/${id_challenge}`
      if (isHidden(id_auteur) || this.sent.has(name) || solvedBy(id_auteur).has(id_challenge)) continue
      this.sent.add(name)
      const milliseconds = FIRST_DAY + SPAN_MILLISECONDS * (2 / 3 + this.random() / 3)
      const date = `${new Date(milliseconds).toISOString().slice(0, 19)}Z`
      return { type: 'validation', id_auteur, id_challenge, date }
    }
  }

  take(count: number): Solve[] {
    return Array.from({ length: count }, () => this.next())
  }
}

const agent = new Agent({ keepAlive: true })
const BATCH_LINES = 1_000
const MAX_SHOWN_CHARACTERS = 100

/** Sends solves in one request, which is answered after the commit. Returns the duration. */
export async function applySolves(port: number, { writeKey }: Portal, solves: readonly Solve[]): Promise<number> {
  const body = solves.map((solve) => `${JSON.stringify(solve)}\n`).join('')
  const length = String(Buffer.byteLength(body))
  const headers = { ...headersWith(writeKey), 'content-type': 'application/x-ndjson', 'content-length': length }
  const start = performance.now()
  const { status, body: text } = await ask(port, '/validations', { headers, body, agent })
  const milliseconds = performance.now() - start
  if (status !== 200) throw new Error(`POST /validations: ${status} ${text.toString().slice(0, MAX_SHOWN_CHARACTERS)}`)
  const { appliquees } = JSON.parse(text.toString())
  if (appliquees !== solves.length) throw new Error(`POST /validations: ${appliquees} applied of ${solves.length}`)
  return milliseconds
}

/** The time per solve, sent alone and in batches of 1,000, alternating between sizes. */
export async function measureSolves(served: readonly Served[], pace: Pace): Promise<Finding[]> {
  const alone = await timesOf(served, pace.rounds, pace.solves, 1)
  const among = await timesOf(served, pace.rounds, pace.batches, BATCH_LINES)
  return [...findingsOf('one solve, alone', served, alone), ...findingsOf('one solve of 1,000', served, among)]
}

/** Milliseconds per solve: for each size the median of each round. */
async function timesOf(
  served: readonly Served[],
  rounds: number,
  requests: number,
  lines: number,
): Promise<number[][]> {
  const times: number[][] = served.map(() => [])
  for (const { port, portal } of served) await applySolves(port, portal, portal.solves.take(lines))
  for (let round = 0; round < rounds; round++) {
    for (const [i, { port, portal }] of served.entries()) {
      const taken: number[] = []
      while (taken.length < requests) taken.push((await applySolves(port, portal, portal.solves.take(lines))) / lines)
      times[i]?.push(spreadOf(taken).median)
    }
  }
  return times
}

function findingsOf(what: string, served: readonly Served[], times: number[][]): Finding[] {
  const [first, ...others] = times.map((rounds, i) => {
    const { median } = spreadOf(rounds)
    return { rounds, median, authors: count(served[i]!.portal.authors) }
  })
  if (!first) return []
  const base = `${first.median.toFixed(3)} ms at ${first.authors}`
  if (others.length === 0) return [{ what, value: first.median, unit: 'ms', beside: `at ${first.authors} authors` }]
  return others.map(({ rounds, median, authors }) => {
    const { median: value, min, max } = ratiosOf(rounds, first.rounds)
    const beside = `${median.toFixed(3)} ms at ${authors}, ${base} (${min.toFixed(2)}–${max.toFixed(2)})`
    return { what: `${what}, ${authors} over ${first.authors} authors`, value, unit: 'ratio', most: 1.5, beside }
  })
}
