import { once } from 'node:events'
import { Agent, get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import type { TieBreak } from '../src/model/store-settings.js'
import { exportFrom, type TestServer } from './harness.js'
import { Model } from './model.js'

/** The server that is compared, and a key of it. */
export type Compared = Pick<TestServer, 'url' | 'key'>

const agent = new Agent({ keepAlive: true })

/** A request in a third of the processor time of `fetch`: comparisons send tens of thousands. */
async function answerOf({ url, key }: Compared, target: string) {
  const [answer] = (await once(get(url + target, { agent, headers: { cookie: `api_key=${key}` } }), 'response')) as [
    IncomingMessage,
  ]
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) }
}

/** Sends a request and compares the response with the model. Returns the address of the next page. */
export async function expectAsModel(server: Compared, model: Model, target: string): Promise<string | undefined> {
  const response = await answerOf(server, target)
  const { status, debutName, links, ...expected } = model.answer(target)
  if (status !== 200) {
    expect({ target, status: response.status }).toEqual({ target, status })
    return undefined
  }
  const found = linksIn(String(response.headers.link ?? ''))
  expect({
    target,
    status: response.status,
    body: response.body,
    total: response.headers['x-total-count'] ?? null,
    links: Object.entries(found).map(([rel, url]) => `${rel} ${canonical(new URL(url))}`),
  }).toEqual({
    target,
    status,
    ...expected,
    links: Object.entries(links ?? {}).map(([rel, row]) => {
      return `${rel} ${canonical(new URL(server.url + target), debutName as string, row)}`
    }),
  })
  return found.next?.slice(server.url.length)
}

/** Walks a list by its `next` links, comparing every page. Returns the number of pages. */
export async function walkAsModel(server: Compared, model: Model, target: string): Promise<number> {
  let pages = 0
  for (let next: string | undefined = target; next !== undefined; pages++) {
    next = await expectAsModel(server, model, next)
  }
  return pages
}

/** Requests each target twice, uncached and cached, and compares it with a brute-force restatement of the records. */
export async function expectAsRecords(
  server: TestServer,
  targets: readonly string[],
  departage: TieBreak = 'aucun',
): Promise<void> {
  const model = new Model(await exportFrom(server.store), undefined, departage)
  for (const target of [...targets, ...targets]) await expectAsModel(server, model, target)
}

/** Each list, some of its pages, each record, and the rankings by category and period. */
export function everythingOf(model: Model): string[] {
  const ids = (rows: Model['auteurs'], name: string) => rows.slice(0, 12).map((row) => row[name])
  return [
    ...[
      '/classement?limite=7',
      '/classement?debut_classement=7&limite=7',
      '/classement?debut_classement=21',
      '/rubriques',
    ],
    ...[
      '/classement?debut_classement=500',
      '/auteurs?limite=9',
      '/auteurs?nom=n',
      '/challenges',
      '/environnements_virtuels',
      '/groupes',
      '/groupes?debut_groupes=1&limite=2',
    ],
    ...['/classement?autour_de=1&limite=5', '/classement?periode=2024', '/classement?periode=2024-02&limite=4'],
    ...[
      '/classement?periode=2026&limite=3',
      '/classement?periode=2026-03',
      '/classement/periodes',
      '/classement?periode=0000',
      '/classement?periode=0000-06',
      '/challenges?lang=fr',
      '/challenges?titre=a',
    ],
    ...model.rubriques.map(({ id_rubrique }) => `/classement?id_rubrique=${id_rubrique}&limite=6`),
    ...ids(model.auteurs, 'id_auteur').map((id) => `/auteurs/${id}`),
    ...ids(model.challenges, 'id_challenge').flatMap((id) => [
      `/challenges/${id}`,
      `/challenges/${id}/validations?limite=5`,
      `/challenges/${id}/validations?debut_validations=5`,
    ]),
  ]
}

/** The addresses of a Link header, by relation. */
export function linksOf(response: Response): Record<string, string> {
  return linksIn(response.headers.get('link') ?? '')
}

function linksIn(header: string): Record<string, string> {
  const links: Record<string, string> = {}
  for (const [, url, rel] of header.matchAll(/<([^>]*)>; rel="(\w+)"(?:, |$)/g)) {
    links[rel as string] = url as string
  }
  return links
}

/** A URL with its known parameters in one order, and optionally another offset. */
function canonical(url: URL, debutName?: string, debut?: number): string {
  const known = KNOWN[url.pathname.split('/').at(-1) as string] as RegExp
  const kept = [...url.searchParams].filter(([name, value]) => {
    return value !== '' && known.test(name) && !(debutName && [debutName, 'autour_de'].includes(name))
  })
  if (debutName) kept.push([debutName, String(debut)])
  const parts = kept.map(([name, value]) => `${name.replace(/\[\d*\]$/, '')}=${encodeURIComponent(value)}`)
  return `${url.origin}${url.pathname}?${[...new Set(parts)].sort().join('&')}`
}

/** The parameters of each list. Others are ignored. */
const KNOWN: Record<string, RegExp> = {
  challenges: /^(titre|soustitre|lang|score|id_rubrique|id_auteur(\[\d*\])?|debut_challenges|limite)$/,
  validations: /^(debut_validations|limite)$/,
  auteurs: /^(nom|statut|lang|groupe|id_auteur(\[\d*\])?|debut_auteurs|limite)$/,
  classement: /^(debut_classement|limite|autour_de|id_rubrique|periode|groupe|id_auteur(\[\d*\])?)$/,
  groupes: /^(debut_groupes|limite)$/,
  environnements_virtuels: /^(nom|os|debut_environnements_virtuels|limite)$/,
}
