import { sql } from 'kysely'
import type { Node } from '../nodes.js'
import { hidden, written } from '../query.js'
import type { Db } from '../store.js'
import { columns, type End, endAt, endOf, FIRST, isBefore, KEY, type Key, LAST, textOf } from './key.js'

/**
 * The tree of a counted order: four levels of nodes in the table `noeuds`. A node has the key that it starts at, and the
 * number of entries from there to the next node of its level. Finding the k-th entry and counting the entries before a key
 * both read some `FAN` rows a level, so ten million entries cost what ten thousand do. An entry more or less changes one
 * node a level. Only `order.ts` reads a tree.
 */

/** Entries of a leaf, and nodes of a node, in a tree that was just built. */
export const FAN = 32
export const TOP_LEVEL = 3
/** The most that a leaf, or a node below the top, holds after live changes. `palmares check` verifies it. */
export const MAX_MEMBERS = 2 * FAN

/** How many entries an order has. */
export async function countAll(db: Db, tree: string): Promise<number> {
  const top = await family(db, tree, TOP_LEVEL, FIRST, LAST)
  return top.reduce((sum, { nb }) => sum + nb, 0)
}

/** The leaf that contains a zero-based row, and how many of its entries come before that row; undefined past the end. */
export async function seek(db: Db, tree: string, row: number): Promise<(Key & { skip: number }) | undefined> {
  let skip = row
  const leaf = await descend(db, tree, (nodes) => {
    let i = 0
    while (i < nodes.length && skip >= nbOf(nodes, i)) skip -= nbOf(nodes, i++)
    return i
  })
  return leaf && { ...leaf, skip }
}

/** The leaf that a key belongs to, and how many entries come before that leaf. */
export async function leafOf(db: Db, tree: string, key: Key): Promise<Key & { before: number }> {
  let before = 0
  const leaf = await descend(db, tree, (nodes) => {
    let i = 0
    while (i + 1 < nodes.length && !isBefore(key, nodes[i + 1] as Node)) before += nbOf(nodes, i++)
    return i
  })
  return { ...(leaf ?? FIRST), before }
}

/** Descends from the top to a leaf, on each level into the node that `choose` returns; undefined if it returns none. */
async function descend(db: Db, tree: string, choose: (nodes: readonly Node[]) => number): Promise<Key | undefined> {
  let node = FIRST
  let end = LAST
  for (let level = TOP_LEVEL; level >= 0; level--) {
    const found = family(db, tree, level, node, end)
    const nodes = found instanceof Promise ? await found : found
    const chosen = choose(nodes)
    if (chosen >= nodes.length) return undefined
    node = nodes[chosen] as Node
    end = nodes[chosen + 1] ?? end
  }
  return node
}

/** The nodes of a level between two keys, synchronously if a snapshot of this version has read them before. */
function family(db: Db, tree: string, level: number, from: Key, to: Key): readonly Node[] | Promise<readonly Node[]> {
  const parent = `${tree} ${level} ${textOf(from)}`
  return db.nodes?.get(parent) ?? readFamily(db, parent, { tree, level, ...from, ...endAt(to) })
}

async function readFamily(db: Db, parent: string, range: Range): Promise<readonly Node[]> {
  const nodes = await db.all(range.level < TOP_LEVEL - 1 ? selectFamily : selectHighNodes, range)
  db.nodes?.set(parent, nodes)
  return nodes
}

function nbOf(nodes: readonly Node[], index: number): number {
  return (nodes[index] as Node).nb
}

type Range = Key & End & { tree: string; level: number }

/** The nodes of a level between two keys. The row limit prevents a scan of all index entries that tie with the upper key. */
const nodesOf = (rows: number) =>
  written<Range, Node>((p, q) => {
    const [key, start] = [sql.raw(columns()), sql.join(KEY.map((column) => hidden(q, p[column])))]
    return sql`select ${key}, nb from (
        select ${key}, nb from noeuds where arbre = ${p.tree} and niveau = ${p.level} and (${key}) >= (${start})
        order by ${key} limit ${sql.lit(rows)}
      ) as members where (${key}) < (${endOf(p)}) order by ${key}`
  })

const selectFamily = nodesOf(MAX_MEMBERS)
/** The top, and the members of one of its nodes, which may be any number. */
const selectHighNodes = nodesOf(Number.MAX_SAFE_INTEGER)
