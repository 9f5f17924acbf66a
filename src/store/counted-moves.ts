import { FAN, FIRST_CLE, type Key, MAX_MEMBERS, TOP_LEVEL } from './counted.js'
import { fixed, runInOrder, statement } from './query.js'
import { type Db, makeScratch } from './store.js'

/** How to read so many entries of one counted order from a key on, for a leaf that has grown too large. */
export interface Slice {
  /** A select of (cle, id), ascending. */
  sql: string
  values: readonly unknown[]
}
export type SliceOf = (arbre: string, from: Key, rows: number) => Slice

/** After every key that an entry can have. */
const LAST_KEY: Key = { cle: Number.MAX_SAFE_INTEGER, id: 2 ** 53 }

/**
 * Keeps counted orders right as entries come and go. The caller notes each in the temporary table `lot_ecarts`: its order,
 * its key, and 1 or -1. An entry changes one node a level; a leaf that has grown too large is parted, and one that is empty
 * goes. The cost follows the entries, not the orders.
 */
export async function makeMoves(db: Db): Promise<void> {
  await Promise.all([
    makeScratch(db, 'lot_ecarts', 'select arbre, cle, id, nb from noeuds where false'),
    makeScratch(db, 'lot_noeuds', 'select arbre, niveau, cle, id, nb from noeuds where false'),
  ])
}

/** Brings the orders to what was noted, after the entries themselves have moved. */
export async function applyMoves(db: Db, sliceOf: SliceOf): Promise<void> {
  await runInOrder(db, [insertRoots, ...insertTouched, updateTouched])
  const [empty, overfull] = await Promise.all([db.all(selectEmpty, {}), db.all(selectOverfull, {})])
  for (const node of empty) await db.run(deleteNode, { ...node })
  for (const leaf of overfull) await part(db, sliceOf, leaf)
}

/** What was noted is applied, or not to be. */
export const forgetMoves = [fixed('delete from lot_ecarts'), fixed('delete from lot_noeuds')]

interface Node extends Key {
  arbre: string
  niveau: number
  nb: number
}

/** Parts a node into even ones, and what it lies in where that has too many members then. */
async function part(db: Db, sliceOf: SliceOf, node: Node): Promise<void> {
  const { arbre, niveau } = node
  const members = await membersOf(db, sliceOf, node)
  const pieces = Math.ceil(members.length / FAN)
  const nodes: unknown[][] = []
  for (let piece = 0; piece < pieces; piece++) {
    const [from, to] = [piece, piece + 1].map((i) => Math.floor((i * members.length) / pieces)) as [number, number]
    const { cle, id } = piece === 0 ? node : (members[from] as Key)
    nodes.push([arbre, niveau, cle, id, members.slice(from, to).reduce((sum, { nb }) => sum + nb, 0)])
  }
  await db.run(deleteNode, { ...node })
  await db.load('noeuds', ['arbre', 'niveau', 'cle', 'id', 'nb'], nodes)
  if (niveau < TOP_LEVEL) await partParent(db, sliceOf, node)
}

async function partParent(db: Db, sliceOf: SliceOf, { arbre, niveau, cle, id }: Node): Promise<void> {
  const parent = await db.get(selectFloor, { arbre, niveau: niveau + 1, cle, id })
  if (!parent) throw new Error(`the order ${arbre} has no node at the level ${niveau + 1}`)
  const node = { arbre, niveau: niveau + 1, ...parent }
  const members = await membersOf(db, sliceOf, node)
  if (niveau + 1 < TOP_LEVEL && members.length > MAX_MEMBERS) await part(db, sliceOf, node)
}

/** What a node counts: entries, or nodes of the level below. */
async function membersOf(db: Db, sliceOf: SliceOf, node: Node): Promise<(Key & { nb: number })[]> {
  if (node.niveau === 0) {
    const { sql, values } = sliceOf(node.arbre, node, node.nb)
    return db.select(`select cle, id, 1 as nb from (${sql}) as entrees`, ...values)
  }
  const to = (await db.get(selectNext, { ...node })) ?? LAST_KEY
  const range = { cle: node.cle, id: node.id, toCle: to.cle, toId: to.id }
  return db.all(selectChildren, { arbre: node.arbre, niveau: node.niveau - 1, ...range })
}

const LEVELS = Array.from({ length: TOP_LEVEL + 1 }, (_, niveau) => niveau)
const ALL_LEVELS = LEVELS.map((niveau) => `select ${niveau} as niveau`).join(' union all ')

/** An order begins with one node a level. */
const insertRoots = fixed(
  `insert into noeuds (arbre, niveau, cle, id, nb)
   select m.arbre, n.niveau, ${FIRST_CLE}, 0, 0 from (select distinct arbre from lot_ecarts) as m
   cross join (${ALL_LEVELS}) as n where true on conflict do nothing`,
)

/** The nodes that entries lie in, level by level: a node of one level lies whole in one of the next. */
const insertTouched = LEVELS.map((niveau) => {
  const below = niveau === 0 ? 'lot_ecarts' : `lot_noeuds where niveau = ${niveau - 1}`
  // SQLite seeks both columns where what they are compared with is of no column: else it would walk through ties.
  const floor = (column: string) =>
    `(select n.${column} from noeuds n where n.arbre = m.arbre and n.niveau = ${niveau} and (n.cle, n.id) <= (+m.cle, +m.id)
      order by n.cle desc, n.id desc limit 1)`
  return fixed(
    `insert into lot_noeuds (arbre, niveau, cle, id, nb)
     select arbre, ${niveau}, cle, id, sum(nb) from (
       select m.arbre, m.nb, ${floor('cle')} as cle, ${floor('id')} as id from (select * from ${below}) as m
     ) as touche group by arbre, cle, id having sum(nb) <> 0`,
  )
})

const updateTouched = fixed(
  `update noeuds set nb = noeuds.nb + m.nb from lot_noeuds m
   where noeuds.arbre = m.arbre and noeuds.niveau = m.niveau and noeuds.cle = m.cle and noeuds.id = m.id`,
)

/** Found before anything else is asked of them: PostgreSQL would walk all nodes for the few that are empty or overfull. */
const found = (nodes: string, condition: string) =>
  `with trouves as materialized (${nodes}) select arbre, niveau, cle, id, nb from trouves t where ${condition}`

/** An empty node goes with those below that begin where it does, save where one above begins there and is not empty. */
const selectEmpty = fixed<Node>(
  found(
    `select n.* from (select distinct arbre, cle, id from lot_noeuds where cle > ${FIRST_CLE}) as m
     cross join (${ALL_LEVELS}) as l
     join noeuds n on n.arbre = m.arbre and n.niveau = l.niveau and n.cle = m.cle and n.id = m.id`,
    `t.nb = 0 and 0 = (
       select count(*) from noeuds p where p.arbre = t.arbre and p.niveau in (1, 2, 3) and p.niveau > t.niveau
         and p.cle = t.cle and p.id = t.id and p.nb <> 0)`,
  ),
)

const selectOverfull = fixed<Node>(
  found(
    `select n.* from lot_noeuds m
     join noeuds n on n.arbre = m.arbre and n.niveau = m.niveau and n.cle = m.cle and n.id = m.id where m.niveau = 0`,
    `t.nb > ${MAX_MEMBERS}`,
  ),
)

const deleteNode = statement<{ arbre: string; niveau: number; cle: number; id: number }>()((q, p) =>
  q
    .deleteFrom('noeuds')
    .where('arbre', '=', p.arbre)
    .where('niveau', '=', p.niveau)
    .where('cle', '=', p.cle)
    .where('id', '=', p.id),
)

/** The last node of a level that begins at or before a key. */
const selectFloor = statement<{ arbre: string; niveau: number; cle: number; id: number }>()((q, p) =>
  q
    .selectFrom('noeuds')
    .select(['cle', 'id', 'nb'])
    .where('arbre', '=', p.arbre)
    .where('niveau', '=', p.niveau)
    .where(({ eb, refTuple, tuple }) => eb(refTuple('cle', 'id'), '<=', tuple(p.cle, p.id)))
    .orderBy('cle', 'desc')
    .orderBy('id', 'desc')
    .limit(1),
)

const selectNext = statement<{ arbre: string; niveau: number; cle: number; id: number }>()((q, p) =>
  q
    .selectFrom('noeuds')
    .select(['cle', 'id'])
    .where('arbre', '=', p.arbre)
    .where('niveau', '=', p.niveau)
    .where(({ eb, refTuple, tuple }) => eb(refTuple('cle', 'id'), '>', tuple(p.cle, p.id)))
    .orderBy('cle')
    .orderBy('id')
    .limit(1),
)

const selectChildren = statement<{
  arbre: string
  niveau: number
  cle: number
  id: number
  toCle: number
  toId: number
}>()((q, p) =>
  q
    .selectFrom('noeuds')
    .select(['cle', 'id', 'nb'])
    .where('arbre', '=', p.arbre)
    .where('niveau', '=', p.niveau)
    .where(({ eb, refTuple, tuple }) => eb(refTuple('cle', 'id'), '>=', tuple(p.cle, p.id)))
    .where(({ eb, refTuple, tuple }) => eb(refTuple('cle', 'id'), '<', tuple(p.toCle, p.toId)))
    .orderBy('cle')
    .orderBy('id'),
)
