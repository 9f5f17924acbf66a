import { expect, test } from 'vitest'
import { byRows, compile, statement } from './query.js'
import { Reads, sourcesOfText } from './reads.js'

const tablesOf = (sql: string) => [...sourcesOfText(sql).tables].sort()

test.each([
  ['select nom from auteurs', ['auteurs']],
  ['SELECT "t"."nom" FROM "auteurs" as "t"', ['auteurs']],
  ['select score from auteurs', ['auteurs', 'challenges', 'validations']],
  ['select score from challenges', ['challenges']],
  ['select nb_validations from challenges c', ['challenges', 'validations']],
  ['select * from rubriques', ['challenges', 'rubriques']],
  ['select r.nom, c.* from challenges c join rubriques r on true', ['challenges', 'rubriques', 'validations']],
  ['select count(*) as nb from (select id_auteur from auteurs) as source', ['auteurs']],
  ['select max(classement) from classements', ['auteurs', 'challenges', 'validations']],
  ['select rowid from auteurs_recherche where auteurs_recherche match ?', ['auteurs']],
  ['select 1 from rubriques, auteurs', ['auteurs', 'rubriques']],
  ['select cle from noeuds', []],
])('%s: depends on the tables it names, and on those that its derived columns depend on', (sql, tables) => {
  expect([tablesOf(sql), sourcesOfText(sql).isEverything]).toEqual([tables, false])
})

test.each([
  ['select login from comptes', true],
  ['select 1 from rubriques join inconnue on true', true],
  ['select statuts_masques from etat', true],
  ['with recursive "suite"("n") as (select 1 from rubriques) select n from suite', false],
  ['with a as materialized (select 1 from rubriques) select 1 from a', false],
  ['with a as (select 1 from rubriques) select 1 from b', true],
  ['select id from (select id_auteur as id from auteurs) as m join auteurs as t on true', false],
])('%s: depends on everything if it reads a source that the journal does not cover', (sql, isEverything) => {
  expect(sourcesOfText(sql).isEverything).toBe(isEverything)
})

test('a statement depends only on the records of its parameters and its rows, in both engines', () => {
  const solved = statement<{ id: number }>({ validations: { id_auteur: 'id' }, challenges: {} })((q, p) =>
    q
      .selectFrom('validations')
      .innerJoin('challenges', 'challenges.id_challenge', 'validations.id_challenge')
      .select(['date', 'score'])
      .where('id_auteur', '=', p.id),
  )
  const names = byRows(
    statement()((q) => q.selectFrom('auteurs').select(['id_auteur', 'nom'])),
    { auteurs: 'id_auteur' },
  )
  for (const engine of ['sqlite', 'postgres'] as const) {
    const reads = new Reads()
    reads.statement(compile(solved, engine).sources!, { id: 7 }, [])
    reads.statement(compile(names, engine).sources!, {}, [
      { id_auteur: 3, nom: 'a' },
      { id_auteur: 4, nom: 'b' },
    ])
    expect(reads.dependencies()).toMatchObject({
      isEverything: false,
      tables: [],
      records: [
        ['validations.id_auteur', [7]],
        ['auteurs.id_auteur', [3, 4]],
      ],
    })
  }
})

test('orders depend on their key ranges, and the order of a table or record on that table or record', () => {
  const reads = new Reads()
  reads.order('classement')
  reads.order('classement', -90, -40)
  reads.order('classements/202601')
  reads.order('validations/7')
  reads.order('auteurs')
  reads.records('auteurs.id_auteur', [1])
  expect(reads.dependencies()).toEqual({
    isEverything: false,
    tables: ['auteurs'],
    records: [['validations.id_challenge', [7]]],
    orders: [
      ['classement', [[-90, -40]]],
      ['classements/202601', []],
    ],
    size: 5,
  })
})
