import { Readable } from 'node:stream'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type Cle,
  emptyModel,
  exportModel,
  freezeModel,
  importIntoModel,
  ingestIntoModel,
  isSame,
  type Model,
  reachedBy,
  resultOf,
  scoreOf,
} from '../../test/dump-model.js'
import { type DumpLine, engines, type MadeStore, makeStore } from '../../test/harness.js'
import { partialLines } from '../../test/partial-lines.js'
import { shareOf } from '../../test/share.js'
import type { TieBreak } from '../model/store-settings.js'
import type { Store } from '../store/store.js'
import { lowerAscii } from '../text.js'
import { checkPortal } from './check.js'
import { exportText } from './export/export.js'
import { ImportError, importDump } from './import.js'
import { ingest } from './live/ingest.js'
import { changeGel, changeSetting } from './settings.js'

interface Step {
  lines: DumpLine[]
  replace: boolean
  withAccounts: boolean
  removeOperators?: boolean
}

/** Lines that are applied one by one to the current portal. */
interface LiveStep {
  live: DumpLine[]
}

/** Which statuts hold no place from then on, how ties are broken, or after which instant validations are frozen. */
type SettingStep = { statuts: string[] } | { departage: TieBreak } | { gel: string | undefined }

interface Ranked {
  hidden: string[]
  departage: TieBreak
}

/** Stores created once and emptied for each portal, because creating one costs more than filling it. */
let made: MadeStore
let otherMade: MadeStore
let store: Store

describe.each(engines)('a portal on %s', (engine) => {
  beforeAll(async () => {
    made = await makeStore(engine)
    otherMade = await makeStore(engine)
    store = made.store
  })
  beforeEach(() => emptied(store))
  afterAll(async () => {
    await made.close()
    await otherMade.close()
  })

  /** PostgreSQL runs fewer cases, because each takes several round trips to the server. */
  const numRuns = (ofSqlite: number) => ({ numRuns: shareOf(engine === 'postgres' ? ofSqlite / 4 : ofSqlite) })

  test('any sequence of imports, live lines, settings, freezes and unfreezes leaves the store as the brute-force model says', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep(), { minLength: 1, maxLength: 7 }), async (steps) => {
        await emptied(store)
        await changeSetting(store, 'statuts_masques', HIDDEN)
        await changeSetting(store, 'departage', 'aucun')
        let model = emptyModel()
        let ranked: Ranked = UNSET
        for (const each of [{ lines: foundation, replace: false, withAccounts: true }, ...steps]) {
          if ('live' in each) model = await applyBoth(store, model, each.live, ranked)
          else if ('lines' in each) model = await importBoth(store, model, each, ranked)
          else if ('gel' in each) model = await freezeBoth(store, model, each.gel, ranked)
          else {
            if ('statuts' in each) ranked = { ...ranked, hidden: each.statuts }
            else ranked = { ...ranked, departage: each.departage }
            await changeSetting(store, 'statuts_masques', ranked.hidden)
            await changeSetting(store, 'departage', ranked.departage)
            await expectDerived(store, model, ranked)
          }
          expect((await checkPortal(store)).findings.flatMap(({ faults }) => faults)).toEqual([])
        }
        await changeSetting(store, 'statuts_masques', HIDDEN)
        await changeSetting(store, 'departage', 'aucun')
        await expectSameAfterMovingFrozen(store, model.gel)
        await freezeBoth(store, model, undefined, UNSET)
        await expectSameAfterMoving(store)
      }),
      numRuns(80),
    )
  })

  test('accounts are exported in one order, whatever order they were created in, with their key ids and hashes', async () => {
    const logins = ['zoé', 'bob', '!first', '-2', 'Alice', '10']
    const before = [...logins.entries()].map(([i, login]) => compteLine(login, 1, [cle(9 - i), cle(20 + i)]))
    await importText(store, [{ type: 'auteur', id_auteur: 1, nom: 'a' }], { replace: false, withAccounts: true })
    for (const line of before) await importText(store, [line], { replace: false, withAccounts: true })
    const lines = parse(await textOf(store, true)).filter(({ type }) => type === 'compte')
    expect(lines.map(({ login }) => login)).toEqual([...logins].sort())
    for (const line of lines) expect(before).toContainEqual(line)
    await expectSameAfterMoving(store)
  })

  test('a dump without accounts contains no account, no login and no hash', async () => {
    await importText(store, foundation, { replace: false, withAccounts: true })
    const text = await textOf(store, false)
    expect(text).not.toMatch(/compte|argon2|empreinte|alice/)
    expect(await textOf(store, true)).toMatch(/"type":"compte","login":"alice"/)
  })

  test('an export can be imported with its lines in any order', async () => {
    await importText(store, foundation, { replace: false, withAccounts: true })
    const text = await textOf(store, true)
    for (const lines of [parse(text).reverse(), parse(text).sort((a, b) => (digits(a) < digits(b) ? -1 : 1))]) {
      const other = await emptied(otherMade.store)
      await importText(other, lines, { replace: false, withAccounts: true })
      expect(await textOf(other, true)).toBe(text)
    }
  })

  test('the largest ids and scores, and texts of every script, survive a round trip', async () => {
    const max = Number.MAX_SAFE_INTEGER
    const texts = ['Élodie 🚩\u2028\u2029', '"\\\u0001\u007f\uffff', '한글 \u1112\u1161\u11ab', 'א\u05b0 <b>&amp;</b>']
    const lines = [
      ...texts.map((nom, i) => ({ type: 'rubrique', id_rubrique: max - i, nom })),
      { type: 'auteur', id_auteur: max, nom: texts[0], score: max },
      { type: 'challenge', id_challenge: max, id_rubrique: max, titre: texts[1], score: 1_000_000_000_000 },
      { type: 'validation', id_auteur: max, id_challenge: max, date: '9999-12-31T23:59:59Z' },
      { type: 'environnement_virtuel', id_environnement_virtuel: max, nom: texts[2], time_to_root: max },
    ]
    await importText(store, lines, { replace: false, withAccounts: false })
    expect(parse(await textOf(store, false))).toEqual(expect.arrayContaining([...lines.slice(0, 5)]))
    expect(parse(await textOf(store, false)).at(-1)).toEqual(lines.at(-1))
    await expectSameAfterMoving(store)
  })

  test('every score and base that an import accepts survives a round trip exactly', async () => {
    const max = Number.MAX_SAFE_INTEGER
    const number = (low: number) => fc.oneof(fc.integer({ min: low, max }), fc.integer({ min: max - 40, max }))
    const base = fc.oneof(number(-max), fc.integer({ min: -max, max: 40 - max }))
    const points = fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 1e12 - 40, max: 1e12 }))
    const auteurs = fc.array(fc.record({ score: fc.option(number(0)), score_base: fc.option(base) }), { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(auteurs, fc.array(points, { maxLength: 4 }), async (scores, challenges) => {
        await emptied(store)
        const imports = [
          [{ type: 'rubrique', id_rubrique: 1, nom: 'r' }],
          challenges.map((score, i) => challengeLine({ id_challenge: i + 1, score })),
          ...scores.map((fields, i) => [
            { type: 'auteur', id_auteur: i + 1, nom: 'a', ...known(fields) },
            ...challenges.map((_, j) => ({ type: 'validation', id_auteur: i + 1, id_challenge: j + 1 })),
          ]),
        ]
        let model = emptyModel()
        for (const lines of imports) {
          model = await importBoth(store, model, { lines, replace: false, withAccounts: false })
        }
        await expectSameAfterMoving(store)
      }),
      numRuns(40),
    )
  })

  test('an export larger than one read contains each row once', async () => {
    const auteurs = Array.from({ length: 5_001 }, (_, i) => ({ type: 'auteur', id_auteur: i + 1, nom: 'a', score: i }))
    const validations = auteurs.map(({ id_auteur }) => ({ type: 'validation', id_auteur, id_challenge: 1 }))
    const rest = [{ type: 'rubrique', id_rubrique: 1, nom: 'r' }, challengeLine({ id_challenge: 1, score: 1 })]
    await importText(store, [...auteurs, ...rest, ...validations], { replace: false, withAccounts: false })
    const lines = parse(await textOf(store, false))
    expect(lines.filter(({ type }) => type === 'auteur')).toEqual(auteurs)
    expect(lines.filter(({ type }) => type === 'validation')).toEqual(validations)
    await expectSameAfterMoving(store)
  })
})

/** Applies live lines to the store and the model. A refused line changes nothing. */
async function applyBoth(store: Store, before: Model, lines: DumpLine[], ranked: Ranked): Promise<Model> {
  const versionBefore = (await store.versions()).donnees
  let model = before
  let isShown = false
  const expected = lines.map((line, i) => {
    const after = ingestIntoModel(model, line)
    const resultat = resultOf(model, line, after)
    if (after && !isSame(model, after, false)) isShown = true
    model = after ?? model
    return { ligne: i + 1, resultat }
  })
  const results = await ingest(
    store,
    lines.map((line, i) => ({ number: i + 1, text: JSON.stringify(line) })),
  )
  expect(results.map(({ ligne, resultat }) => ({ ligne, resultat }))).toEqual(expected)
  expect(results.every(({ resultat, raison }) => (resultat === 'refusee') === (raison !== undefined))).toBe(true)
  await expectStored(store, model)
  const hasMoved = (await store.versions()).donnees !== versionBefore
  expect(hasMoved).toBe(isShown)
  await expectDerived(store, model, ranked)
  return model
}

/** Imports into the store and the model, and compares everything visible in the store with the model. */
async function importBoth(store: Store, before: Model, step: Step, ranked = UNSET): Promise<Model> {
  const versionBefore = (await store.versions()).donnees
  const after = importIntoModel(before, step.lines, step)
  const run = importText(store, step.lines, step)
  if (after) await run
  else await expect(run).rejects.toThrow(ImportError)
  const model = after ?? before
  await expectStored(store, model)
  const hasMoved = (await store.versions()).donnees !== versionBefore
  expect(hasMoved).toBe(!isSame(before, model, false))
  await expectDerived(store, model, ranked)
  return model
}

/** Sets or unsets `gel` in the store and the model. */
async function freezeBoth(store: Store, before: Model, gel: string | undefined, ranked: Ranked): Promise<Model> {
  const { model, refused } = freezeModel(before, gel)
  const change = await changeGel(store, gel)
  expect(change.isChanged).toBe(before.gel !== gel)
  expect(change.refused.map(({ line }) => `${line.id_auteur} ${line.id_challenge}`)).toEqual(refused)
  expect(change).toMatchObject({ applied: model.validations.size - before.validations.size, known: 0 })
  await expectStored(store, model)
  await expectDerived(store, model, ranked)
  return model
}

/** The dumps with and without what is frozen are those of the model. */
async function expectStored(store: Store, model: Model): Promise<void> {
  for (const withGelees of [true, false]) {
    const lines = parse(await textOf(store, true, withGelees))
    expect(lines).toEqual(exportModel(model, { withAccounts: true, withGelees }))
  }
}

async function expectDerived(store: Store, model: Model, { hidden, departage }: Ranked): Promise<void> {
  const validations = [...model.validations.values()]
  const derived = await store.read(async (db) => ({
    auteurs: await db.select(
      'select id_auteur, score, nb_validations, cle_classement, date_classement from auteurs order by id_auteur',
    ),
    challenges: await db.select('select id_challenge, nb_validations from challenges order by id_challenge'),
    rubriques: await db.select('select id_rubrique, nb_challenges from rubriques order by id_rubrique'),
    keys: await db.select('select count(*) as nb from cles_api'),
  }))
  const nbOf = (records: DumpLine[], column: string, id: number) => records.filter((line) => line[column] === id).length
  const ids = (map: Map<number, unknown>) => [...map.keys()].sort((a, b) => a - b)
  expect(derived).toEqual({
    auteurs: ids(model.auteurs).map((id) => ({
      id_auteur: id,
      score: scoreOf(model, id),
      nb_validations: nbOf(validations, 'id_auteur', id),
      cle_classement: hidden.includes(lowerAscii((model.auteurs.get(id)!.statut as string | undefined) ?? ''))
        ? null
        : 0 - scoreOf(model, id),
      date_classement: departage === 'date' ? reachedBy(model, id) : 0,
    })),
    challenges: ids(model.challenges).map((id) => ({
      id_challenge: id,
      nb_validations: nbOf(validations, 'id_challenge', id),
    })),
    rubriques: ids(model.rubriques).map((id) => ({
      id_rubrique: id,
      nb_challenges: nbOf([...model.challenges.values()], 'id_rubrique', id),
    })),
    keys: [{ nb: [...model.comptes.values()].reduce((sum, { cles }) => sum + cles.length, 0) }],
  })
}

/** Export, import into an empty store, export: the bytes are equal, and importing them again changes nothing. */
async function expectSameAfterMoving(store: Store): Promise<void> {
  const other = await emptied(otherMade.store)
  const text = await textOf(store, true)
  const options = { replace: false, withAccounts: true }
  await importDump(other, Readable.from([Buffer.from(text)]), options)
  expect(await textOf(other, true)).toBe(text)
  const before = await other.versions()
  await importDump(other, Readable.from([Buffer.from(text)]), { ...options, replace: true })
  expect(await other.versions()).toEqual(before)
}

/** A frozen store is moved in two imports: what is shown before the freeze, then what is frozen. */
async function expectSameAfterMovingFrozen(store: Store, gel: string | undefined): Promise<void> {
  const other = await emptied(otherMade.store)
  const [shown, all] = [await textOf(store, true), await textOf(store, true, true)]
  await importDump(other, Readable.from([Buffer.from(shown)]), { replace: false, withAccounts: true })
  await changeGel(other, gel)
  const before = await other.versions()
  await importDump(other, Readable.from([Buffer.from(all)]), { replace: true, withAccounts: true })
  expect(await textOf(other, true, true)).toBe(all)
  expect(await other.versions()).toEqual(before)
}

async function emptied(some: Store): Promise<Store> {
  await changeGel(some, undefined)
  await importText(some, [], { replace: true, withAccounts: true, removeOperators: true })
  expect(await textOf(some, true)).toBe('')
  return some
}

function importText(store: Store, lines: DumpLine[], options: Omit<Step, 'lines'>) {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
  return importDump(store, Readable.from([Buffer.from(text)]), options)
}

function textOf(store: Store, withAccounts: boolean, withGelees = false): Promise<string> {
  return store.read(async (db) => {
    let text = ''
    for await (const piece of exportText(db, { format: 'ndjson', withAccounts, withGelees })) text += piece
    return text
  })
}

function parse(text: string): DumpLine[] {
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}

function known(fields: DumpLine): DumpLine {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}

function digits(line: DumpLine): string {
  return JSON.stringify(line).replaceAll(/\D/g, '')
}

const HASH = '$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$Y2hlY2tjaGVja2NoZWNrY2hlY2tjaGVja2NoZWNrY2g'

function cle(id: number): Cle {
  const empreinte = id.toString(16).padStart(64, 'a')
  const dates = { creation: '2025-01-01T00:00:00Z', expiration: '2035-01-01T00:00:00Z' }
  return { id, nom: `key ${id}`, prefixe: 'palm_abcdef', empreinte, portee: ['lecture'], ...dates }
}

function compteLine(login: string, id_auteur: number, cles: Cle[], rest: DumpLine = {}): DumpLine {
  const flags = { operateur: false, desactive: false, creation: '2025-01-01T00:00:00Z' }
  return {
    ...{ type: 'compte', login, id_auteur, mot_de_passe: HASH, ...flags },
    ...{ cles: cles.sort((a, b) => a.id - b.id), ...rest },
  }
}

function challengeLine(fields: DumpLine): DumpLine {
  return { type: 'challenge', id_rubrique: 1, titre: 'c', auteurs: [], ...fields }
}

/** A small portal, so that the references of random lines mostly exist. */
const foundation: DumpLine[] = [
  ...[1, 2].map((id) => ({ type: 'rubrique', id_rubrique: id, nom: `r${id}` })),
  ...[1, 2, 3].map((id) => ({ type: 'auteur', id_auteur: id, nom: `a${id}`, score: 10 * id })),
  ...[1, 2, 3].map((id) => challengeLine({ id_challenge: id, score: 5 * id, auteurs: [id] })),
  { type: 'validation', id_auteur: 1, id_challenge: 2, date: '2025-01-01T00:00:00Z' },
  { type: 'validation', id_auteur: 2, id_challenge: 3 },
  { type: 'environnement_virtuel', id_environnement_virtuel: 1, nom: 'e' },
  compteLine('alice', 1, [cle(1), cle(2)]),
]

const HIDDEN = ['5poubelle']
const UNSET: Ranked = { hidden: HIDDEN, departage: 'aucun' }

/** Before, between and after the dates of lines. */
const INSTANTS = ['0000-01-01T00:00:00Z', '2020-01-01T00:00:00Z', '2024-02-29T23:59:59Z', '2025-01-01T00:00:00Z']

function anyStep(): fc.Arbitrary<Step | LiveStep | SettingStep> {
  const live = fc.array(anyLiveLine(), { minLength: 1, maxLength: 12 }).map((lines) => ({ live: lines }))
  const statuts = fc.subarray(['5poubelle', 'fr']).map((some) => ({ statuts: some }))
  const departage = fc.constantFrom<TieBreak>('aucun', 'date').map((each) => ({ departage: each }))
  const gel = fc.constantFrom(undefined, ...INSTANTS, ...INSTANTS).map((each) => ({ gel: each }))
  return fc.oneof(
    { weight: 4, arbitrary: step() },
    { weight: 6, arbitrary: live },
    { weight: 1, arbitrary: statuts },
    { weight: 1, arbitrary: departage },
    { weight: 4, arbitrary: gel },
  )
}

function step(): fc.Arbitrary<Step> {
  const lines = fc.oneof(
    { weight: 5, arbitrary: fc.array(anyLine(), { maxLength: 6 }) },
    { weight: 1, arbitrary: fc.array(anyLine(), { maxLength: 6 }).map((some) => [...some, ...some.slice(0, 2)]) },
    { weight: 1, arbitrary: fc.array(anyLiveLine(), { maxLength: 3 }) },
    { weight: 2, arbitrary: fc.subarray(foundation) },
    { weight: 2, arbitrary: fc.array(anyLine(), { maxLength: 4 }).map((some) => withoutRepeats(some)) },
  )
  return fc.record({
    lines,
    replace: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
    withAccounts: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
    removeOperators: fc.boolean(),
  })
}

/** The lines merged with the foundation, so that a replacing import is not always refused. */
function withoutRepeats(lines: DumpLine[]): DumpLine[] {
  const keyOf = (line: DumpLine) =>
    [line.type, ...['id_rubrique', 'id_auteur', 'id_challenge', 'login'].map((name) => line[name])].join()
  return [...new Map([...foundation, ...lines].map((line) => [keyOf(line), line])).values()]
}

/** Small numbers, and sometimes one at an edge. */
function mostly(small: fc.Arbitrary<number>, ...edges: number[]): fc.Arbitrary<number> {
  return fc.oneof({ weight: 4, arbitrary: small }, { weight: 1, arbitrary: fc.constantFrom(...edges) })
}

function anyLiveLine(): fc.Arbitrary<DumpLine> {
  const partial = partialLines(anyLine())
  return fc.oneof(
    { weight: 4, arbitrary: anyLine() },
    { weight: 3, arbitrary: partial },
    { weight: 1, arbitrary: partial.map((line) => ({ ...line, supprime: true })) },
  )
}

function anyLine(): fc.Arbitrary<DumpLine> {
  const id = fc.integer({ min: 1, max: 4 })
  const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
  const word = fc.constantFrom('', 'fr', '5poubelle', '5POUBELLE', 'É')
  const date = optional(fc.constantFrom('2024-02-29T23:59:59Z', '1969-12-31T23:59:59Z', '2025-01-01T00:00:00Z'))
  const max = Number.MAX_SAFE_INTEGER
  const small = fc.integer({ min: 0, max: 30 })
  const score = mostly(small, 5_000_000_000_000, max - 1, max)
  const base = mostly(fc.integer({ min: -40, max: 10 }), -max, 1 - max, 5_000_000_000_000, max - 10, max)
  const validation = fc.record({
    ...{ type: fc.constant('validation'), id_auteur: id, id_challenge: id, date },
    gelee: fc.constantFrom(undefined, undefined, undefined, false, true),
  })
  const line = fc.oneof(
    fc.record({ type: fc.constant('rubrique'), id_rubrique: id, nom: fc.constantFrom('r1', 'R') }),
    fc.record({
      ...{ type: fc.constant('auteur'), id_auteur: id, nom: fc.constantFrom('a1', 'Zoë'), statut: word, lang: word },
      groupe: word,
      date_score: date,
      ...{ score: optional(score), score_base: optional(base) },
    }),
    fc.record({ type: fc.constant('auteur'), id_auteur: id, nom: fc.constant('a1'), score: optional(score) }),
    fc.record({
      ...{ type: fc.constant('challenge'), id_challenge: id, id_rubrique: fc.integer({ min: 1, max: 3 }) },
      ...{ titre: fc.constantFrom('c', 'ç'), soustitre: word, descriptif: word, lang: word, difficulte: word },
      score: mostly(small, 1_000_000_000_000),
      ...{ id_trad: optional(id), url_challenge: fc.constantFrom('', 'fr/c'), date_publication: date },
      auteurs: fc.array(id, { maxLength: 3 }),
    }),
    validation,
    validation,
    fc.record({
      ...{ type: fc.constant('environnement_virtuel'), id_environnement_virtuel: id, nom: fc.constantFrom('e', 'f') },
      ...{ os: word, statut: word, lang: word, description_fr: word, description_en: word },
      time_to_root: optional(score),
    }),
    fc
      .record({
        ...{ login: fc.constantFrom('alice', 'bob', 'zoé'), id, operateur: fc.boolean() },
        ...{ desactive: fc.boolean(), cles: fc.uniqueArray(id, { maxLength: 2 }) },
      })
      .map(({ login, id, cles, ...flags }) => compteLine(login, id, cles.map(cle), flags)),
  ) as fc.Arbitrary<DumpLine>
  return fc.oneof(
    { weight: 5, arbitrary: line },
    { weight: 1, arbitrary: line.map((some) => ({ ...some, supprime: true })) },
  )
}
