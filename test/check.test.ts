import { DatabaseSync } from '@photostructure/sqlite'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { TOP_LEVEL } from '../src/store/counted/tree.js'
import { ORDERS } from '../src/store/orders.js'
import { SEARCH_INDEXES } from '../src/store/postgres/search.js'
import { REFERENCES } from '../src/store/references.js'
import { portail } from './fixtures.js'
import { ACCOUNT, addAccount, type Engine, engines, OPERATOR, startServer, type TestServer } from './harness.js'
import { palmaresHere } from './here.js'
import { PATIENCE } from './patience.js'
import { runSql } from './servers/postgres.js'

/** A change that corrupts a store, one that reverts it, and what `check` prints in between. */
interface Fault {
  name: string
  plant: Readonly<Record<Engine, string>>
  undo: Readonly<Record<Engine, string>>
  line: RegExp
}

const onBoth = (sql: string) => ({ sqlite: sql, postgres: sql })
const ELSEWHERE = 1_000_000

/** Adds to a column of every row; nulls stay null. */
const moved = (table: string, column: string, name: string, by: number, line: RegExp): Fault => ({
  name,
  plant: onBoth(`update ${table} set ${column} = ${column} + ${by}`),
  undo: onBoth(`update ${table} set ${column} = ${column} - ${by}`),
  line,
})

const references = REFERENCES.map(({ child, column, parent }) =>
  moved(
    child,
    column,
    `${child}.${column}`,
    ELSEWHERE,
    new RegExp(`FAULT {2}file, indexes and references: .*a row of ${child} names a missing row of ${parent}`),
  ),
)

const counted = [
  moved('auteurs', 'score', 'auteurs.score', 1, /FAULT {2}scores and ranking keys: author 1;/),
  moved('auteurs', 'nb_validations', 'auteurs.nb_validations', 1, /FAULT {2}scores and ranking keys: author 1;/),
  moved('auteurs', 'cle_classement', 'auteurs.cle_classement', 1, /FAULT {2}scores and ranking keys: author 1;/),
  moved('challenges', 'nb_validations', 'challenges.nb_validations', 1, /FAULT {2}counts .*: challenge 1;/),
  moved('rubriques', 'nb_challenges', 'rubriques.nb_challenges', 1, /FAULT {2}counts .*: category 1;/),
  moved('groupes', 'nb_auteurs', 'groupes.nb_auteurs', 1, /FAULT {2}groups: lyc/),
  moved('classements', 'cle', 'classements.cle', 1, /FAULT {2}rankings by category and period: ranking -\d/),
]

/** For each kind of counted order: a wrong node on some level, and an order without nodes. */
const orders = ORDERS.flatMap(({ pattern }, i): Fault[] => {
  const [name] = pattern.split('/')
  const arbre = pattern.replace('%', name === 'classements' ? '-1' : name === 'groupes' ? 'lycée b' : '1')
  const line = new RegExp(`FAULT {2}places and pages: the order ${arbre}`)
  const level = i % (TOP_LEVEL + 1)
  const where = `where arbre = '${arbre}' and niveau = ${level}`
  return [
    {
      name: `a node of ${arbre} on level ${level}`,
      plant: onBoth(`update noeuds set nb = nb + 1 ${where}`),
      undo: onBoth(`update noeuds set nb = nb - 1 ${where}`),
      line,
    },
    {
      name: `${arbre} without nodes`,
      plant: onBoth(`update noeuds set arbre = 'perdu/${arbre}' where arbre = '${arbre}'`),
      undo: onBoth(`update noeuds set arbre = '${arbre}' where arbre = 'perdu/${arbre}'`),
      line,
    },
  ]
})

const search = SEARCH_INDEXES.map((index): Fault => {
  const table = index.replace('_recherche', '')
  const columns = { auteurs: 'nom_plie', challenges: 'titre_plie', environnements_virtuels: 'nom_plie' }
  const column = columns[table as keyof typeof columns]
  const extension = table === 'challenges' ? 'titre_plie gin_trgm_ops, soustitre_plie' : column
  return {
    name: index,
    plant: {
      sqlite: `insert into ${index} (${index}) values ('delete-all')`,
      postgres: `drop index ${index}`,
    },
    undo: {
      sqlite: `insert into ${index} (${index}) values ('rebuild')`,
      postgres: `create index ${index} on ${table} using gin (${extension} gin_trgm_ops)`,
    },
    line: new RegExp(`FAULT {2}search: the index ${index}`),
  }
})

describe('check', () => {
  const servers = new Map<Engine, TestServer>()

  beforeAll(async () => {
    for (const engine of engines) servers.set(engine, await portalInUse(engine))
  })
  afterAll(async () => {
    for (const server of servers.values()) await server.close()
  })

  const urlOf = (engine: Engine) => servers.get(engine)!.database
  /** The status and output for each store; a test compares them. */
  const check = async () => {
    const runs = []
    for (const engine of engines) {
      const { status, stdout } = await palmaresHere('check', '--database', urlOf(engine))
      runs.push({ status, stdout })
    }
    return runs
  }
  const expectAlike = (runs: unknown[]) => expect(new Set(runs.map((run) => JSON.stringify(run))).size).toBe(1)

  test('finds no fault, on either engine, in a portal with sign-ins by password and by key', async () => {
    const runs = await check()
    expectAlike(runs)
    expect(runs[0]).toEqual({ status: 0, stdout: expect.not.stringContaining('FAULT') })
  })

  test.each([...references, ...counted, ...orders, ...search])(
    'finds a fault in $name, with the same words on both engines',
    async ({ plant, undo, line }) => {
      for (const engine of engines) await tamper(urlOf(engine), plant[engine])
      try {
        const runs = await check()
        for (const run of runs) expect(run).toEqual({ status: 1, stdout: expect.stringMatching(line) })
        expectAlike(runs)
      } finally {
        for (const engine of engines) await tamper(urlOf(engine), undo[engine])
      }
    },
  )

  test('finds no fault after all of these are reverted', async () => {
    for (const run of await check()) expect(run.stdout).not.toContain('FAULT')
  })

  test('covers every foreign key of the SQLite schema, which declares all of them', () => {
    const file = new DatabaseSync(urlOf('sqlite').slice('sqlite:'.length), { readOnly: true })
    const declared = file
      .prepare(
        `select m.name as child, f."from" as "column", f."table" as parent
         from sqlite_master m, pragma_foreign_key_list(m.name) f where m.type = 'table'`,
      )
      .all()
      .map((row) => ({ ...(row as object) }))
    file.close()
    expect(REFERENCES).toHaveLength(declared.length)
    expect(REFERENCES).toEqual(expect.arrayContaining(declared))
  })
})

/** Serves a portal with an account of each kind, its keys, and sessions opened by password and by key. */
async function portalInUse(engine: Engine): Promise<TestServer> {
  const server = await startServer(portail, { engine })
  await addAccount(server.store, OPERATOR)
  const body = new URLSearchParams({ login: ACCOUNT.login, password: ACCOUNT.password })
  await signIn(() => server.anonymous('/login', { method: 'POST', body }))
  const byKey = { headers: { cookie: `api_key=${server.key}` } }
  await signIn(() => server.anonymous('/rootme/login', byKey))
  const sessions = await server.store.read((db) =>
    db.select<{ id_cle: number | null }>('select id_cle from sessions order by id_cle is null'),
  )
  expect(sessions).toEqual([{ id_cle: 1 }, { id_cle: null }])
  return server
}

/** Retries, because a busy machine sheds load. */
async function signIn(ask: () => Promise<Response>): Promise<void> {
  await vi.waitFor(async () => expect((await ask()).status).toBe(200), PATIENCE)
}

/** Changes a store directly, without checking references. */
async function tamper(url: string, sql: string): Promise<void> {
  if (url.startsWith('postgres')) {
    await runSql(url, `set session_replication_role = replica; ${sql}`)
    return
  }
  const file = new DatabaseSync(url.slice('sqlite:'.length), { timeout: 5_000 })
  try {
    file.exec(`pragma foreign_keys = off; ${sql}`)
  } finally {
    file.close()
  }
}
