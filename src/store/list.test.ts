import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { engines, makeStore } from '../../test/harness.js'
import { auteurs } from '../model/kinds.js'
import { EVERYTHING } from './journal.js'
import { listIds } from './list.js'
import type { Store } from './store.js'

/** Enough rows that SQLite reads the table for a text whose trigrams occur in every row. */
const ROWS = 40_000

const nameOf = (id: number) => {
  if (id % 5_000 === 0) return `zz rarissime ${id}`
  return id % 2 === 0 ? `commun ${id}` : `comm ommu mmun ${id}`
}
const names = Array.from({ length: ROWS }, (_, i) => nameOf(i + 1))

describe.each(engines)('a list read off the event loop on %s', (engine) => {
  let store: Store
  let close: () => Promise<void>
  beforeAll(async () => {
    const made = await makeStore(engine)
    store = made.store
    close = made.close
    const columns = ['id_auteur', 'nom', 'nom_plie', 'statut', 'statut_cle', 'lang', 'lang_cle']
    const rows = names.map((nom, i) => [i + 1, nom, nom, '', '', 'fr', langOf(i + 1)])
    await store.write({ donnees: EVERYTHING }, (db) => db.load('auteurs', columns, rows))
  })
  afterAll(() => close())

  const langOf = (id: number) => (id % 3 === 0 ? 'en' : 'fr')

  interface Asked {
    nom?: string
    lang?: string
    among?: number[]
    debut?: number
  }
  const LIMITE = 50
  const list = ({ nom, lang, among, debut = 0 }: Asked) =>
    store.read(
      (db) =>
        listIds(db, auteurs, {
          contains: { nom_plie: nom },
          equals: { lang_cle: lang },
          condition: among && sql<boolean>`t.id_auteur in (${sql.join(among)})`,
          debut,
          limite: LIMITE,
        }),
      { isLong: true },
    )

  const expected = ({ nom = '', lang, among, debut = 0 }: Asked) => {
    const all = names.flatMap((name, i) => {
      const isFound = name.includes(nom) && (!lang || langOf(i + 1) === lang) && (!among || among.includes(i + 1))
      return isFound ? [i + 1] : []
    })
    const isCounted = nom === '' || all.length <= 1_000
    const ids = all.slice(debut, debut + LIMITE)
    return { ids, more: all.length > debut + LIMITE, total: isCounted ? all.length : undefined }
  }

  test.each<[string, Asked]>([
    ['a rare text, too short for the index', { nom: 'zz' }],
    ['a common text, too short for the index', { nom: 'c' }],
    ['a rare text', { nom: 'rarissime' }],
    ['a common text', { nom: 'mun' }],
    ['a text in half of all names', { nom: 'commun' }],
    ['a text with exactly as many matches as are counted', { nom: '0000' }],
    ['a text in no name, though every name has each of its trigrams', { nom: 'communommu' }],
    ['a text in no name, whose trigrams are in none either', { nom: 'qqqq' }],
    ['a text longer than any name', { nom: 'commun '.repeat(14) }],
    ['a text with the operators of search languages', { nom: '%_"*:' }],
    ['a text and a word', { nom: 'commun', lang: 'en' }],
    ['a rare text and a word', { nom: 'rarissime', lang: 'en' }],
    ['a short text and a word', { nom: 'zz', lang: 'fr' }],
    ['a word', { lang: 'en' }],
    ['a text among named rows', { nom: 'commun', among: [1, 2, 5_000, 77_777] }],
    ['named rows', { among: [2, 1, 77_777] }],
  ])('finds the same as a scan of all rows, page by page: %s', async (_, asked) => {
    for (const debut of [0, 3, 950, 1_000, 13_300, ROWS - 10, ROWS + 10]) {
      expect(await list({ ...asked, debut })).toMatchObject(expected({ ...asked, debut }))
    }
  })

  test('a page past the end has the position where the matches end, for the link back', async () => {
    const { ids } = expected({ nom: 'mun', debut: 0 })
    expect(ids).toHaveLength(LIMITE)
    expect(await list({ nom: 'mun', debut: ROWS })).toEqual({ ids: [], more: false, total: undefined, end: 39_992 })
  })
})
