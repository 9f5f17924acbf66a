import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type DumpLine, engines, importInto, startServer, type TestServer, waitForChanges } from '../../test/harness.js'
import { problemOf } from '../../test/wire.js'
import { checkPortal, repairPortal } from '../portal/check.js'
import { ingest } from '../portal/live/ingest.js'

const auteur = (id_auteur: number, groupe: string, rest: DumpLine = {}): DumpLine => {
  return { type: 'auteur', id_auteur, nom: `a${id_auteur}`, groupe, ...rest }
}

const PORTAL = [
  auteur(5, 'lycée b'),
  auteur(3, 'Lycée B'),
  auteur(4, 'LYCÉE B'),
  auteur(1, 'zeta', { statut: '5poubelle' }),
  auteur(2, 'Zeta'),
  auteur(6, ''),
  auteur(7, 'Éclair'),
]

describe.each(engines)('groups on %s', (engine) => {
  let server: TestServer
  beforeEach(async () => {
    server = await startServer(PORTAL, { engine })
  })
  afterEach(async () => {
    const { findings } = await checkPortal(server.store)
    expect(findings.flatMap(({ faults }) => faults)).toEqual([])
    await server.close()
  })

  const groups = async (query = '') => {
    await waitForChanges(server)
    const rows = await server.json<{ nom: string; nb_auteurs: number }[]>(`/groupes${query}`)
    return rows.map(({ nom, nb_auteurs }) => `${nom} ${nb_auteurs}`)
  }
  const send = async (...lines: DumpLine[]) => {
    const results = await ingest(
      server.store,
      lines.map((line, i) => ({ number: i + 1, text: JSON.stringify(line) })),
    )
    expect(results.map(({ resultat }) => resultat)).toEqual(lines.map(() => 'appliquee'))
  }

  test('are listed by folded name, spelled as the ranked author with the lowest id has them, without hidden authors', async () => {
    expect(await groups()).toEqual(['Éclair 1', 'LYCÉE B 1', 'Lycée B 2', 'Zeta 1'])
  })

  test('are paged, with a total', async () => {
    const response = await server.get('/groupes?debut_groupes=1&limite=2')
    expect(response.headers.get('x-total-count')).toBe('4')
    expect(await response.json()).toEqual([
      { nom: 'LYCÉE B', nb_auteurs: 1 },
      { nom: 'Lycée B', nb_auteurs: 2 },
    ])
    expect(await groups('?debut_groupes=4')).toEqual([])
  })

  test('follow every live line that moves an author into or out of one', async () => {
    await send(auteur(3, 'Zeta'))
    expect(await groups()).toEqual(['Éclair 1', 'LYCÉE B 1', 'lycée b 1', 'Zeta 2'])
    await send(auteur(5, ''), auteur(8, 'Neuf'))
    expect(await groups()).toEqual(['Éclair 1', 'LYCÉE B 1', 'Neuf 1', 'Zeta 2'])
    await send(auteur(2, 'ZETA'))
    expect(await groups()).toEqual(['Éclair 1', 'LYCÉE B 1', 'Neuf 1', 'ZETA 2'])
    await send(auteur(1, 'zeta', { statut: '' }))
    expect(await groups()).toEqual(['Éclair 1', 'LYCÉE B 1', 'Neuf 1', 'zeta 3'])
    await send(auteur(7, 'Éclair', { statut: '5poubelle' }))
    expect(await groups()).toEqual(['LYCÉE B 1', 'Neuf 1', 'zeta 3'])
  })

  test('follow an author who moves twice in one batch, and one who is removed and added again', async () => {
    await send(
      auteur(3, 'Zeta'),
      auteur(3, 'Éclair'),
      { type: 'auteur', id_auteur: 5, supprime: true },
      auteur(5, 'zeta'),
    )
    expect(await groups()).toEqual(['Éclair 2', 'LYCÉE B 1', 'Zeta 2'])
    await send({ type: 'auteur', id_auteur: 4, supprime: true })
    expect(await groups()).toEqual(['Éclair 2', 'Zeta 2'])
  })

  test('follow an import that changes the group of everyone', async () => {
    await importInto(
      server.store,
      PORTAL.map((line) => ({ ...line, groupe: 'Tous' })),
    )
    expect(await groups()).toEqual(['Tous 6'])
    await importInto(server.store, [auteur(1, ''), auteur(2, 'x')], { replace: true })
    expect(await groups()).toEqual(['x 1'])
  })

  test('keep names of every alphabet, with slashes, quotes and percent signs', async () => {
    const names = ['東/京', 'a/b', "l'équipe", '100 %', '50%_"', 'Σίσυφος', '<b>']
    await importInto(server.store, [auteur(1, ''), ...names.map((nom, i) => auteur(20 + i, nom))], { replace: true })
    const found = await groups()
    expect(new Set(found)).toEqual(new Set(names.map((nom) => `${nom} 1`)))
    await send(...names.map((nom, i) => auteur(40 + i, nom)))
    expect(new Set(await groups())).toEqual(new Set(names.map((nom) => `${nom} 2`)))
  })

  test('have names of at most 100 characters', async () => {
    const [result] = await ingest(server.store, [{ number: 1, text: JSON.stringify(auteur(3, 'é'.repeat(101))) }])
    expect(result).toMatchObject({ resultat: 'refusee', raison: expect.stringContaining('groupe') })
    await send(auteur(3, 'é'.repeat(100)))
    expect(await groups()).toContain(`${'é'.repeat(100)} 1`)
  })

  test.each(['debut_groupes=-1', 'debut_groupes=x', 'limite=0', 'limite=501'])('%s is refused', async (query) => {
    const { errors } = await problemOf(await server.get(`/groupes?${query}`), 'invalid_parameter')
    expect(errors).toMatchObject([{ parameter: query.split('=')[0] }])
  })

  test('that are wrong are named by check, and --repair corrects them', async () => {
    await server.store.write({}, async (db) => {
      await db.exec("delete from groupes where nom = 'Zeta'")
      await db.exec("update groupes set nb_auteurs = 9 where nom = 'Éclair'")
    })
    const { findings } = await checkPortal(server.store)
    expect(findings.filter(({ faults }) => faults.length > 0)).toMatchObject([
      { what: 'groups', faults: ['zeta', 'Éclair'] },
    ])
    await repairPortal(server.store)
  })
})
