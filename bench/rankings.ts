import { performance } from 'node:perf_hooks'
import { DatabaseSync } from '@photostructure/sqlite'
import pg from 'pg'

/** The cost of the rankings by category and period: disk usage, and the time to rebuild them. */
export interface RankingsCost {
  diskBytes: number
  seconds: number
}

/** A connection to either engine. */
interface Connection {
  exec(sql: string): Promise<void>
  value(sql: string): Promise<number>
  close(): Promise<void>
  /** Bytes of a table and its indexes. */
  sizeSql(table: string): string
}

const FAN = 32
const FIRST_CLE = -Number.MAX_SAFE_INTEGER

/** The partial rankings of a validation: its category, year and month. */
const rankedIn = ['-c.id_rubrique', 'v.mois / 100 * 100', 'v.mois'].map(
  (ranking) => `select ${ranking} as classement, cast(-sum(c.score) as bigint) as cle, 0 as date, v.id_auteur
    from validations v join challenges c on c.id_challenge = v.id_challenge join auteurs a on a.id_auteur = v.id_auteur
    where a.cle_classement is not null group by ${ranking}, v.id_auteur`,
)

/** Fills `classements` and its orders, in SQL for both engines. */
const fillClassements: readonly string[] = [
  `insert into classements (classement, cle, date, id_auteur) ${rankedIn.join(' union all ')} order by 1, 2, 4`,
  fillLevel(0, `select 'classements/' || classement as arbre, cle, date, id_auteur as id, 1 as nb from classements`),
  ...[1, 2, 3].map((niveau) =>
    fillLevel(
      niveau,
      `select arbre, cle, date, id, nb from noeuds where arbre like 'classements/%' and niveau = ${niveau - 1}`,
    ),
  ),
]

/** Groups every `FAN` consecutive entries of an order under the key of the first. */
function fillLevel(niveau: number, entries: string): string {
  return `insert into noeuds (arbre, niveau, cle, date, id, nb)
    select arbre, ${niveau}, case when rang = 0 then ${FIRST_CLE} else cle end,
      case when rang = 0 then ${FIRST_CLE} else date end, case when rang = 0 then 0 else id end, total
    from (
      select arbre, cle, date, id, rang, sum(nb) over (partition by arbre, rang / ${FAN}) as total
      from (
        select arbre, cle, date, id, nb, row_number() over (partition by arbre order by cle, date, id) - 1 as rang
        from (${entries}) as entree
      ) as rangee
    ) as groupe
    where rang % ${FAN} = 0`
}

/** The counted orders of the rankings are part of the table `noeuds`: estimates their size by their share of its rows. */
async function measure(db: Connection): Promise<RankingsCost> {
  const nodes = await db.value('select count(*) from noeuds')
  const theirs = await db.value(`select count(*) from noeuds where arbre like 'classements/%'`)
  const nodeBytes = (await db.value(db.sizeSql('noeuds'))) * (nodes > 0 ? theirs / nodes : 0)
  const diskBytes = (await db.value(db.sizeSql('classements'))) + nodeBytes
  await db.exec('begin')
  await db.exec('delete from classements')
  await db.exec(`delete from noeuds where arbre like 'classements/%'`)
  const start = performance.now()
  for (const sql of fillClassements) await db.exec(sql)
  const seconds = (performance.now() - start) / 1000
  await db.exec('rollback')
  await db.close()
  return { diskBytes, seconds }
}

function openSqlite(file: string): Connection {
  const db = new DatabaseSync(file)
  db.exec('pragma cache_size = -65536')
  return {
    exec: async (sql) => db.exec(sql),
    value: async (sql) => Number(Object.values(db.prepare(sql).get() as object)[0]),
    close: async () => db.close(),
    sizeSql: (table) => `select coalesce(sum(pgsize), 0) from dbstat where name = '${table}'`,
  }
}

async function openPostgres(url: string): Promise<Connection> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const run = (sql: string) => client.query<unknown[]>({ text: sql, rowMode: 'array' })
  return {
    exec: async (sql) => void (await run(sql)),
    value: async (sql) => Number((await run(sql)).rows[0]?.[0]),
    close: () => client.end(),
    sizeSql: (table) => `select pg_total_relation_size('${table}')`,
  }
}

/** The database URL is in a variable, because it may contain a password. */
if (process.argv[1] === import.meta.filename) {
  const address = process.env.BASELINE_DATABASE ?? ''
  const db = process.argv[2] === 'sqlite' ? openSqlite(address) : await openPostgres(address)
  console.log(JSON.stringify(await measure(db)))
}
