import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseCsv } from '../../../test/csv.js'
import { portail, randomPortal } from '../../../test/fixtures.js'
import {
  addKey,
  type DumpLine,
  engines,
  exportFrom,
  exportKey,
  importInto,
  makeFolder,
  makeStore,
  OPERATOR,
  startServer,
  type TestServer,
  waitForChanges,
} from '../../../test/harness.js'
import { Model } from '../../../test/model.js'
import { palmares } from '../../../test/palmares.js'
import { problemOf, sessionOf } from '../../../test/wire.js'
import { FORMATS } from './formats.js'
import { RESSOURCES } from './tables.js'

/** Texts that a spreadsheet would read as formulas, and texts that look like them. */
const FORMULAS = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '=a,b', '="x"', '＝1']
const HARMLESS = ['1=1', ' =1', '"=1"', "'=1", 'a\nb', 'a\r\nb', ',', '""', 'é😀', '#']

const nasty: DumpLine[] = [
  ...portail,
  ...[...FORMULAS, ...HARMLESS].flatMap((texte, i): DumpLine[] => [
    { type: 'auteur', id_auteur: 1000 + i, nom: texte, lang: texte },
    { type: 'challenge', id_challenge: 1000 + i, id_rubrique: 1, titre: texte, descriptif: texte, score: 0 },
  ]),
]

describe.each(engines)('GET /export on %s', (engine) => {
  let server: TestServer
  let headers: Record<string, string>
  const ask = (query: string, init: RequestInit = {}) =>
    server.anonymous(`/export?${query}`, { ...init, headers: { ...headers, ...(init.headers as object) } })
  const text = async (query: string) => (await ask(query)).text()

  beforeAll(async () => {
    server = await startServer(nasty, { engine })
    headers = { authorization: `Bearer ${await exportKey(server)}` }
  })
  afterAll(() => server.close())

  const whole = FORMATS.filter((format) => format !== 'csv').map((format) => ({ format, ressource: undefined }))
  const tables = RESSOURCES.map((ressource, i) => ({ format: FORMATS[i % FORMATS.length]!, ressource }))
  const byCommand = [...whole, ...tables]

  test.each(byCommand)('returns the same bytes as the command: $ressource as $format', async (asked) => {
    const { format, ressource } = asked
    const args = ['export', ...(ressource ? [ressource] : []), '--format', format, '--database', server.database]
    const run = await palmares(args, { cwd: makeFolder() })
    expect(run).toEqual({ status: 0, stderr: '', stdout: await text(new URLSearchParams(query(asked)).toString()) })
    if (format !== 'csv') expect(run.stdout).toMatch(/^[\n -~]*$/)
  })

  test.each(RESSOURCES)('returns the same rows of %s in each format', async (ressource) => {
    const ofJson = JSON.parse(await text(`format=json&ressource=${ressource}`)) as DumpLine[]
    expect(lines(await text(`ressource=${ressource}`))).toEqual(ofJson)
    const [header, ...cells] = parseCsv(await text(`format=csv&ressource=${ressource}`))
    expect(ofJson.length).toBeGreaterThan(0)
    expect(cells).toEqual(ofJson.map((row) => Object.values(row).map(cellOf)))
    for (const row of ofJson) expect(Object.keys(row)).toEqual(header)
  })

  test('has the fields of a record in the documented order', async () => {
    const auteur = lines(await text('')).find(({ type, groupe }) => type === 'auteur' && groupe)
    expect(Object.keys(auteur!)).toEqual(['type', 'id_auteur', 'nom', 'lang', 'score', 'groupe'])
  })

  test('returns the same records of the whole portal in each format', async () => {
    const records = JSON.parse(await text('format=json'))
    expect(records).toEqual(await exportFrom(server.store))
    expect(lines(await text('format=ndjson'))).toEqual(records)
    expect(await text('')).toBe(await text('format=ndjson'))
  })

  test('escapes cells that start like a formula, and leaves numbers and all other texts unchanged', async () => {
    const records = parseCsv(await text('format=csv&ressource=auteurs')).slice(-FORMULAS.length - HARMLESS.length)
    expect(records.map(([, nom, , lang]) => [nom, lang])).toEqual(
      [...FORMULAS.map((texte) => `'${texte}`), ...HARMLESS].map((texte) => [texte, texte]),
    )
    const raw = await text('format=csv&ressource=challenges')
    for (const cell of [",'=1+1,", `,"'=a,b",`, `,"'=""x""",`, ',"""=1""",', ',"\'\r=1",', ',"a\nb",']) {
      expect(raw).toContain(cell)
    }
    expect(raw).not.toMatch(/^\ufeff/)
    expect(raw.split('\r\n')[0]).toMatch(/^id_challenge,titre,soustitre,.*,auteurs,descriptif$/)
  })

  test('is complete: imported into an empty store, it exports the same', async () => {
    const dump = await text('')
    const other = await makeStore(engine)
    await importInto(other.store, dump)
    expect(await exportFrom(other.store)).toEqual(lines(dump))
    await other.close()
  })

  test('never contains an account, a key or a hash', async () => {
    for (const format of ['ndjson', 'json']) {
      expect(await text(`format=${format}&with-accounts=true&withAccounts=1`)).not.toMatch(/compte|argon2|empreinte/)
    }
  })

  test('requires the scope export', async () => {
    expect((await server.anonymous('/export', { headers: { cookie: await sessionOf(server, OPERATOR) } })).status).toBe(
      200,
    )
    await problemOf(await server.get('/export'), 'scope_required')
    await problemOf(
      await server.anonymous('/export', { headers: { cookie: await sessionOf(server) } }),
      'scope_required',
    )
    await problemOf(await server.anonymous('/export'), 'credential_missing')
    const writer = await addKey(server.store, OPERATOR.login, { portee: ['ecriture'] })
    const asWriter = { authorization: `Bearer ${writer}` }
    await problemOf(await server.anonymous('/export', { headers: asWriter }), 'scope_required')
    expect((await server.anonymous('/export', { method: 'HEAD' })).status).toBe(401)
  })

  test.each([
    ['format=csv', 'format', /rubriques, challenges, .* or environnements_virtuels/],
    ['format=xml', 'format', /takes ndjson, json or csv/],
    ['format=', 'format', /takes ndjson/],
    ['ressource=comptes', 'ressource', /takes rubriques, challenges/],
    ['ressource=__proto__', 'ressource', /takes rubriques/],
    ['format=json&format=csv', 'format', /twice/],
  ])('refuses %s', async (query, parameter, message) => {
    const { errors } = await problemOf(await ask(query), 'invalid_parameter')
    expect(errors).toEqual([{ parameter, message: expect.stringMatching(message) }])
  })

  test('has its media type and a file name for saving', async () => {
    for (const [query, type, name] of [
      ['', 'application/x-ndjson', 'portail.ndjson'],
      ['format=json', 'application/json; charset=utf-8', 'portail.json'],
      ['format=csv&ressource=auteurs', 'text/csv; charset=utf-8; header=present', 'auteurs.csv'],
    ] as const) {
      for (const method of ['GET', 'HEAD']) {
        const answer = await ask(query, { method })
        expect([
          answer.status,
          ...['content-type', 'content-disposition', 'vary', 'cache-control'].map((header) =>
            answer.headers.get(header),
          ),
        ]).toEqual([...[200, type, `attachment; filename="${name}"`, 'Accept-Encoding', 'private, no-cache']])
        await answer.text()
      }
    }
  })

  test('is answered with 304 until the data changes, with one ETag for each encoding', async () => {
    const tags = []
    for (const encoding of ['identity', 'gzip']) {
      const first = await ask('format=json', { headers: { 'accept-encoding': encoding } })
      expect(first.headers.get('content-encoding')).toBe(encoding === 'gzip' ? 'gzip' : null)
      JSON.parse(await first.text())
      const tag = first.headers.get('etag')!
      tags.push(tag)
      const again = await ask('format=json', { headers: { 'accept-encoding': encoding, 'if-none-match': tag } })
      expect([again.status, again.headers.get('vary')]).toEqual([304, 'Accept-Encoding'])
    }
    expect(new Set(tags).size).toBe(2)
    await importInto(server.store, [{ type: 'rubrique', id_rubrique: 99, nom: 'Nouvelle' }])
    await waitForChanges(server)
    const changed = await ask('format=json', { headers: { 'accept-encoding': 'gzip', 'if-none-match': tags[1]! } })
    expect([changed.status, await changed.text()]).toEqual([200, expect.stringContaining('Nouvelle')])
  })

  test('HEAD has the headers of GET, whether the response is cached or not', async () => {
    for (const ressource of ['validations', 'rubriques']) {
      const [head, whole, heldHead] = [
        await ask(`ressource=${ressource}`, { method: 'HEAD' }),
        await ask(`ressource=${ressource}`),
        await ask(`ressource=${ressource}`, { method: 'HEAD' }),
      ]
      expect(await head.text()).toBe('')
      for (const name of ['etag', 'content-type', 'content-length', 'content-disposition', 'cache-control', 'vary']) {
        expect([name, head.headers.get(name)]).toEqual([name, whole.headers.get(name)])
        expect([name, heldHead.headers.get(name)]).toEqual([name, whole.headers.get(name)])
      }
    }
  })
})

describe.each(engines)('the rows of a table on %s', (engine) => {
  test('match a brute-force reading of the dump, ties and hidden authors included', async () => {
    const dump = randomPortal({ seed: 11, auteurs: 1_200, challenges: 45, validations: 3_000, scores: 6 })
    const model = new Model(dump)
    const server = await startServer(dump, { engine })
    const headers = { authorization: `Bearer ${await exportKey(server)}` }
    const rows = async (ressource: string) => {
      const answer = await server.anonymous(`/export?format=json&ressource=${ressource}`, { headers })
      expect(answer.status).toBe(200)
      return answer.json()
    }
    expect(await rows('classement')).toEqual(
      model.classement.map((row) => ({
        place: model.place(row),
        id_auteur: row.id_auteur,
        nom: row.nom,
        score: row.score,
        groupe: row.groupe || null,
      })),
    )
    const counts = new Map<string, number>()
    const solves = dump.filter(({ type }) => type === 'validation')
    for (const { id_auteur, id_challenge } of solves) {
      for (const of of [`auteur ${id_auteur}`, `challenge ${id_challenge}`]) counts.set(of, (counts.get(of) ?? 0) + 1)
    }
    expect(await rows('auteurs')).toEqual(
      model.auteurs.map(({ id_auteur, nom, statut, lang, score, groupe }) => {
        const nb_validations = counts.get(`auteur ${id_auteur}`) ?? 0
        const words = { statut: statut || null, lang: lang || null }
        return { id_auteur, nom, ...words, score, nb_validations, groupe: groupe || null }
      }),
    )
    expect(await rows('validations')).toEqual(
      solves
        .map(({ id_auteur, id_challenge, date }) => ({ id_auteur, id_challenge, date: utc(date as string | null) }))
        .sort((a, b) => Number(a.id_auteur) - Number(b.id_auteur) || Number(a.id_challenge) - Number(b.id_challenge)),
    )
    expect(await rows('challenges')).toEqual(
      model.challenges.map((row) => ({
        id_challenge: row.id_challenge,
        titre: row.titre,
        soustitre: row.soustitre || null,
        lang: row.lang || null,
        score: row.score,
        id_rubrique: row.id_rubrique,
        rubrique: model.rubriques.find(({ id_rubrique }) => id_rubrique === row.id_rubrique).nom,
        difficulte: row.difficulte ?? null,
        id_trad: row.id_trad ?? null,
        url_challenge: row.url_challenge || null,
        date_publication: utc(row.date_publication),
        nb_validations: counts.get(`challenge ${row.id_challenge}`) ?? 0,
        auteurs: [...new Set(row.auteurs)].sort((a, b) => Number(a) - Number(b)),
        descriptif: row.descriptif ?? null,
      })),
    )
    await server.close()
  })
})

test.each([
  [['export', '--format', 'csv'], /csv is for one resource: rubriques, /],
  [['export', 'comptes'], /Allowed choices are rubriques, /],
  [['export', '--format', 'xml'], /ndjson, json, csv/],
  [['export', 'auteurs', '--with-accounts'], /--with-accounts only works for a whole dump/],
  [['export', '--format', 'json', '--with-accounts'], /--with-accounts only works for a whole dump/],
])('palmares %j is a usage error', async (args, message) => {
  const cwd = makeFolder()
  expect(await palmares(args, { cwd })).toEqual({ status: 2, stdout: '', stderr: expect.stringMatching(message) })
})

function query({ format, ressource }: { format: string; ressource: string | undefined }): Record<string, string> {
  return { format, ...(ressource && { ressource }) }
}

function lines(text: string): DumpLine[] {
  expect(text).toMatch(/\n$/)
  return text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line))
}

/** How a JSON value is written in a cell. */
function cellOf(value: unknown): string {
  if (value === null) return ''
  if (Array.isArray(value)) return value.join(' ')
  return typeof value === 'string' && /^[=+\-@\t\r＝]/.test(value) ? `'${value}` : String(value)
}

function utc(date: string | null | undefined): string | null {
  return date ? `${new Date(date).toISOString().slice(0, 19)}Z` : null
}
