import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type DumpLine, engines, importInto, startServer, type TestServer, waitForChanges } from '../../test/harness.js'
import { palmaresHere } from '../../test/here.js'
import { checkPortal, repairPortal } from './check.js'

/** Three authors with equal scores: the second reached it first, the third has no date. */
const PORTAL: DumpLine[] = [
  { type: 'rubrique', id_rubrique: 1, nom: 'r' },
  { type: 'challenge', id_challenge: 1, id_rubrique: 1, titre: 'c', score: 10 },
  { type: 'challenge', id_challenge: 2, id_rubrique: 1, titre: 'free', score: 0 },
  ...[1, 2, 3, 4].map((id) => ({ type: 'auteur', id_auteur: id, nom: `a${id}` })),
  { type: 'validation', id_auteur: 1, id_challenge: 1, date: '2026-03-02T00:00:00Z' },
  { type: 'validation', id_auteur: 2, id_challenge: 1, date: '2026-03-01T00:00:00Z' },
  { type: 'validation', id_auteur: 2, id_challenge: 2, date: '2026-03-09T00:00:00Z' },
  { type: 'validation', id_auteur: 3, id_challenge: 1 },
]

describe.each(engines)('the settings of a store on %s', (engine) => {
  let server: TestServer
  beforeEach(async () => {
    server = await startServer(PORTAL, { engine })
  })
  afterEach(() => server.close())

  const settings = (...args: string[]) => palmaresHere('settings', ...args, '--database', server.database)
  const done = (stdout: string) => expect.objectContaining({ status: 0, stdout })
  const places = async (query = '') => {
    await waitForChanges(server)
    const rows = await server.json<{ id_auteur: string; place: number }[]>(`/classement${query}`)
    return rows.map(({ id_auteur, place }) => `${place}:${id_auteur}`)
  }

  test('departage ranks equal scores by the date at which they were reached, in the next response', async () => {
    expect(await places()).toEqual(['1:1', '1:2', '1:3', '4:4'])
    expect(await settings('set', 'departage', 'date')).toEqual(done('departage is now date\n'))
    expect(await places()).toEqual(['1:2', '2:1', '3:3', '4:4'])
    expect(await places('?id_rubrique=1')).toEqual(['1:2', '2:1', '3:3'])
    expect(await places('?periode=2026-03')).toEqual(['1:2', '2:1'])
    expect(await places('?autour_de=1&limite=1')).toEqual(['2:1'])
    expect(await server.json('/auteurs/1')).toMatchObject({ position: 2 })
    expect(await server.json('/classement/regles')).toEqual({ departage: 'date', gel: null })
    expect(await settings('unset', 'departage')).toEqual(done('departage is now aucun\n'))
    expect(await places()).toEqual(['1:1', '1:2', '1:3', '4:4'])
    expect(await server.json('/classement/regles')).toEqual({ departage: 'aucun', gel: null })
  })

  test('the date of a base counts if it is later than the solves', async () => {
    await settings('set', 'departage', 'date')
    const based = { type: 'auteur', id_auteur: 2, nom: 'a2', score: 10, date_score: '2026-03-05T00:00:00Z' }
    await importInto(server.store, [based])
    expect(await places()).toEqual(['1:1', '2:2', '3:3', '4:4'])
    await importInto(server.store, [{ ...based, date_score: '2026-02-01T00:00:00Z' }])
    expect(await places()).toEqual(['1:2', '2:1', '3:3', '4:4'])
  })

  test('statuts_masques takes places away and gives them back; migrate --hidden-statuts does the same', async () => {
    await importInto(server.store, [{ type: 'auteur', id_auteur: 1, nom: 'a1', statut: 'Parti' }])
    expect(await settings('set', 'statuts_masques', ' PARTI ,x,x')).toEqual(done('statuts_masques is now parti,x\n'))
    expect(await places()).toEqual(['1:2', '1:3', '3:4'])
    const migrate = await palmaresHere('migrate', '--hidden-statuts', '', '--database', server.database)
    expect(migrate.stdout).toContain('the ranking now hides nothing')
    expect(await places()).toEqual(['1:1', '1:2', '1:3', '4:4'])
    expect(await settings('get', 'statuts_masques')).toEqual(done('""\n'))
    expect(await settings('get', 'statuts_masques', '--json')).toEqual(done('[]\n'))
  })

  test('list shows every setting, its value, and whether it is set', async () => {
    expect(JSON.parse((await settings('list', '--json')).stdout)).toEqual({
      ...{ statuts_masques: ['5poubelle'], departage: 'aucun', gel: null, journal_jours: 30 },
    })
    await settings('set', 'departage', 'date')
    const { stdout } = await settings('list')
    expect(stdout).toMatch(/statuts_masques\s*│\s*5poubelle\s*│\s*default/)
    expect(stdout).toMatch(/departage\s*│\s*date\s*│\s*yes/)
  })

  test.each([
    [['set', 'departage', 'heure'], 'departage takes aucun or date, not "heure"'],
    [['set', 'departage', ''], 'departage takes aucun or date, not ""'],
    [['set', 'statuts_masques', 'x'.repeat(101)], 'statuts_masques takes up to 100 statuts'],
    [['set', 'journal_jours', '0'], 'journal_jours takes an integer from 1 to 3650, not "0"'],
    [['set', 'journal_jours', '3651'], 'journal_jours takes an integer'],
    [['set', 'journal_jours', '1.5'], 'journal_jours takes an integer'],
    [['set', 'gele', '1'], 'there is no setting "gele"; the settings are statuts_masques, departage, gel, '],
    [['get', 'toString'], 'there is no setting "toString"'],
    [['unset', '__proto__'], 'there is no setting "__proto__"'],
  ])('%j is refused, and nothing changes', async (args, message) => {
    const before = await server.store.versions()
    expect(await settings(...args)).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining(message) })
    expect(await server.store.versions()).toEqual(before)
  })

  test('a value that is set already changes no version', async () => {
    const before = await server.store.versions()
    expect(await settings('set', 'departage', 'aucun')).toEqual(done('departage is aucun already\n'))
    expect(await server.store.versions()).toEqual(before)
  })

  test('check names settings that this program does not take, which have no effect, and --repair removes them', async () => {
    await server.store.write({}, (db) => db.exec(`insert into reglages values ('departage', '"heure"'), ('x', '1')`))
    const found = async () => (await checkPortal(server.store)).findings.filter(({ faults }) => faults.length > 0)
    expect(await found()).toMatchObject([{ what: 'settings', faults: ['departage', 'x'] }])
    expect(await places()).toEqual(['1:1', '1:2', '1:3', '4:4'])
    await repairPortal(server.store)
    expect(await found()).toEqual([])
  })
})
