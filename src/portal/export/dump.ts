import type { Kind } from '../../model/kind.js'
import { KINDS, keyFields, validations } from '../../model/kinds.js'
import { showFields } from '../../model/line.js'
import type { Db } from '../../store/store.js'
import type { Tables } from '../../store/tables.js'
import { type Complete, completeLists, groupBy, type Row, range, rowsAtOnce, walked } from './rows.js'

/**
 * The portal as records of the dump, some at a time, in an order that an import can read as it comes. Unknown fields are left
 * out. Inside one snapshot the whole shows one version of the data.
 */
export async function* dumpRecords(
  db: Db,
  { withAccounts, withGelees }: { withAccounts: boolean; withGelees: boolean },
): AsyncGenerator<Row[]> {
  for (const kind of KINDS as readonly Kind[]) {
    if (kind.isAccount && !withAccounts) continue
    const { type, table, key, fields } = kind
    const after = key.map((name) => (fields[name]?.type === 'text' ? '' : 0))
    const where = { columns: '*', from: table, key, after, rows: rowsAtOnce(kind) }
    const present = (row: Row) => ({ type, ...showFields(fields, row) })
    yield* walked(db, where, completions[type] ?? completeLists(kind), present)
    if (kind === validations && withGelees) {
      yield* walked(db, { ...where, ...GELEES }, undefined, (row) => present({ ...row, gelee: 1 }))
    }
  }
}

/** Frozen validations, but for those whose author or challenge is gone: an import would refuse the dump. */
const GELEES = {
  columns: 'g.*',
  from: `validations_gelees g join auteurs a on a.id_auteur = g.id_auteur
    join challenges c on c.id_challenge = g.id_challenge`,
  key: ['g.id_auteur', 'g.id_challenge'],
}

/** What lines say and the columns of their kind do not. */
const completions: Readonly<Record<string, Complete>> = { auteur: completeBases, compte: completeKeys }

/** A negative total is shown as a score of 0, which does not give the base back: such a line has the base too. */
async function completeBases(db: Db, rows: Row[]): Promise<Row[]> {
  const points = await db.select<{ id_auteur: number; points: number }>(
    `select v.id_auteur, sum(c.score) as points from validations v join challenges c on c.id_challenge = v.id_challenge
     where v.id_auteur between ? and ? group by v.id_auteur`,
    ...range(rows, 'id_auteur'),
  )
  const earned = new Map<unknown, number>(points.map((row) => [row.id_auteur, row.points]))
  return rows.map((row) => {
    const isNegative = (row.base as number) + (earned.get(row.id_auteur) ?? 0) < 0
    return { ...row, score_base: isNegative ? row.base : null }
  })
}

async function completeKeys(db: Db, rows: Row[]): Promise<Row[]> {
  const keys = await db.select<Tables['cles_api']>(
    `select * from cles_api where id_compte in (select id_compte from comptes where login between ? and ?)
     and revocation is null order by id_cle`,
    ...range(rows, 'login'),
  )
  const cles = groupBy(keys, ({ id_compte }) => id_compte)
  const present = (key: Tables['cles_api']) => showFields(keyFields, { ...key, id: key.id_cle })
  return rows.map((row) => ({ ...row, cles: (cles.get(row.id_compte as number) ?? []).map(present) }))
}
