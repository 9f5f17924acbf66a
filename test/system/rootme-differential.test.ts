import { existsSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { portail, randomPortal } from '../fixtures.js'
import {
  ACCOUNT,
  addAccount,
  addKey,
  type DumpLine,
  engines,
  importInto,
  startServer,
  type TestServer,
} from '../harness.js'
import { type Known, knownOf } from '../requests.js'

const seed = Math.floor(Math.random() * 0x7fffffff)
const PORTAL_URL = 'https://portail.example/a/'
const RANGS = {
  visitor: 0,
  curious: 1,
  trainee: 200,
  insider: 500,
  enthusiast: 1000,
  hacker: 2500,
  elite: 5000,
  legend: 10_000,
}

const portals: [name: string, requests: number, dump: () => readonly DumpLine[]][] = [
  ['the portal of the tests', 100, () => portail],
  ['a random one with more authors of one name than are counted', 180, () => [...random(), ...namesakes()]],
  ...real(),
]

// biome-ignore lint/suspicious/noExplicitAny: JSON of either side
type Json = any

describe.each(engines)('the dialect and the contract on %s have the same data', (engine) => {
  test.each(portals)(
    '%s',
    async (_, requests, dump) => {
      const alice = { type: 'auteur', id_auteur: 1, nom: 'alice', score: 10_001 }
      const lines = [...dump().filter(({ type, id_auteur }) => type !== 'auteur' || id_auteur !== 1), alice]
      const server = await startServer([], { engine, settings: { portalUrl: PORTAL_URL }, logLevel: 'silent' })
      await importInto(server.store, lines)
      const key = await signUp(server)
      const known = knownOf(lines)
      const contract = new Contract(server.url, key)
      const statuses = new Set<number>()
      for (const asked of fc.sample(anyAsked(known), { seed, numRuns: requests })) {
        const expected = await contract.expected(asked)
        const response = await ask(`${server.url}/rootme${asked.target}`, key)
        const text = await response.text()
        const place = { seed, target: asked.target }
        statuses.add(response.status)
        expect({ ...place, status: response.status }).toEqual({ ...place, status: expected ? 200 : 404 })
        if (expected) expect({ ...place, body: text }).toEqual({ ...place, body: ascii(JSON.stringify(expected)) })
      }
      expect([...statuses].sort()).toEqual([200, 404])
      await server.close()
    },
    120_000,
  )
})

interface Asked {
  noun: keyof typeof lists
  id?: number
  filters: [name: string, value: string][]
  debut: number
  target: string
}

/** The parameters of each list, its items in the dialect, and the dialect's name of its offset. */
const lists = {
  challenges: { takes: ['titre', 'soustitre', 'lang', 'score', 'id_auteur[]', 'id_rubrique'], item: challengeItem },
  auteurs: { takes: ['nom', 'statut', 'lang'], item: (row: Json) => row },
  classement: { takes: [], item: ({ place, id_auteur, nom, score }: Json) => ({ place, id_auteur, nom, score }) },
  environnements_virtuels: { takes: ['nom', 'os'], item: environnementItem },
} as const

/** Converts responses of the contract into those of the dialect. */
class Contract {
  private readonly answers = new Map<string, Promise<Json>>()

  constructor(
    private readonly url: string,
    private readonly key: string,
  ) {}

  /** The expected body in the dialect; undefined for a 404. */
  async expected(asked: Asked): Promise<Json> {
    if (asked.id === undefined) return this.list(asked)
    const row = await this.get(`/${asked.noun}/${asked.id}`)
    if (!row) return undefined
    if (asked.noun === 'auteurs') return auteur(row)
    if (asked.noun === 'environnements_virtuels') return [environnement(row)]
    const solvers = await this.all(`/challenges/${asked.id}/validations`, 'validations', [])
    const [payload, links] = paged(
      asked,
      latestFirst(solvers),
      100,
      `/challenges/${asked.id}`,
      'debut_validations',
      this.url,
    )
    return [challenge(row, asked.id, payload), ...links]
  }

  private async list(asked: Asked): Promise<Json> {
    const { noun, filters } = asked
    const rows = await this.all(`/${noun}`, noun, filters)
    if (rows.length === 0) return undefined
    const [page, links] = paged(asked, rows, 50, `/${noun}`, `debut_${noun}`, this.url)
    return [{ ...page.map(lists[noun].item) }, ...links]
  }

  /** Every row of a list of the contract. */
  private async all(path: string, noun: string, filters: Asked['filters']): Promise<Json[]> {
    const rows: Json[] = []
    for (;;) {
      const query = new URLSearchParams([...filters, [`debut_${noun}`, String(rows.length)], ['limite', '500']])
      const page = Object.values(await this.get(`${path}?${query}`))
      rows.push(...page)
      if (page.length < 500) return rows
    }
  }

  private get(path: string): Promise<Json> {
    const known = this.answers.get(path) ?? this.fetch(path)
    this.answers.set(path, known)
    return known
  }

  private async fetch(path: string): Promise<Json> {
    const response = await ask(this.url + path, this.key)
    return response.status === 200 ? response.json() : undefined
  }
}

function ask(url: string, key: string): Promise<Response> {
  return fetch(url, { headers: { cookie: `api_key=${key}` } })
}

/** A page of rows, and the links to its neighbours. */
function paged(
  { filters, debut }: Asked,
  rows: Json[],
  size: number,
  path: string,
  name: string,
  url: string,
): [Json[], Json[]] {
  const start = debut < rows.length ? debut : Math.max(0, Math.floor((rows.length - 1) / size) * size)
  const kept = filters.map(([filter, value]) => `${encodeURIComponent(filter)}=${encodeURIComponent(value)}&`).join('')
  const link = (rel: string, row: number) => ({ rel, href: `${url}/rootme${path}?${kept}${name}=${row}` })
  const links = [
    ...(start > 0 ? [link('previous', Math.max(0, start - size))] : []),
    ...(start + size < rows.length ? [link('next', start + size)] : []),
  ]
  return [rows.slice(start, start + size), links]
}

function latestFirst(solvers: Json[]): Json[] {
  const dated = solvers.filter(({ date }) => date !== null)
  return [...dated.reverse(), ...solvers.filter(({ date }) => date === null).reverse()]
}

function challengeItem({ id_challenge, id_rubrique, titre, lang, date_publication }: Json) {
  const date = paris(date_publication)
  const ids = { id_challenge: `${id_challenge}`, id_rubrique: `${id_rubrique}` }
  return { ...ids, titre, lang, date_publication: date, maj: date }
}

function challenge(row: Json, id: number, validations: Json[]) {
  return {
    titre: row.titre,
    rubrique: row.rubrique,
    soustitre: row.soustitre,
    score: `${row.score}`,
    index_challenge: `${id}`,
    id_rubrique: `${row.id_rubrique}`,
    id_trad: `${row.id_trad ?? 0}`,
    url_challenge: relative(row.url_challenge),
    date_publication: paris(row.date_publication),
    maj: paris(row.date_publication),
    difficulte: row.difficulte,
    auteurs: { ...row.auteurs },
    validations: { ...validations.map(({ id_auteur, date }) => ({ id_auteur, date: paris(date) })) },
  }
}

function auteur(row: Json) {
  return {
    id_auteur: row.id_auteur,
    nom: row.nom,
    statut: row.statut,
    logo_url: '',
    score: `${row.score}`,
    position: row.position,
    rang: Object.entries(RANGS).findLast(([, from]) => row.score >= from)?.[0],
    membre: 'false',
    challenges: row.challenges.map(({ id_challenge, titre, url_challenge }: Json) => {
      return { id_challenge: `${id_challenge}`, titre, url_challenge: relative(url_challenge) }
    }),
    solutions: [],
    validations: row.validations.map(({ id_challenge, titre, id_rubrique, date }: Json) => {
      return { id_challenge: `${id_challenge}`, titre, id_rubrique: `${id_rubrique}`, date: paris(date) }
    }),
  }
}

function environnementItem({ id_environnement_virtuel, nom }: Json) {
  return { id_environnement_virtuel: `${id_environnement_virtuel}`, nom }
}

function environnement({ description_fr, description_en, time_to_root, os, ...row }: Json) {
  return { ...environnementItem(row), description_fr, description_en, time_to_root: `${time_to_root ?? ''}`, os }
}

function relative(url: string): string {
  return url.startsWith(PORTAL_URL) ? url.slice(PORTAL_URL.length) : url
}

const calendar = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Paris', dateStyle: 'short', timeStyle: 'medium' })

function paris(instant: string | null): string {
  return instant === null ? '' : calendar.format(Date.parse(instant))
}

function ascii(text: string): string {
  return text.replace(/[^\0-~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Requests of a well-meaning client, some for missing records. */
function anyAsked(known: Known): fc.Arbitrary<Asked> {
  const debut = fc.oneof(
    { weight: 3, arbitrary: fc.constant(0) },
    { weight: 3, arbitrary: fc.constantFrom(1, 49, 50, 51, 100, 1_000, 1_050, 9_999_999) },
    { weight: 1, arbitrary: fc.nat(2_000) },
  )
  const list = fc.constantFrom(...(Object.keys(lists) as Asked['noun'][])).chain((noun) => {
    const filters = fc.tuple(...lists[noun].takes.map((name) => fc.option(filterOf(name, known), { freq: 2 })))
    return fc.record({ noun: fc.constant(noun), filters, debut }).map(({ filters: values, debut }) => {
      const given = lists[noun].takes.flatMap((name, i) => (values[i] ? [[name, values[i]] as [string, string]] : []))
      return asked({ noun, filters: given, debut }, `/${noun}`, `debut_${noun}`)
    })
  })
  const detail = fc
    .constantFrom('challenges' as const, 'auteurs' as const, 'environnements_virtuels' as const)
    .chain((noun) =>
      fc
        .record({ id: fc.constantFrom(...known.ids[noun], 987_654), debut })
        .map(({ id, debut }) => asked({ noun, id, filters: [], debut }, `/${noun}/${id}`, 'debut_validations')),
    )
  return fc.oneof(list, detail)
}

function asked(rest: Omit<Asked, 'target'>, path: string, name: string): Asked {
  const query = new URLSearchParams([...rest.filters, [name, String(rest.debut)]])
  return { ...rest, target: `${path}?${query}` }
}

function filterOf(name: string, known: Known): fc.Arbitrary<string> {
  if (name === 'id_auteur[]') return fc.constantFrom(...known.ids.auteurs).map(String)
  if (name === 'id_rubrique') return fc.constantFrom(...known.rubriques, 999).map(String)
  if (name === 'score') return fc.constantFrom('0', '5', '10', '25')
  const words = { ...known.texts, ...known.words }[name as 'nom']
  const text = words.length === 0 ? fc.constant('x') : fc.constantFrom(...words)
  if (!(name in known.texts)) return text
  return fc.tuple(text, fc.nat(3)).map(([word, from]) => [...word].slice(from % word.length, from + 2).join('') || word)
}

async function signUp(server: TestServer): Promise<string> {
  await addAccount(server.store, ACCOUNT)
  return addKey(server.store, ACCOUNT.login)
}

function random(): DumpLine[] {
  return randomPortal({ seed, auteurs: 160, challenges: 120, validations: 2_500, scores: 30 })
}

function namesakes(): DumpLine[] {
  const called = Array.from({ length: 1_130 }, (_, i) => ({
    type: 'auteur',
    id_auteur: 100_000 + i,
    nom: `Joueur ${i}`,
    lang: i % 3 ? 'fr' : 'de',
  }))
  const solved = called.slice(0, 330).map(({ id_auteur }, i) => ({
    type: 'validation',
    id_auteur,
    id_challenge: 1,
    date: i % 7 === 0 ? null : new Date(Date.UTC(2024, 2, 31, 0, i >> 1)).toISOString(),
  }))
  return [...called, ...solved]
}

/** A dump next to the repository, if there is one. */
function real(): typeof portals {
  const file = new URL('../../../shared/data/portail.ndjson', import.meta.url)
  if (!existsSync(file)) return []
  const read = () =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
  return [['the dump portail', 100, read]]
}
