import { cpus } from 'node:os'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { headersWith } from './client.js'
import type { Finding } from './findings.js'
import type { FreshPaths, Job, LoadResult } from './load.js'
import { anonymousBytes } from './memory.js'
import type { Pace } from './pace.js'
import { type Portal, type Served, servePortal } from './portal.js'
import { endJob, type Load, runJob, stop } from './processes.js'
import { mixedPaths, READ_KINDS } from './reads.js'
import { applySolves } from './solves.js'
import { ratiosOf, spreadOf } from './statistics.js'
import { count } from './table.js'

const MAX_ANONYMOUS_BYTES = 384 * 1024 ** 2
const SOLVE_EVERY_MILLISECONDS = 100
const SEED = 2_000_000_000

/** Time from process start to the first page of the ranking; the worst of several. */
export async function measureStart(portal: Portal, starts: number): Promise<Finding[]> {
  const seconds: number[] = []
  while (seconds.length < starts) {
    const start = performance.now()
    const server = await servePortal(portal, 1, '/classement?limite=50')
    seconds.push((performance.now() - start) / 1000)
    await stop(server)
  }
  const { median, min, max } = spreadOf(seconds)
  const beside = `${count(portal.authors)} authors; least ${min.toFixed(2)} s, median ${median.toFixed(2)} s of ${starts}`
  return [{ what: 'start of `serve` until the first answer', value: max, unit: 's', most: 1, beside }]
}

/** Memory of the serving processes after reads of all kinds with concurrent solves. */
export async function measureMemory({ port, child, portal }: Served, load: Load, pace: Pace): Promise<Finding[]> {
  const { connections, mixedSeconds: seconds } = pace
  const path = mixedPaths(portal.authors)
  const job: Job = {
    port,
    connections,
    seconds,
    warmSeconds: 0,
    path,
    seed: SEED,
    headers: headersWith(portal.key),
    status: 200,
  }
  let isOver = false
  const reads = runJob(load, job).finally(() => (isOver = true))
  // A failed solve is reported when the reads are awaited.
  reads.catch(() => undefined)
  let solves = 0
  try {
    for (; !isOver; solves++) {
      await applySolves(port, portal, [portal.solves.next()])
      await sleep(SOLVE_EVERY_MILLISECONDS)
    }
  } finally {
    if (!isOver) endJob(load)
    await reads
  }
  const { requestsPerSecond } = await reads
  const value = anonymousBytes(child.pid as number)
  const beside = `after ${seconds} s of ${count(requestsPerSecond)} reads/s and ${solves} solves, ${count(portal.authors)} authors`
  return [{ what: 'anonymous memory of `serve`', value, unit: 'bytes', most: MAX_ANONYMOUS_BYTES, beside }]
}

/** The load for one process and for two. */
const SENT: Readonly<Record<string, (authors: number) => string | FreshPaths>> = {
  'repeated ranking page': () => '/classement?limite=50',
  'fresh ranking page': (authors) => READ_KINDS[0]!.path(authors),
}

/** Alternates one and two processes on the same store. Also reports CPU utilisation, which limits the gain of a second process. */
export async function measureWorkers(one: Served, two: Served, load: Load, pace: Pace): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const [name, path] of Object.entries(SENT)) {
    const rates: [number[], number[]] = [[], []]
    const turn = async (served: Served, round: number) => {
      const { connections, seconds } = pace
      const warmSeconds = Math.abs(round) === 1 ? pace.warmSeconds : pace.warmSeconds / 10
      const job = { connections, seconds, warmSeconds, path: path(one.portal.authors), status: 200 }
      return runJob(load, { ...job, port: served.port, seed: SEED + round * 1e6, headers: headersWith(one.portal.key) })
    }
    let last: { result: LoadResult; busy: number } | undefined
    for (let round = 1; round <= pace.rounds; round++) {
      rates[0].push((await turn(one, round)).requestsPerSecond)
      last = await withMachineBusy(() => turn(two, -round))
      rates[1].push(last.result.requestsPerSecond)
    }
    const { median, min, max } = ratiosOf(rates[1], rates[0])
    const beside =
      `${rates.map((each) => `${count(spreadOf(each).median)}/s`).join(' → ')} (${min.toFixed(2)}–${max.toFixed(2)}); ` +
      `all ${cpus().length} cores ${Math.round(100 * last!.busy)} % busy, the load generator on one of them ${Math.round(100 * last!.result.busy)} %`
    findings.push({ what: `2 workers over 1, ${name}`, value: median, unit: 'ratio', beside })
  }
  return findings
}

/** Utilisation of all cores in that time, from 0 to 1. */
async function withMachineBusy<T>(work: () => Promise<T>): Promise<{ result: T; busy: number }> {
  const before = processorTimes()
  const result = await work()
  const after = processorTimes()
  return { result, busy: 1 - (after.idle - before.idle) / (after.all - before.all) }
}

function processorTimes(): { idle: number; all: number } {
  const times = cpus().map((processor) => processor.times)
  const all = times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0)
  return { idle: times.reduce((sum, { idle }) => sum + idle, 0), all }
}
