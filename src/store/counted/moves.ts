import { sql } from 'kysely'
import type { Ranges } from '../changes.js'
import { fixed, written } from '../query.js'
import { type Db, makeScratch, runInOrder } from '../store.js'
import { columns, type End, endAt, endOf, FIRST, isSame, KEY, type Key, LAST, startOf } from './key.js'
import type { Maintained } from './order.js'
import { FAN, MAX_MEMBERS, TOP_LEVEL } from './tree.js'

/**
 * Live changes of trees. The caller notes the entries that it adds and removes in the temporary table `moved_entries`, then
 * applies them all. An entry changes one node on each level. A leaf that grew too large is split, an empty one is deleted. The
 * cost grows with the number of entries, not with the size of the orders.
 */

/** Makes the temporary tables that are missing on a connection. */
export async function makeMoves(db: Db): Promise<void> {
  await Promise.all([
    makeScratch(db, 'moved_entries', `select arbre, ${columns()}, nb from noeuds where false`),
    makeScratch(db, 'changed_nodes', 'select * from noeuds where false'),
  ])
}

/** SQL that notes the entries of the rows of `from`, which are called `alias` there: 1 for added ones, -1 for removed ones. */
export function insertMoves(order: Maintained, nb: 1 | -1, alias: string, from: string): string {
  return `insert into moved_entries (arbre, ${columns()}, nb) select ${order.entry(alias)}, ${nb} from ${from}`
}

/** Applies the noted moves once the tables have changed. Returns where the entries of each order changed. */
export async function applyMoves(db: Db, orders: readonly Maintained[]): Promise<Ranges> {
  const moved = await db.all(selectMoved, {})
  if (moved.length > 0) {
    await runInOrder(db, [insertRoots, ...insertChanged, updateChanged])
    const [empty, overfull] = await Promise.all([db.all(selectEmpty, {}), db.all(selectOverfull, {})])
    for (const node of empty) await db.run(deleteNode, { ...node })
    for (const leaf of overfull) await split(db, orders, leaf)
  }
  return Object.fromEntries(moved.map(({ arbre, first, last, nb }) => [arbre, [first, last, Number(nb) === 0]]))
}

export const forgetMoves = [fixed('delete from moved_entries'), fixed('delete from changed_nodes')]

type Node = Key & { arbre: string; niveau: number; nb: number }

/** Replaces a node with even ones, then its parent if that has too many members. */
async function split(db: Db, orders: readonly Maintained[], node: Node): Promise<void> {
  const members = node.niveau === 0 ? await entriesOf(db, orders, node) : await childrenOf(db, node)
  const pieces = Math.ceil(members.length / FAN)
  const nodes: unknown[][] = []
  for (let piece = 0; piece < pieces; piece++) {
    const [from, to] = [piece, piece + 1].map((i) => Math.floor((i * members.length) / pieces)) as [number, number]
    const start = piece === 0 ? node : (members[from] as Key)
    const nb = members.slice(from, to).reduce((sum, { nb }) => sum + nb, 0)
    nodes.push([node.arbre, node.niveau, ...KEY.map((column) => start[column]), nb])
  }
  await db.run(deleteNode, { ...node })
  await db.load('noeuds', ['arbre', 'niveau', ...KEY, 'nb'], nodes)
  if (node.niveau < TOP_LEVEL) await splitParent(db, orders, node)
}

async function splitParent(db: Db, orders: readonly Maintained[], child: Node): Promise<void> {
  const level = { arbre: child.arbre, niveau: child.niveau + 1 }
  const parent = await db.get(selectFloor, { ...child, ...level })
  if (!parent) throw new Error(`counted order ${level.arbre}: no node at level ${level.niveau}`)
  const node = { ...level, ...parent }
  if (level.niveau < TOP_LEVEL && (await childrenOf(db, node)).length > MAX_MEMBERS) await split(db, orders, node)
}

type Member = Key & { nb: number }

async function entriesOf(db: Db, orders: readonly Maintained[], leaf: Node): Promise<Member[]> {
  const order = orders.find((each) => each.has(leaf.arbre))
  if (!order) throw new Error(`there is no order ${leaf.arbre}`)
  return (await order.slice(db, leaf.arbre, leaf, leaf.nb)).map((key) => ({ ...key, nb: 1 }))
}

async function childrenOf(db: Db, node: Node): Promise<Member[]> {
  const next = (await db.get(selectNext, { ...node })) ?? LAST
  return db.all(selectChildren, { ...node, niveau: node.niveau - 1, ...endAt(next) })
}

/** For each order: the sum of its moves, without the entries that were added and removed again. */
const selectMoved = fixed<{ arbre: string; first: number; last: number; nb: number }>(
  `select arbre, min(cle) as first, max(cle) as last, sum(nb) as nb from (
     select arbre, ${columns()}, sum(nb) as nb from moved_entries group by arbre, ${columns()} having sum(nb) <> 0
   ) as sums group by arbre order by arbre`,
)

const LEVELS = Array.from({ length: TOP_LEVEL + 1 }, (_, level) => level)
const ALL_LEVELS = LEVELS.map((level) => `select ${level} as niveau`).join(' union all ')

/** A new order starts with one node a level. */
const insertRoots = fixed(
  `insert into noeuds (arbre, niveau, ${columns()}, nb)
   select m.arbre, l.niveau, ${KEY.map((column) => FIRST[column]).join(', ')}, 0
   from (select distinct arbre from moved_entries) as m
   cross join (${ALL_LEVELS}) as l where true on conflict do nothing`,
)

/** The nodes that contain the moved entries, level by level: a node of one level lies whole in one of the next. */
const insertChanged = LEVELS.map((level) => {
  const below = level === 0 ? 'moved_entries' : `changed_nodes where niveau = ${level - 1}`
  // SQLite seeks by all columns of the key only if it is compared with no columns, hence the signs. Else it walks through ties.
  const floor = (column: string) =>
    `(select n.${column} from noeuds n where n.arbre = m.arbre and n.niveau = ${level}
      and (${columns('n.')}) <= (${columns('+m.')}) order by ${columns('n.', ' desc')} limit 1)`
  return fixed(
    `insert into changed_nodes (arbre, niveau, ${columns()}, nb)
     select arbre, ${level}, ${columns()}, sum(nb) from (
       select m.arbre, m.nb, ${KEY.map((column) => `${floor(column)} as ${column}`).join(', ')} from (select * from ${below}) as m
     ) as changed group by arbre, ${columns()} having sum(nb) <> 0`,
  )
})

const updateChanged = fixed(
  `update noeuds set nb = noeuds.nb + c.nb from changed_nodes c
   where noeuds.arbre = c.arbre and noeuds.niveau = c.niveau and ${isSame('noeuds', 'c')}`,
)

/** Nodes are found before their condition is checked. PostgreSQL would walk all nodes for the few that meet it. */
const found = (nodes: string, condition: string) =>
  `with found as materialized (${nodes}) select arbre, niveau, ${columns()}, nb from found f where ${condition}`

const isFirst = KEY.map((column) => `${column} = ${FIRST[column]}`).join(' and ')

/** Empty nodes, unless a non-empty one above starts at the same key. The first node of a level always stays. */
const selectEmpty = fixed<Node>(
  found(
    `select n.* from (select distinct arbre, ${columns()} from changed_nodes where not (${isFirst})) as m
     cross join (${ALL_LEVELS}) as l
     join noeuds n on n.arbre = m.arbre and n.niveau = l.niveau and ${isSame('n', 'm')}`,
    `f.nb = 0 and 0 = (
       select count(*) from noeuds p where p.arbre = f.arbre and p.niveau in (1, 2, 3) and p.niveau > f.niveau
         and ${isSame('p', 'f')} and p.nb <> 0)`,
  ),
)

const selectOverfull = fixed<Node>(
  found(
    `select n.* from changed_nodes c
     join noeuds n on n.arbre = c.arbre and n.niveau = c.niveau and ${isSame('n', 'c')} where c.niveau = 0`,
    `f.nb > ${MAX_MEMBERS}`,
  ),
)

type At = Key & { arbre: string; niveau: number }

const ofLevel = (p: At) => sql`from noeuds where arbre = ${p.arbre} and niveau = ${p.niveau} and`
const NAMES = sql.raw(columns())

const deleteNode = written<At, never>((p) => sql`delete ${ofLevel(p)} (${NAMES}) = (${startOf(p)})`)

/** The last node of a level that starts at or before a key. */
const selectFloor = written<At, Member>(
  (p) => sql`select ${NAMES}, nb ${ofLevel(p)} (${NAMES}) <= (${startOf(p)})
    order by ${sql.raw(columns('', ' desc'))} limit 1`,
)

const selectNext = written<At, Key>(
  (p) => sql`select ${NAMES} ${ofLevel(p)} (${NAMES}) > (${startOf(p)}) order by ${NAMES} limit 1`,
)

const selectChildren = written<At & End, Member>(
  (p) =>
    sql`select ${NAMES}, nb ${ofLevel(p)} (${NAMES}) >= (${startOf(p)}) and (${NAMES}) < (${endOf(p)}) order by ${NAMES}`,
)
