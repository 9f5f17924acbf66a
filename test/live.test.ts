import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { applyInBatches } from '../src/cli/ingest.js'
import { checkPortal } from '../src/portal/check.js'
import { ingest, type LineResult } from '../src/portal/live/ingest.js'
import { openStore } from '../src/store/open.js'
import { type Store, StoreError } from '../src/store/store.js'
import { everythingOf, expectAsModel, expectAsRecords } from './compare.js'
import { randomPortal } from './fixtures.js'
import {
  addAccount,
  addKey,
  type DumpLine,
  engines,
  exportFrom,
  importInto,
  serveStore,
  startServer,
  type TestServer,
  waitForChanges,
} from './harness.js'
import { Model } from './model.js'
import { watchedStore } from './watched.js'
import { problemOf } from './wire.js'

interface Answer {
  appliquees: number
  connues: number
  refusees: number
  lignes: { ligne: number; resultat: string; raison?: string }[]
}

/** More authors than a node of a ranking can hold, so that nodes are split. */
const SHAPE = { auteurs: 150, challenges: 12, validations: 200, scores: 6 }
const START = randomPortal({ seed: 11, ...SHAPE })

describe.each(engines)('on %s, POST /validations', (engine) => {
  let server: TestServer
  let key: string

  beforeAll(async () => {
    server = await startServer(START, { engine })
    await addAccount(server.store, { login: 'bob', password: 'correct horse battery', idAuteur: 1, operator: true })
    key = await addKey(server.store, 'bob', { portee: ['ecriture'] })
  })
  afterAll(() => server.close())

  const send = (body: string, headers: Record<string, string> = {}) =>
    server.anonymous('/validations', {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson', ...headers },
      body,
    })
  const post = async (lines: DumpLine[]): Promise<Answer> => {
    const response = await send(lines.map((line) => JSON.stringify(line)).join('\n'))
    expect(response.status).toBe(200)
    return (await response.json()) as Answer
  }

  const expectRight = (targets: readonly string[]) => expectAsRecords(server, targets)

  test('keeps cached responses that a solve does not affect, and drops those it affects', async () => {
    await importInto(server.store, HUNDRED, { replace: true })
    const tagOf = async (target: string) => (await server.get(target)).headers.get('etag') as string
    const hits = async () => {
      const metric = (await server.metrics.registry.getSingleMetricAsString('palmares_response_cache_total')).split(
        '\n',
      )
      return Number(
        metric
          .find((line) => line.includes('hit'))
          ?.split(' ')
          .at(-1) ?? 0,
      )
    }
    const kept = [
      '/classement?limite=5',
      '/auteurs/1',
      '/auteurs',
      '/challenges/2',
      '/rubriques',
      '/environnements_virtuels',
    ]
    const gone = [
      '/classement?debut_classement=60&limite=40',
      '/auteurs/70',
      '/challenges/1',
      '/challenges',
      '/challenges/1/validations',
    ]
    const before = new Map<string, string>()
    for (const target of [...kept, ...gone]) before.set(target, await tagOf(target))
    expect(await post([{ type: 'validation', id_auteur: 70, id_challenge: 1 }])).toMatchObject({ appliquees: 1 })
    const hitsBefore = await hits()
    for (const target of kept) expect([target, await tagOf(target)]).toEqual([target, before.get(target)])
    expect(await hits()).toBe(hitsBefore + kept.length)
    for (const target of gone) expect([target, await tagOf(target)]).not.toEqual([target, before.get(target)])
    expect(await hits()).toBe(hitsBefore + kept.length)
  })

  test('concurrent requests for one uncached response compute it once', async () => {
    await importInto(server.store, HUNDRED, { replace: true })
    await server.get('/rubriques')
    const reads = () => server.store.state().reads.primary
    const before = reads()
    const answers = await Promise.all(Array.from({ length: 40 }, () => server.get('/auteurs?nom=n1&limite=3')))
    expect(new Set(await Promise.all(answers.map((answer) => answer.text()))).size).toBe(1)
    expect(reads() - before).toBe(1)
  })

  test('returns the result of each line in order: applied, known, or refused with a reason', async () => {
    await importInto(server.store, HUNDRED, { replace: true })
    const validation = { type: 'validation', id_auteur: 3, id_challenge: 2, date: '2026-01-01T00:00:00Z' }
    const lines = [
      ...[validation, validation, { ...validation, id_auteur: 999 }, { type: 'compte', login: 'x' }],
      ...[{ type: 'auteur', id_auteur: 1, supprime: true }, { type: 'environnement_virtuel' }, { type: 'chose' }],
      ...[{ type: 'auteur', id_auteur: 999, nom: 'new' }, { ...validation, id_auteur: 999 }, { type: 'rubrique' }],
    ].map((line) => JSON.stringify(line))
    const response = await send(`${lines.join('\r\n')}\n\n[1]\n{"type":"validation"\n`)
    const refused = (ligne: number, raison: RegExp) => ({
      ligne,
      resultat: 'refusee',
      raison: expect.stringMatching(raison),
    })
    expect(await response.json()).toEqual({
      appliquees: 3,
      connues: 1,
      refusees: 8,
      gelees: 0,
      lignes: [
        { ligne: 1, resultat: 'appliquee' },
        { ligne: 2, resultat: 'connue' },
        refused(3, /^id_auteur names 999, which auteurs does not have$/),
        refused(4, /type must be one of validation, challenge, auteur, rubrique|mot_de_passe|id_auteur/),
        refused(5, /^the auteur has the account alice; remove it first, with palmares accounts remove$/),
        refused(6, /id_environnement_virtuel|type must be one of/),
        refused(7, /^type must be one of/),
        { ligne: 8, resultat: 'appliquee' },
        { ligne: 9, resultat: 'appliquee' },
        refused(10, /^id_rubrique is missing$/),
        refused(12, /^the line must be an object$/),
        refused(13, /^the line is not JSON; it may have been cut short$/),
      ],
    })
  })

  test('accepts one JSON object, and refuses a body without valid lines with a 400', async () => {
    const json = { 'content-type': 'application/json' }
    const one = await send('{"type":"validation","id_auteur":4,"id_challenge":2}', json)
    expect(await one.json()).toMatchObject({ appliquees: 1, lignes: [{ ligne: 1, resultat: 'appliquee' }] })
    for (const [body, headers] of [
      ['[]', json],
      ['null', json],
      ['{', json],
      ['', json],
      ['', {}],
      ['\n \r\n\n', {}],
    ] as const) {
      await problemOf(await send(body, headers), 'invalid_body')
    }
    const nested = `{"type":"validation","x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
    await problemOf(await send(nested, json), 'invalid_body')
    await problemOf(await send('x', { 'content-type': 'text/plain' }), 'unsupported_media_type')
  })

  test('requires a key with the scope ecriture, and refuses other origins', async () => {
    const line = '{"type":"validation","id_auteur":4,"id_challenge":2}'
    await problemOf(await send(line, { authorization: `Bearer ${server.key}` }), 'scope_required')
    await problemOf(await server.anonymous('/validations', { method: 'POST', body: line }), 'credential_missing')
    await problemOf(await send(line, { origin: 'http://ailleurs.example' }), 'foreign_origin')
    expect((await server.get('/validations')).status).toBe(405)
  })

  test('accepts up to 4 MiB and 10,000 lines', async () => {
    const line = '{"type":"validation","id_auteur":4,"id_challenge":2}\n'
    const full = (await (await send(line.repeat(10_000))).json()) as Answer
    expect([full.lignes.length, full.refusees]).toEqual([10_000, 0])
    await problemOf(await send(line.repeat(10_001)), 'body_too_large')
    await problemOf(await send(' '.repeat(4_194_305)), 'body_too_large')
    expect((await send(`${' '.repeat(131_071)}\n`.repeat(31) + line)).status).toBe(200)
  })

  test('a line or an object over 128 KiB is refused, because parsing it would block the event loop', async () => {
    const line = JSON.stringify({ type: 'validation', id_auteur: 4, id_challenge: 2, date: 'x'.repeat(131_072) })
    const { lignes } = (await (await send(`\n${line}\n`)).json()) as Answer
    expect(lignes).toEqual([{ ligne: 2, resultat: 'refusee', raison: 'the line is longer than 131072 bytes' }])
    await problemOf(await send(line, { 'content-type': 'application/json' }), 'body_too_large')
  })

  describe('a partial line', () => {
    const first = {
      ...{ type: 'challenge', id_challenge: 1, id_rubrique: 1, titre: 'c1', soustitre: 's', lang: 'fr' },
      ...{ score: 10, id_trad: 7, date_publication: '2024-01-01T00:00:00Z', auteurs: [2, 3] },
    }
    const author = { type: 'auteur', id_auteur: 5, nom: 'n4', statut: '6forum', lang: 'fr', score: 70 }
    const solved = { type: 'validation', id_auteur: 5, id_challenge: 1, date: '2025-05-05T00:00:00Z' }
    const records = () => exportFrom(server.store)
    const one = async (type: string, id: number) =>
      (await records()).find((line) => line.type === type && line[`id_${type}`] === id)
    const results = async (...lines: DumpLine[]) => (await post(lines)).lignes.map(({ resultat }) => resultat)
    const partial = (line: DumpLine) => ({ ...line, partiel: true })
    beforeEach(() => importInto(server.store, [...HUNDRED, first, author, solved].filter(isLast), { replace: true }))

    test('changes the named fields, and no others, of a record of any type', async () => {
      const auteur = { type: 'auteur', id_auteur: 5 }
      const changes: [DumpLine, DumpLine][] = [
        [
          { ...auteur, nom: 'x' },
          { ...author, nom: 'x' },
        ],
        [
          { ...auteur, lang: null },
          { type: 'auteur', id_auteur: 5, nom: 'x', statut: '6forum', score: 70 },
        ],
        [
          { ...auteur, groupe: 'Nord' },
          { type: 'auteur', id_auteur: 5, nom: 'x', statut: '6forum', score: 70, groupe: 'Nord' },
        ],
        [
          { ...auteur, score: 90 },
          { type: 'auteur', id_auteur: 5, nom: 'x', statut: '6forum', score: 90, groupe: 'Nord' },
        ],
        [
          { ...auteur, score_base: 1, groupe: null },
          { type: 'auteur', id_auteur: 5, nom: 'x', statut: '6forum', score: 11 },
        ],
      ]
      for (const [line, expected] of changes) {
        expect(await results(partial(line), partial(line))).toEqual(['appliquee', 'connue'])
        expect(await one('auteur', 5)).toEqual(expected)
      }
      const challenge = { type: 'challenge', id_challenge: 1 }
      expect(await results(partial({ ...challenge, titre: 'T', score: 20 }))).toEqual(['appliquee'])
      expect(await one('challenge', 1)).toEqual({ ...first, titre: 'T', score: 20 })
      expect((await one('auteur', 5))?.score).toBe(21)
      expect(await results(partial({ ...challenge, auteurs: [4], id_trad: null }))).toEqual(['appliquee'])
      const { id_trad: _, ...rest } = first
      expect(await one('challenge', 1)).toEqual({ ...rest, titre: 'T', score: 20, auteurs: [4] })
      expect(await results(partial({ ...solved, date: '2025-06-06T00:00:00+02:00' }))).toEqual(['appliquee'])
      expect(await records()).toContainEqual({ ...solved, date: '2025-06-05T22:00:00Z' })
      expect(await results(partial({ type: 'rubrique', id_rubrique: 1, nom: 'R' }))).toEqual(['appliquee'])
      expect(await one('rubrique', 1)).toEqual({ type: 'rubrique', id_rubrique: 1, nom: 'R' })
      await waitForChanges(server)
      await expectRight(everythingOf(new Model(await records())))
    })

    test('a partial line with only the id is known', async () => {
      const before = await records()
      const ids = [
        { type: 'auteur', id_auteur: 5 },
        { type: 'challenge', id_challenge: 1 },
      ]
      const rest = [
        { type: 'rubrique', id_rubrique: 1 },
        { type: 'validation', id_auteur: 5, id_challenge: 1 },
      ]
      expect(await results(...[...ids, ...rest].map(partial))).toEqual(Array(4).fill('connue'))
      expect(await records()).toEqual(before)
    })

    test('is refused for a missing record, and sees the effects of earlier lines of its batch', async () => {
      const auteur = { type: 'auteur', id_auteur: 777, nom: 'new', statut: '6forum' }
      const missing = [
        { ...auteur },
        { type: 'challenge', id_challenge: 777, score: 3 },
        { type: 'rubrique', id_rubrique: 777, nom: 'r' },
        { type: 'validation', id_auteur: 6, id_challenge: 1 },
        { type: 'validation', id_auteur: 777, id_challenge: 1 },
      ]
      const { lignes } = await post(missing.map(partial))
      for (const [i, { type }] of missing.entries()) {
        expect(lignes[i]).toMatchObject({ resultat: 'refusee', raison: expect.stringContaining(`have this ${type}`) })
      }
      const removal = { type: 'auteur', id_auteur: 777, supprime: true }
      expect(
        await results(
          auteur,
          partial({ type: 'auteur', id_auteur: 777, lang: 'fr' }),
          removal,
          partial(auteur),
          auteur,
        ),
      ).toEqual(['appliquee', 'appliquee', 'appliquee', 'refusee', 'appliquee'])
      expect(await one('auteur', 777)).toEqual({ ...auteur, score: 0 })
    })

    test.each<[DumpLine, string]>([
      [{ ...author, partiel: 'yes' }, 'partiel must be true or false'],
      [{ ...author, partiel: 1 }, 'partiel must be true or false'],
      [{ ...author, partiel: null }, 'partiel must be true or false'],
      [{ type: 'auteur', id_auteur: 5, partiel: true, supprime: true }, 'partiel does not go with supprime'],
      [{ type: 'auteur', nom: 'x', partiel: true }, 'id_auteur is missing'],
      [{ type: 'auteur', id_auteur: 5, nom: null, partiel: true }, 'nom is missing'],
      [{ type: 'challenge', id_challenge: 1, score: null, partiel: true }, 'score is missing'],
      [
        { type: 'challenge', id_challenge: 1, id_rubrique: 99, partiel: true },
        'id_rubrique names 99, which rubriques does not have',
      ],
      [
        { type: 'challenge', id_challenge: 1, auteurs: [999], partiel: true },
        'auteurs names 999, which auteurs does not have',
      ],
    ])('%j is refused: %s', async (line, raison) => {
      const before = await records()
      expect(await post([line])).toMatchObject({ lignes: [{ ligne: 1, resultat: 'refusee', raison }] })
      const object = await send(JSON.stringify(line), { 'content-type': 'application/json' })
      expect(await object.json()).toMatchObject({ lignes: [{ resultat: 'refusee', raison }] })
      expect(await records()).toEqual(before)
    })

    test('a validation without a date, whole or partial, keeps a known date, and a date replaces an unknown one', async () => {
      const { date, ...undated } = solved
      const before = await records()
      expect(await results(undated, { ...undated, date: null }, partial({ ...undated, date: null }), solved)).toEqual(
        Array(4).fill('connue'),
      )
      expect(await records()).toEqual(before)
      const other = { ...undated, id_auteur: 6 }
      expect(await results(other, { ...other, date }, other)).toEqual(['appliquee', 'appliquee', 'connue'])
      expect(await records()).toContainEqual({ ...other, date })
    })
  })

  test('a line with an unknown field changes nothing, and its refusal names the field and suggests a known one', async () => {
    await importInto(server.store, HUNDRED, { replace: true })
    const before = await exportFrom(server.store)
    const solve = { type: 'validation', id_auteur: 1, id_challenge: 2 }
    const refused: [DumpLine, string[], string][] = [
      [{ ...solve, removed: true }, ['removed'], 'removed is not a field of validation (did you mean supprime?)'],
      [{ ...solve, Date: 'x' }, ['Date'], 'Date is not a field of validation (did you mean date?)'],
      [{ ...solve, supprime: true, x: 1 }, ['x'], 'x is not a field of validation'],
      [{ type: 'auteur', id_auteur: 1, name: 'x' }, ['name'], 'name is not a field of auteur (did you mean nom?)'],
      [
        { type: 'rubrique', id_rubriqe: 1 },
        ['id_rubriqe'],
        'id_rubriqe is not a field of rubrique (did you mean id_rubrique?)',
      ],
      [
        { ...solve, __proto_: 1, toString: 2 },
        ['__proto_', 'toString'],
        '__proto_ is not a field of validation; toString is not a field of validation',
      ],
      [
        { type: 'auteur', id_auteur: 1, nom: 'x', ['y'.repeat(90)]: 1 },
        [`${'y'.repeat(50)}…`],
        `${'y'.repeat(50)}… is not a field of auteur`,
      ],
    ]
    const { lignes } = await post(refused.map(([line]) => line))
    expect(lignes).toEqual(
      refused.map(([, champs_inconnus, raison], i) => ({ ligne: i + 1, resultat: 'refusee', raison, champs_inconnus })),
    )
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`champ${i}`, i]))
    const [line] = (await post([{ ...solve, ...many }])).lignes
    expect(line).toMatchObject({ raison: expect.stringMatching(/; 490 more are not$/) })
    expect(await exportFrom(server.store)).toEqual(before)
  })

  test('an author without an account is removed with their authorships and solves, in every response', async () => {
    const dump = [
      ...HUNDRED,
      ...[1, 2, 3].map((id_challenge) => ({ type: 'validation', id_auteur: 50, id_challenge })),
      { ...HUNDRED[101], titre: 'written', auteurs: [50, 51] },
    ].filter(isLast)
    await importInto(server.store, dump, { replace: true })
    const targets = everythingOf(new Model(dump))
    await expectRight([...targets, '/auteurs/50'])
    const removal = { type: 'auteur', id_auteur: 50, supprime: true }
    expect((await post([removal, removal])).lignes.map(({ resultat }) => resultat)).toEqual(['appliquee', 'connue'])
    await waitForChanges(server)
    expect((await exportFrom(server.store)).filter((line) => line.id_auteur === 50)).toEqual([])
    expect((await server.get('/auteurs/50')).status).toBe(404)
    await expectRight(targets)
    expect((await checkPortal(server.store)).findings.flatMap(({ faults }) => faults)).toEqual([])
  })

  test('refuses an unsupported content coding or charset', async () => {
    const line = { type: 'validation', id_auteur: 4, id_challenge: 2 }
    const text = JSON.stringify(line)
    const type = 'application/x-ndjson'
    expect((await send(text, { 'content-type': `${type}; charset="UTF-8"` })).status).toBe(200)
    await problemOf(await send(text, { 'content-type': `${type}; charset=utf-16` }), 'unsupported_media_type')
    await problemOf(await send(text, { 'content-encoding': 'gzip' }), 'unsupported_media_type')
  })

  test('changes of many challenges with many solves are applied in parts, and the time limit may fall between two', async () => {
    const dump = [
      ...HUNDRED.filter(({ type }) => type !== 'validation'),
      ...Array.from({ length: 40 }, (_, i) => ({ ...HUNDRED[101], id_challenge: 10 + i, score: 1 })),
      ...Array.from({ length: 4_000 }, (_, i) => ({
        ...{ type: 'validation', id_auteur: 1 + (i % 100), id_challenge: 10 + Math.floor(i / 100) },
      })),
    ]
    await importInto(server.store, dump, { replace: true })
    const lines = Array.from({ length: 40 }, (_, i) => ({ ...HUNDRED[101], id_challenge: 10 + i, score: 2 + i }))
    const sent = lines.map((line, i) => ({ number: i + 1, text: JSON.stringify(line) }))
    const first = await slowly(() => ingest(server.store, sent), 2_100)
    const left = first.filter(({ reessayer }) => reessayer).map(({ ligne }) => ligne)
    expect(left.length).toBeGreaterThan(0)
    expect(left.length).toBeLessThan(40)
    const rest = sent.filter(({ number }) => left.includes(number))
    expect((await ingest(server.store, rest)).every(({ resultat }) => resultat === 'appliquee')).toBe(true)
    await waitForChanges(server)
    await expectRight(everythingOf(new Model(dump)))
  })

  describe('a batch that takes long', () => {
    const lines = Array.from({ length: 20 }, (_, i) =>
      i % 2 === 0
        ? { type: 'rubrique', id_rubrique: 100 + i, nom: 'r' }
        : { type: 'challenge', id_challenge: 100 + i, id_rubrique: 99 + i, titre: 'c', score: i },
    ).map((line, i) => ({ number: i + 1, text: JSON.stringify(line) }))
    test('keeps what was started in time, and refuses the later lines', async () => {
      await importInto(server.store, HUNDRED, { replace: true })
      const results = await slowly(() => ingest(server.store, lines))
      const applied = results.filter(({ resultat }) => resultat === 'appliquee').length
      expect(applied).toBeGreaterThan(1)
      expect(applied).toBeLessThan(lines.length)
      expect(results.slice(applied)).toEqual(
        lines.slice(applied).map(({ number }) => ({
          ...{ ligne: number, resultat: 'refusee', reessayer: true },
          raison: 'not tried: what came before took 2 s; send it again',
        })),
      )
      await waitForChanges(server)
      await expectRight(everythingOf(new Model(HUNDRED)))
    })

    test('the remaining lines of a stream go into further batches', async () => {
      await importInto(server.store, HUNDRED, { replace: true })
      let batches = 0
      const counting = watchedStore(server.store, (db) => ({
        exec: (sql, ...values) => {
          if (sql.startsWith('create index')) batches++
          return db.exec(sql, ...values)
        },
      }))
      const all: LineResult[] = []
      await slowly(async () => {
        for await (const results of applyInBatches(counting, lines)) all.push(...results)
      })
      expect(batches).toBeGreaterThan(1)
      expect(all).toEqual(lines.map(({ number }) => ({ ligne: number, resultat: 'appliquee' })))
    })
  })

  test('a line that gives an author too many points is refused, and the batch is still one change', async () => {
    const max = Number.MAX_SAFE_INTEGER
    const dump = [
      { type: 'rubrique', id_rubrique: 1, nom: 'r' },
      { type: 'auteur', id_auteur: 1, nom: 'a', score_base: max - 100 },
      ...[1, 2, 3].map((id) => ({ type: 'challenge', id_challenge: id, id_rubrique: 1, titre: 'c', score: 30 })),
      ...[1, 2].map((id) => ({ type: 'validation', id_auteur: 1, id_challenge: id })),
    ]
    await importInto(server.store, dump, { replace: true })
    const challenge = (id: number, score: number) => ({ ...dump[1 + id], id_challenge: id, score })
    const before = (await server.store.versions()).donnees
    const { lignes } = await post([
      // 40 of the 100 points are left. The first line would add 50, which is too many until the second one removes 30.
      ...[challenge(1, 80), challenge(2, 0), challenge(3, 5), challenge(1, 100), challenge(1, 90)],
      { type: 'validation', id_auteur: 1, id_challenge: 3 },
    ])
    expect(lignes.map(({ resultat }) => resultat)).toEqual([
      ...['refusee', 'appliquee', 'appliquee', 'appliquee', 'appliquee', 'appliquee'],
    ])
    const journal = await server.store.read((db) =>
      db.select<{ nb: number }>('select count(*) as nb from journal where curseur > ?', before),
    )
    expect(Number(journal[0]?.nb)).toBe(6)
    await waitForChanges(server)
    await expectRight(['/auteurs/1', '/classement', '/classement?id_rubrique=1', '/challenges'])
  })

  test('a store that fails during the search for a line with too many points reports that failure', async () => {
    const max = Number.MAX_SAFE_INTEGER
    const dump = [
      { type: 'rubrique', id_rubrique: 1, nom: 'r' },
      { type: 'auteur', id_auteur: 1, nom: 'a', score_base: max },
      { type: 'challenge', id_challenge: 1, id_rubrique: 1, titre: 'c', score: 30 },
    ]
    await importInto(server.store, dump, { replace: true })
    const fault = new StoreError('full', 'the disk is full')
    const store = watchedStore(server.store, (db) => ({
      exec: async (sql, ...values) => {
        if (!sql.startsWith('savepoint')) return db.exec(sql, ...values)
        // As SQLite does when the disk is full, which ends the transaction.
        if (engine === 'sqlite') await db.exec('rollback')
        throw fault
      },
    }))
    const line = JSON.stringify({ type: 'validation', id_auteur: 1, id_challenge: 1 })
    await expect(ingest(store, [{ number: 1, text: line }])).rejects.toBe(fault)
    expect(await post([{ type: 'validation', id_auteur: 1, id_challenge: 1 }])).toMatchObject({ refusees: 1 })
  })

  test('the bytes of concurrent bodies are limited, which still allows many small ones', async () => {
    await importInto(server.store, HUNDRED, { replace: true })
    const line = JSON.stringify({ type: 'validation', id_auteur: 4, id_challenge: 2 })
    const answers = await Promise.all(Array.from({ length: 60 }, () => send(line)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const large = `${line}\n${' '.repeat(4_000_000)}`
    const statuses = await Promise.all(Array.from({ length: 12 }, () => send(large).then(({ status }) => status)))
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(4)
    expect(new Set(statuses)).toEqual(new Set([200, 503]))
    await problemOf(await send('x'.repeat(5_000_000)), 'body_too_large')
    expect((await send(large)).status).toBe(200)
  })

  test('concurrent writers through several stores lose nothing and apply nothing twice', async () => {
    await importInto(server.store, HUNDRED, { replace: true })
    const others: Store[] = await Promise.all([1, 2].map(() => openStore(server.database, { create: false })))
    const solves = HUNDRED.filter(({ type }) => type === 'auteur').flatMap(({ id_auteur }) =>
      [1, 2, 3].map((id_challenge) => ({ type: 'validation', id_auteur, id_challenge, date: '2026-02-01T00:00:00Z' })),
    )
    const batches = Array.from({ length: 30 }, (_, i) => solves.filter((_, j) => j % 30 === i || j % 7 === i % 7))
    const results = await Promise.all(
      batches.map((batch, i) => {
        const lines = batch.map((line, j) => ({ number: j + 1, text: JSON.stringify(line) }))
        return i % 3 === 0 ? post(batch).then(({ lignes }) => lignes) : ingest(others[(i % 3) - 1] as Store, lines)
      }),
    )
    await Promise.all(others.map((other) => other.close()))
    const applied = results.flat().filter(({ resultat }) => resultat === 'appliquee')
    expect(applied).toHaveLength(solves.length)
    expect(results.flat().some(({ resultat }) => resultat === 'refusee')).toBe(false)
    await waitForChanges(server)
    await expectRight(everythingOf(new Model(HUNDRED)))
  })

  test('a solve through one process is in the next responses of another, which keeps the cached responses it does not affect', async () => {
    await importInto(server.store, HUNDRED, { replace: true })
    const store = await openStore(server.database, { create: false, serving: SERVING })
    const { app, url } = await serveStore(store)
    const other = {
      ...server,
      url,
      get: (path: string) => fetch(url + path, { headers: { cookie: `api_key=${server.key}` } }),
    }
    const targets = everythingOf(new Model(HUNDRED))
    for (let round = 0; round < 5; round++) {
      await post([{ type: 'validation', id_auteur: 20 + round, id_challenge: 3, date: '2026-03-01T00:00:00Z' }])
      await waitForChanges({ store, database: server.database })
      const model = new Model(await exportFrom(server.store))
      for (const target of targets) await expectAsModel(other as TestServer, model, target)
    }
    await app.close()
    await store.close()
  })
})

/** Advances the clock of `performance` at each reading. */
async function slowly<T>(work: () => Promise<T>, milliseconds = 900): Promise<T> {
  let now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += milliseconds))
  try {
    return await work()
  } finally {
    clock.mockRestore()
  }
}

const SERVING = { log: { info: () => undefined, warn: () => undefined }, connections: 4, timeoutSeconds: 20 }

/** A hundred authors, by descending points. */
const HUNDRED: DumpLine[] = [
  { type: 'rubrique', id_rubrique: 1, nom: 'r' },
  ...Array.from({ length: 100 }, (_, i) => ({ type: 'auteur', id_auteur: i + 1, nom: `n${i}`, score: 10 * (100 - i) })),
  ...[1, 2, 3].map((id) => ({ type: 'challenge', id_challenge: id, id_rubrique: 1, titre: `c${id}`, score: 10 * id })),
  { type: 'validation', id_auteur: 1, id_challenge: 2, date: '2025-05-05T00:00:00Z' },
]

/** Whether no later line is about the same record. */
function isLast(line: DumpLine, at: number, lines: DumpLine[]): boolean {
  const keyOf = (each: DumpLine) => {
    const ids = each.type === 'validation' ? ['id_auteur', 'id_challenge'] : [`id_${each.type}`]
    return [each.type, ...ids.map((name) => each[name])].join()
  }
  return !lines.slice(at + 1).some((later) => keyOf(later) === keyOf(line))
}
