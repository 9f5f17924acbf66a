import { type RawBuilder, sql } from 'kysely'
import { statement } from './query.js'
import type { Db } from './store.js'

/**
 * A counted order answers two questions about a long sorted list without walking it: how many entries come before a
 * key, and where does the k-th entry lie. It is a tree of four levels kept in the table `noeuds`: a node says from
 * which key it begins and how many entries lie between it and the next node of its level. Both questions read some
 * `FAN` rows a level, so ten million entries cost what ten thousand do; one entry more or less changes one node a level.
 *
 * The keys of an order are pairs (cle, id), ascending and unique. Orders have a name, `arbre`:
 * `classement` (the score negated, id), `auteurs` and `challenges` (0, id), `validations/N` (date, author's id).
 */
export interface Position {
  /** The key that a leaf begins at. */
  cle: number
  id: number
  /** Entries to pass from that key on. */
  reste: number
}

/** Entries of a leaf and nodes of a node when a tree is built; a live tree may hold up to twice as many. */
export const FAN = 32
export const TOP_LEVEL = 3

/** Every level begins here, before any key that an entry can have. */
export const FIRST_CLE = -Number.MAX_SAFE_INTEGER

/** How many entries the order holds. */
export async function countAll(db: Db, arbre: string): Promise<number> {
  const row = await db.get(selectCount, { arbre })
  return Number(row?.nb ?? 0)
}

/** Where the entry at a zero-based row lies; undefined past the end. */
export async function seek(db: Db, arbre: string, row: number): Promise<Position | undefined> {
  let position: Position | undefined = { cle: FIRST_CLE, id: 0, reste: row }
  for (let niveau = TOP_LEVEL; position && niveau >= 0; niveau--) position = await descend(db, arbre, niveau, position)
  return position
}

/** The node of a level that holds the row `reste`, counted from the node at a key. It is nearly always among `FAN`. */
async function descend(db: Db, arbre: string, niveau: number, from: Position): Promise<Position | undefined> {
  let { cle, id, reste } = from
  for (;;) {
    const nodes = await db.all(selectNodes, { arbre, niveau, cle, id })
    for (const node of nodes) {
      if (reste < node.nb) return { cle: node.cle, id: node.id, reste }
      reste -= node.nb
    }
    const last = nodes[FAN - 1]
    if (!last) return undefined
    cle = last.cle
    id = last.id + 1
  }
}

/** How many entries lie before the leaf that a key belongs to, and where that leaf begins. */
export async function leafOf(
  db: Db,
  arbre: string,
  cle: number,
  id: number,
): Promise<{ avant: number; cle: number; id: number }> {
  const leaf = await db.get(selectLeaf, { arbre, cle, id })
  return leaf ? { avant: Number(leaf.avant), cle: leaf.cle, id: leaf.id } : { avant: 0, cle: FIRST_CLE, id: 0 }
}

/** Builds orders anew from their entries, a select of (arbre, cle, id), after removing those whose name is like `pattern`. */
export async function rebuild(db: Db, pattern: string, entries: string): Promise<void> {
  await db.exec('delete from noeuds where arbre like ?', pattern)
  await db.exec(levelFrom(0, `select arbre, cle, id, 1 as nb from (${entries}) as compte`))
  for (let niveau = 1; niveau <= TOP_LEVEL; niveau++) {
    const below = `select arbre, cle, id, nb from noeuds where arbre like ? and niveau = ${niveau - 1}`
    await db.exec(levelFrom(niveau, below), pattern)
  }
}

/** What is wrong with the trees of some orders: their nodes are compared with the entries they count. */
export async function verifyOrder(db: Db, pattern: string, entries: string): Promise<string[]> {
  await db.exec('drop table if exists lot_entrees')
  await db.exec(`create temporary table lot_entrees as ${entries}`)
  await db.exec('create unique index lot_entrees_cle on lot_entrees (arbre, cle, id)')
  await db.analyze('lot_entrees')
  const faults: { arbre: string }[] = []
  for (let niveau = 0; niveau <= TOP_LEVEL; niveau++) {
    const below =
      niveau === 0
        ? 'select arbre, cle, id, 1 as nb from lot_entrees'
        : `select arbre, cle, id, nb from noeuds where niveau = ${niveau - 1} and arbre like ?`
    faults.push(
      ...(await db.select<{ arbre: string }>(wrongNodes(niveau, below), ...(niveau === 0 ? [] : [pattern]), pattern)),
    )
  }
  const missing = await db.select<{ arbre: string }>(
    `select distinct arbre from lot_entrees e where not exists (select 1 from noeuds n where n.arbre = e.arbre
       and n.niveau = ${TOP_LEVEL} and n.cle = ${FIRST_CLE} and n.id = 0)`,
  )
  return [...new Set([...faults, ...missing].map(({ arbre }) => `the order ${arbre}`))]
}

/** The orders where a node does not say how many of the entries below lie between its key and the next node's. */
function wrongNodes(niveau: number, below: string): string {
  return `select distinct arbre from (
      select arbre, groupe, max(dit) as dit, sum(nb) as compte from (
        select arbre, dit, nb,
          sum(est_noeud) over (partition by arbre order by cle, id, est_noeud desc rows unbounded preceding) as groupe
        from (
          select arbre, cle, id, nb, null as dit, 0 as est_noeud from (${below}) as dessous
          union all
          select arbre, cle, id, 0 as nb, nb as dit, 1 as est_noeud from noeuds where niveau = ${niveau} and arbre like ?
        ) as tous
      ) as ranges group by arbre, groupe
    ) as groupes where dit is distinct from compte`
}

/** Groups each run of `FAN` entries of an order under the key of the first. */
function levelFrom(niveau: number, entries: string): string {
  return `insert into noeuds (arbre, niveau, cle, id, nb)
    select arbre, ${niveau}, case when rang = 0 then ${FIRST_CLE} else cle end, case when rang = 0 then 0 else id end, total
    from (
      select arbre, cle, id, rang, sum(nb) over (partition by arbre, rang / ${FAN}) as total
      from (
        select arbre, cle, id, nb, row_number() over (partition by arbre order by cle, id) - 1 as rang
        from (${entries}) as entree
      ) as rangee
    ) as groupe
    where rang % ${FAN} = 0`
}

const selectCount = statement<{ arbre: string }>()((q, p) =>
  q
    .selectFrom('noeuds')
    .select(({ fn }) => fn.sum<number | null>('nb').as('nb'))
    .where('arbre', '=', p.arbre)
    .where('niveau', '=', TOP_LEVEL),
)

const selectNodes = statement<{ arbre: string; niveau: number; cle: number; id: number }>()((q, p) =>
  q
    .selectFrom('noeuds')
    .select(['cle', 'id', 'nb'])
    .where('arbre', '=', p.arbre)
    .where('niveau', '=', p.niveau)
    .where(sql<boolean>`(cle, id) >= (${p.cle}, ${p.id})`)
    .orderBy('cle')
    .orderBy('id')
    .limit(FAN),
)

const selectLeaf = statement<{ arbre: string; cle: number; id: number }>()((q, p) =>
  q
    .selectFrom([
      floorNode(3, p).as('f3'),
      floorNode(2, p).as('f2'),
      floorNode(1, p).as('f1'),
      floorNode(0, p).as('f0'),
    ])
    .select(['f0.cle as cle', 'f0.id as id'])
    .select(
      sql<number>`${sumBetween(3, p, undefined, 'f3')} + ${sumBetween(2, p, 'f3', 'f2')}
        + ${sumBetween(1, p, 'f2', 'f1')} + ${sumBetween(0, p, 'f1', 'f0')}`.as('avant'),
    ),
)

type Key = { arbre: string; cle: number; id: number }

/** The last node of a level that begins at or before a key. */
function floorNode(niveau: number, p: Key) {
  return sql<{ cle: number; id: number }>`(select cle, id from noeuds where arbre = ${p.arbre}
    and niveau = ${sql.lit(niveau)} and (cle, id) <= (${p.cle}, ${p.id}) order by cle desc, id desc limit 1)`
}

/** The entries under the nodes of a level from one node's key (or the beginning) to another's. */
function sumBetween(niveau: number, p: Key, from: string | undefined, to: string): RawBuilder<number> {
  const lower = from ? sql`and (cle, id) >= (${sql.ref(`${from}.cle`)}, ${sql.ref(`${from}.id`)})` : sql``
  return sql<number>`(select coalesce(sum(nb), 0) from noeuds where arbre = ${p.arbre} and niveau = ${sql.lit(niveau)}
    ${lower} and (cle, id) < (${sql.ref(`${to}.cle`)}, ${sql.ref(`${to}.id`)}))`
}
