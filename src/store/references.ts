import type { Kind, Reference as ReferenceOf } from '../model/kind.js'
import { KINDS } from '../model/kinds.js'
import type { Db } from './store.js'

/** The column has the same name in both tables. */
interface Reference extends ReferenceOf {
  child: string
}

/** Every reference between the tables; the schema of PostgreSQL does not have all of them, see its first migration. */
export const REFERENCES: readonly Reference[] = [
  ...KINDS.flatMap(({ table, references, list }: Kind) => [
    ...references.map((reference) => ({ child: table, ...reference })),
    ...(list ? list.references.map((reference) => ({ child: list.table, ...reference })) : []),
  ]),
  { child: 'sessions', column: 'id_compte', parent: 'comptes' },
  { child: 'sessions', column: 'id_cle', parent: 'cles_api' },
  { child: 'adresses_connues', column: 'id_compte', parent: 'comptes' },
]

/** One line for each reference that some row breaks. A column that is null refers to nothing. */
export async function findBrokenReferences(db: Db): Promise<string[]> {
  const faults: string[] = []
  for (const { child, column, parent } of REFERENCES) {
    const [broken] = await db.select(
      `select 1 as found from ${child} c where c.${column} is not null
       and not exists (select 1 from ${parent} p where p.${column} = c.${column}) limit 1`,
    )
    if (broken) faults.push(`a row of ${child} names a missing row of ${parent}`)
  }
  return faults
}
