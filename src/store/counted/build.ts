import type { Db } from '../store.js'
import { columns, FIRST, isSame, KEY } from './key.js'
import type { Maintained } from './order.js'
import { FAN, MAX_MEMBERS, TOP_LEVEL } from './tree.js'

/** One order, or many over one table. */
type Built = Pick<Maintained, 'pattern' | 'entries'>

/** Builds the trees of orders from their entries, and removes others that match the pattern. Only nodes that differ are written. */
export async function rebuild(db: Db, { pattern, entries }: Built): Promise<void> {
  await db.exec('drop table if exists built_nodes')
  await db.exec('create temporary table built_nodes as select * from noeuds where false')
  await db.exec(levelFrom(0, `select arbre, ${columns()}, 1 as nb from (${entries}) as entries`))
  for (let level = 1; level <= TOP_LEVEL; level++) {
    await db.exec(levelFrom(level, `select arbre, ${columns()}, nb from built_nodes where niveau = ${level - 1}`))
  }
  await db.exec(`create unique index built_nodes_key on built_nodes (arbre, niveau, ${columns()})`)
  await db.analyze('built_nodes')
  await db.exec(
    `delete from noeuds as n where n.arbre like ? and not exists (select 1 from built_nodes b
       where b.arbre = n.arbre and b.niveau = n.niveau and ${isSame('b', 'n')} and b.nb = n.nb)`,
    pattern,
  )
  await db.exec('insert into noeuds select * from built_nodes where true on conflict do nothing')
}

/** The orders whose tree does not match their entries. */
export async function verifyOrders(db: Db, { pattern, entries }: Built): Promise<string[]> {
  await db.exec('drop table if exists found_entries')
  await db.exec(`create temporary table found_entries as ${entries}`)
  await db.exec(`create unique index found_entries_key on found_entries (arbre, ${columns()})`)
  await db.analyze('found_entries')
  const faults: { arbre: string }[] = []
  for (let level = 0; level <= TOP_LEVEL; level++) {
    const below =
      level === 0
        ? `select arbre, ${columns()}, 1 as nb from found_entries`
        : `select arbre, ${columns()}, nb from noeuds where niveau = ${level - 1} and arbre like ?`
    faults.push(
      ...(await db.select<{ arbre: string }>(wrongNodes(level, below), ...(level === 0 ? [] : [pattern]), pattern)),
    )
  }
  const isFirst = KEY.map((column) => `n.${column} = ${FIRST[column]}`).join(' and ')
  const missing = await db.select<{ arbre: string }>(
    `select distinct arbre from found_entries e where not exists (select 1 from noeuds n where n.arbre = e.arbre
       and n.niveau = ${TOP_LEVEL} and ${isFirst})`,
  )
  return [...new Set([...faults, ...missing].map(({ arbre }) => `the order ${arbre}`))]
}

/** The orders with a node whose number is not that of its entries or nodes below, or that has too many of them. */
function wrongNodes(level: number, below: string): string {
  return `select distinct arbre from (
      select arbre, node, max(stated) as stated, sum(nb) as counted, count(*) - 1 as members from (
        select arbre, stated, nb,
          sum(is_node) over (partition by arbre order by ${columns()}, is_node desc rows unbounded preceding) as node
        from (
          select arbre, ${columns()}, nb, null as stated, 0 as is_node from (${below}) as below
          union all
          select arbre, ${columns()}, 0 as nb, nb as stated, 1 as is_node from noeuds where niveau = ${level} and arbre like ?
        ) as together
      ) as grouped group by arbre, node
    ) as nodes where stated is distinct from counted${level < TOP_LEVEL ? ` or members > ${MAX_MEMBERS}` : ''}`
}

/** Adds to `built_nodes` one node for each `FAN` entries of an order. It starts at the key of the first of them. */
function levelFrom(level: number, entries: string): string {
  const start = KEY.map((column) => `case when place = 0 then ${FIRST[column]} else ${column} end`).join(', ')
  return `insert into built_nodes (arbre, niveau, ${columns()}, nb)
    select arbre, ${level}, ${start}, total
    from (
      select arbre, ${columns()}, place, sum(nb) over (partition by arbre, place / ${FAN}) as total
      from (
        select arbre, ${columns()}, nb, row_number() over (partition by arbre order by ${columns()}) - 1 as place
        from (${entries}) as entries
      ) as placed
    ) as nodes
    where place % ${FAN} = 0`
}
