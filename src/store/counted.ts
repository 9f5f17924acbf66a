import { type RawBuilder, sql } from 'kysely'
import type { Node } from './nodes.js'
import { hidden, statement } from './query.js'
import type { Db } from './store.js'

/**
 * A counted order answers two questions about a long sorted list without walking it: how many entries come before a
 * key, and where does the k-th entry lie. It is a tree of four levels kept in the table `noeuds`: a node says from
 * which key it begins and how many entries lie between it and the next node of its level. Both questions read some
 * `FAN` rows a level, so ten million entries cost what ten thousand do; one entry more or less changes one node a level.
 *
 * The keys of an order are pairs (cle, id), ascending and unique. Orders have a name, `arbre`:
 * `classement` and `classements/N` (the score negated, id), the tables of whole lists (0, id), `validations/N` (date, author's id).
 */
export interface Key {
  cle: number
  id: number
}

/** The key that a leaf begins at. */
export interface Position extends Key {
  /** Entries to pass from that key on. */
  reste: number
}

/** Entries of a leaf and nodes of a node when a tree is built. */
export const FAN = 32
export const TOP_LEVEL = 3
/** What a live tree holds in a leaf and in a node below the top at most; `palmares check` looks that none holds more. */
export const MAX_MEMBERS = 2 * FAN

/** Every level begins here, before any key that an entry can have. */
export const FIRST_CLE = -Number.MAX_SAFE_INTEGER
const ROOT: Key = { cle: FIRST_CLE, id: 0 }

/** No node begins here or after. */
const END: Key = { cle: Number.MAX_SAFE_INTEGER, id: Number.MAX_SAFE_INTEGER }

/** How many entries the order holds. */
export async function countAll(db: Db, arbre: string): Promise<number> {
  db.reads?.order(arbre)
  const top = await family(db, arbre, TOP_LEVEL, ROOT, END)
  return top.reduce((sum, { nb }) => sum + nb, 0)
}

/** Where the entry at a zero-based row lies; undefined past the end. */
export async function seek(db: Db, arbre: string, row: number): Promise<Position | undefined> {
  let reste = row
  const leaf = await descend(db, arbre, (nodes) => {
    let i = 0
    while (i < nodes.length && reste >= nbOf(nodes, i)) reste -= nbOf(nodes, i++)
    return i
  })
  return leaf && { cle: leaf.cle, id: leaf.id, reste }
}

/** How many entries lie before the leaf that a key belongs to, and where that leaf begins. */
export async function leafOf(db: Db, arbre: string, cle: number, id: number): Promise<Key & { avant: number }> {
  let avant = 0
  const leaf = await descend(db, arbre, (nodes) => {
    let i = 0
    while (i + 1 < nodes.length && !isBefore(cle, id, nodes[i + 1] as Node)) avant += nbOf(nodes, i++)
    return i
  })
  const { cle: leafCle, id: leafId } = leaf ?? ROOT
  return { avant, cle: leafCle, id: leafId }
}

/** Goes down from the top to a leaf: on each level into the node that `choose` takes; undefined where there is none. */
async function descend(db: Db, arbre: string, choose: (nodes: readonly Node[]) => number): Promise<Key | undefined> {
  let node = ROOT
  let end = END
  for (let niveau = TOP_LEVEL; niveau >= 0; niveau--) {
    const found = family(db, arbre, niveau, node, end)
    const nodes = found instanceof Promise ? await found : found
    const chosen = choose(nodes)
    if (chosen >= nodes.length) return undefined
    node = nodes[chosen] as Node
    end = nodes[chosen + 1] ?? end
  }
  return node
}

/** The nodes of a level between two keys, at once where a snapshot of this version has read them before. */
function family(db: Db, arbre: string, niveau: number, from: Key, to: Key): readonly Node[] | Promise<readonly Node[]> {
  const parent = `${arbre} ${niveau} ${from.cle} ${from.id}`
  const asked = { arbre, niveau, cle: from.cle, id: from.id, cleFin: to.cle, idFin: to.id }
  return db.nodes?.get(parent) ?? readFamily(db, parent, asked)
}

async function readFamily(db: Db, parent: string, asked: Asked): Promise<readonly Node[]> {
  const nodes = await db.all(asked.niveau < TOP_LEVEL - 1 ? selectFamily : selectHighNodes, asked)
  db.nodes?.set(parent, nodes)
  return nodes
}

function nbOf(nodes: readonly Node[], index: number): number {
  return (nodes[index] as Node).nb
}

function isBefore(cle: number, id: number, node: Key): boolean {
  return cle < node.cle || (cle === node.cle && id < node.id)
}

/**
 * Builds orders anew from their entries, a select of (arbre, cle, id), and removes the others whose name is like `pattern`.
 * Only nodes that differ are written.
 */
export async function rebuild(db: Db, pattern: string, entries: string): Promise<void> {
  await db.exec('drop table if exists lot_noeuds')
  await db.exec('create temporary table lot_noeuds as select * from noeuds where false')
  await db.exec(levelFrom(0, `select arbre, cle, id, 1 as nb from (${entries}) as compte`))
  for (let niveau = 1; niveau <= TOP_LEVEL; niveau++)
    await db.exec(levelFrom(niveau, `select arbre, cle, id, nb from lot_noeuds where niveau = ${niveau - 1}`))
  await db.exec('create unique index lot_noeuds_cle on lot_noeuds (arbre, niveau, cle, id)')
  await db.analyze('lot_noeuds')
  await db.exec(
    `delete from noeuds as n where n.arbre like ? and not exists (select 1 from lot_noeuds l
       where l.arbre = n.arbre and l.niveau = n.niveau and l.cle = n.cle and l.id = n.id and l.nb = n.nb)`,
    pattern,
  )
  await db.exec('insert into noeuds select * from lot_noeuds where true on conflict do nothing')
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

/** The orders where a node does not say how many of the entries below lie between its key and the next node's, or has too many. */
function wrongNodes(niveau: number, below: string): string {
  return `select distinct arbre from (
      select arbre, groupe, max(dit) as dit, sum(nb) as compte, count(*) - 1 as membres from (
        select arbre, dit, nb,
          sum(est_noeud) over (partition by arbre order by cle, id, est_noeud desc rows unbounded preceding) as groupe
        from (
          select arbre, cle, id, nb, null as dit, 0 as est_noeud from (${below}) as dessous
          union all
          select arbre, cle, id, 0 as nb, nb as dit, 1 as est_noeud from noeuds where niveau = ${niveau} and arbre like ?
        ) as tous
      ) as ranges group by arbre, groupe
    ) as groupes where dit is distinct from compte${niveau < TOP_LEVEL ? ` or membres > ${MAX_MEMBERS}` : ''}`
}

/** Groups, in `lot_noeuds`, each run of `FAN` entries of an order under the key of the first. */
function levelFrom(niveau: number, entries: string): string {
  return `insert into lot_noeuds (arbre, niveau, cle, id, nb)
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

type Asked = { arbre: string; niveau: number; cle: number; id: number; cleFin: number; idFin: number }

/** The nodes of a level from one key on, before another: of so many rows, as an index is walked through all that ties with the end. */
const nodesOf = (rows: RawBuilder<number>) =>
  statement<Asked>()((q, p) =>
    q
      .selectFrom(
        q
          .selectFrom('noeuds')
          .select(['cle', 'id', 'nb'])
          .where('arbre', '=', p.arbre)
          .where('niveau', '=', p.niveau)
          .where(sql<boolean>`(cle, id) >= (${hidden(q, p.cle)}, ${hidden(q, p.id)})`)
          .orderBy('cle')
          .orderBy('id')
          .limit(rows)
          .as('suite'),
      )
      .select(['cle', 'id', 'nb'])
      .where(sql<boolean>`(cle, id) < (${p.cleFin}, ${p.idFin})`)
      .orderBy('cle')
      .orderBy('id'),
  )

const selectFamily = nodesOf(sql.lit(MAX_MEMBERS))
/** The top, and what lies in one of its nodes. */
const selectHighNodes = nodesOf(sql.lit(Number.MAX_SAFE_INTEGER))
