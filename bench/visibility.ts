import { Agent } from 'node:http'
import { performance } from 'node:perf_hooks'
import { ask, headersWith } from './client.js'
import type { Finding } from './findings.js'
import type { Portal } from './portal.js'
import { applySolves } from './solves.js'
import { quantile } from './statistics.js'

const GIVE_UP_MILLISECONDS = 5_000
const agent = new Agent({ keepAlive: true })

/** Where a solve becomes visible, and how to read the author's score there. */
const VIEWS: readonly View[] = [
  { name: 'in the author', pathOf: (id) => `/auteurs/${id}`, scoreOf: ({ score }: { score: number }) => score },
  {
    name: 'in the ranking',
    pathOf: (id) => `/classement?autour_de=${id}&limite=11`,
    scoreOf: (rows: { id_auteur: string; score: string }[], id) =>
      Number(rows.find(({ id_auteur }) => id_auteur === String(id))?.score),
  },
]

interface View {
  name: string
  pathOf(idAuteur: number): string
  scoreOf(body: never, idAuteur: number): number
}

/** Time from sending a solve to one process until another process on the same store shows the new score. */
export async function measureVisibility(
  portal: Portal,
  writer: number,
  reader: number,
  looks: number,
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const view of VIEWS) {
    const times: number[] = []
    while (times.length < looks) times.push(await look(portal, writer, reader, view))
    const [p50, p99, max] = [quantile(times, 0.5), quantile(times, 0.99), Math.max(...times)]
    const beside = `p50 ${p50.toFixed(1)} ms, greatest of ${looks} ${max.toFixed(1)} ms`
    findings.push({
      what: `solve sent to one process, seen ${view.name} at another, p99`,
      ...{ value: p99, unit: 'ms', most: 50, beside },
    })
  }
  return findings
}

async function look(portal: Portal, writer: number, reader: number, view: View): Promise<number> {
  const solve = portal.solves.next()
  const before = await readScore(reader, portal, view, solve.id_auteur)
  const start = performance.now()
  const sent = applySolves(writer, portal, [solve])
  // A failure is reported when the response is awaited.
  sent.catch(() => undefined)
  while ((await readScore(reader, portal, view, solve.id_auteur)) <= before) {
    if (performance.now() - start < GIVE_UP_MILLISECONDS) continue
    await sent
    throw new Error('a solve did not become visible in another process')
  }
  const milliseconds = performance.now() - start
  await sent
  return milliseconds
}

async function readScore(port: number, { key }: Portal, view: View, idAuteur: number): Promise<number> {
  const { status, body } = await ask(port, view.pathOf(idAuteur), { headers: headersWith(key), agent })
  if (status !== 200) throw new Error(`${view.pathOf(idAuteur)}: ${status}`)
  return view.scoreOf(JSON.parse(body.toString()) as never, idAuteur)
}
