import type { Db } from './store.js'

interface Reference {
  child: string
  /** Named alike on both sides. */
  column: string
  parent: string
}

/** Every reference between the tables; the schema of PostgreSQL does not have all of them, see its first migration. */
export const REFERENCES: readonly Reference[] = [
  { child: 'challenges', column: 'id_rubrique', parent: 'rubriques' },
  { child: 'challenges_auteurs', column: 'id_auteur', parent: 'auteurs' },
  { child: 'challenges_auteurs', column: 'id_challenge', parent: 'challenges' },
  { child: 'validations', column: 'id_auteur', parent: 'auteurs' },
  { child: 'validations', column: 'id_challenge', parent: 'challenges' },
  { child: 'comptes', column: 'id_auteur', parent: 'auteurs' },
  { child: 'sessions', column: 'id_compte', parent: 'comptes' },
  { child: 'sessions', column: 'id_cle', parent: 'cles_api' },
  { child: 'cles_api', column: 'id_compte', parent: 'comptes' },
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
