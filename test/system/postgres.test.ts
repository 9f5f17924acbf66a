import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import { checkPortal } from '../../src/portal/check.js'
import { migrations } from '../../src/store/migrations/index.js'
import { migrateStore, openStore } from '../../src/store/open.js'
import { portail } from '../fixtures.js'
import { ACCOUNT, exportFrom, importInto, makeFolder } from '../harness.js'
import { fill } from '../nodes.js'
import { migrationLines, palmares, startPalmares } from '../palmares.js'
import { freePort } from '../servers/child.js'
import { createDatabase, dropDatabase, findBinaries, runSql, startPrimary, startReplica } from '../servers/postgres.js'
import { startProxy } from '../servers/proxy.js'

const postgresUrl = inject('postgresUrl') as string

describe.skipIf(!postgresUrl)('a store on PostgreSQL', () => {
  const made: string[] = []
  const folder = makeFolder()
  const run = (...args: string[]) => palmares(args, { cwd: folder })
  const makeDatabase = async () => {
    const url = await createDatabase(postgresUrl)
    made.push(url)
    return url
  }

  afterEach(async () => {
    for (const url of made.splice(0)) await dropDatabase(url)
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  describe('creation and migration', () => {
    test('migrations run once, even if many nodes start at the same time', async () => {
      const url = await makeDatabase()
      const runs = await Promise.all(Array.from({ length: 8 }, () => migrateStore(url, { withoutTrigrams: false })))
      expect(runs.flat()).toEqual(migrations)
      const rows = await runSql<{ version: number }>(url, 'select version from palmares_schema order by version')
      expect(rows.map(({ version }) => version)).toEqual(migrations.map(({ version }) => version))
    })

    test('migrate reports what it ran, or with --dry-run would run without changing anything', async () => {
      const url = await makeDatabase()
      expect((await run('migrate', '--dry-run', '--database', url)).stdout).toBe(migrationLines('would run'))
      expect(await tablesOf(url)).toEqual([])
      expect((await run('migrate', '--database', url)).stdout).toBe(migrationLines('ran'))
      expect((await run('migrate', '--database', url)).stdout).toBe('the schema is up to date\n')
      expect((await run('migrate', '--dry-run', '--database', url)).stdout).toBe('the schema is up to date\n')
    })

    test('a migration is complete or has no effect', async () => {
      const url = await makeDatabase()
      // The last statements of the migration fail, because their table exists.
      await runSql(url, 'create view noeuds as select 1 as x')
      await expectRefused(['migrate', '--database', url], /has a table noeuds that is not of Palmarès/)
      await runSql(url, 'drop view noeuds; create sequence cles_api_compte')
      const { status } = await run('migrate', '--database', url)
      expect(status).toBe(1)
      expect(await tablesOf(url)).toEqual([])
    })

    test('a store may have its own schema, next to another portal in the same database', async () => {
      const url = await makeDatabase()
      await runSql(url, 'create schema un; create schema deux; create extension pg_trgm')
      const of = (schema: string) => `${url}?options=${encodeURIComponent(`-c search_path=${schema},public`)}`
      const [un, deux] = [await openStore(of('un'), { create: true }), await openStore(of('deux'), { create: true })]
      await importInto(un, portail)
      expect((await exportFrom(un)).length).toBe(portail.length)
      expect(await exportFrom(deux)).toEqual([])
      await un.close()
      await deux.close()
    })
  })

  describe('the command line', () => {
    test('export | import moves a portal from SQLite to PostgreSQL and back, with accounts and keys', async () => {
      const sqlite = `sqlite:${join(folder, 'moved.db')}`
      const postgres = await makeDatabase()
      const store = await openStore(sqlite, { create: true })
      const key = await fill(store, portail)
      await store.close()
      const move = async (from: string, to: string) => {
        const { stdout, status } = await run('export', '--with-accounts', '--database', from)
        expect(status).toBe(0)
        const imported = await palmares(['import', '-', '--with-accounts', '--database', to], {
          cwd: folder,
          input: stdout,
        })
        expect([imported.status, imported.stderr]).toEqual([0, expect.not.stringContaining('error')])
        return stdout
      }
      const there = await move(sqlite, postgres)
      const back = await move(postgres, `sqlite:${join(folder, 'back.db')}`)
      expect(back).toBe(there)
      expect(there).toContain('"type":"compte"')

      const server = await startPalmares(['serve', '--metrics-port', '0', '--database', postgres], { cwd: folder })
      const answer = await fetch(`${server.url}/auteurs/1`, { headers: { cookie: `api_key=${key}` } })
      expect(answer.status).toBe(200)
      const body = new URLSearchParams({ login: ACCOUNT.login, password: ACCOUNT.password })
      expect((await fetch(`${server.url}/login`, { method: 'POST', body })).status).toBe(200)
      // The id of a new key is not in use.
      expect((await run('keys', 'create', ACCOUNT.login, '--quiet', '--database', postgres)).status).toBe(0)
      expect(await server.stop()).toBe(0)
    })

    test('every command works on PostgreSQL', async () => {
      const url = await makeDatabase()
      const at = ['--database', url]
      const input = portail.map((line) => `${JSON.stringify(line)}\n`).join('')
      expect((await palmares(['import', '-', ...at], { cwd: folder, input })).status).toBe(0)
      const add = await palmares(['accounts', 'add', 'zoe', '--id-auteur', '5', '--password-stdin', ...at], {
        cwd: folder,
        input: 'a long password',
      })
      expect(add.status).toBe(0)
      const key = (await run('keys', 'create', 'zoe', '--quiet', ...at)).stdout.trim()
      expect(key).toMatch(/^palm_/)
      expect(JSON.parse((await run('keys', 'list', '--json', ...at)).stdout)).toHaveLength(1)
      expect((await run('check', ...at)).stdout).toMatch(/ok {5}search/)
      expect((await run('check', '--repair', ...at)).status).toBe(0)
      expect((await run('migrate', '--hidden-statuts', '1comite', ...at)).status).toBe(0)
      await expectRefused(['backup', 'copy.db', ...at], /pg_dump/)
      expect((await run('keys', 'revoke', '1', ...at)).status).toBe(0)
      expect((await run('accounts', 'disable', 'zoe', ...at)).status).toBe(0)
    })
  })

  describe('a store that cannot be used is refused in one line, with status 1 and without changes:', () => {
    const user = `u_${randomBytes(6).toString('hex')}`
    const password = `secret-${randomBytes(6).toString('hex')}`
    const as = (url: string, secret = password) => {
      const changed = new URL(url)
      changed.username = user
      changed.password = secret
      return changed.href
    }

    beforeAll(() => runSql(postgresUrl, `create user ${user} password '${password}'`).then(() => undefined))
    afterAll(() => runSql(postgresUrl, `drop user if exists ${user}`).then(() => undefined))

    test('a wrong address', async () => {
      const wrong: [string, RegExp][] = [
        [`postgres:${user}:${password}`, /takes postgres:\/\/USER:PASSWORD@HOST:PORT\/DATABASE/],
        [`postgres://${user}:${password}@127.0.0.1:99999/x`, /takes postgres:/],
        [`postgres://${user}:${password}@127.0.0.1`, /names no database/],
        [`postgres://${user}:${password}%zz@127.0.0.1/x`, /write %25/],
        [`postgres://${user}:${password}@127.0.0.1/x?pool=3`, /does not take the parameter "pool"/],
        [`postgres://${user}:${password}@127.0.0.1/x?sslmode=maybe`, /takes as sslmode one of/],
        [`postgres://${user}:${password}@127.0.0.1:${await freePort()}/x`, /nothing listens there/],
        [`postgres://${user}:${password}@nowhere.invalid/x`, /there is no such host/],
        [`postgres://${user}:${password}@/x?host=/nowhere`, /there is no such socket/],
        // A password that is not encoded must not be parsed as a host, path or parameter, and so be shown.
        [`postgres://${user}:8/${password}@127.0.0.1/x`, /an @ behind the host/],
        [`postgres://${user}:a@b/${password}@127.0.0.1/x`, /an @ behind the host/],
        [`postgres://${user}:a@/${password}@127.0.0.1/x`, /an @ behind the host/],
        [`postgres://${user}:a@b/x?${password}@127.0.0.1/x`, /an @ behind the host/],
        [`postgres://${user}:a#${password}@127.0.0.1/x`, /an @ behind the host/],
        [`postgres://127.0.0.1/x/${password}`, /a database with a slash/],
      ]
      for (const [url, line] of wrong) await expectRefused(['serve', '--port', '0', '--database', url], line)
    })

    test('an address of no engine, with status 2 and without repeating it', async () => {
      const { status, stderr } = await run('serve', '--database', `mysql://${user}:${password}@x/y`)
      expect([status, stderr]).toEqual([2, expect.stringMatching(/^error: --database takes sqlite:PATH.*\n$/)])
      expect(stderr).not.toContain(password)
    })

    test('a wrong password, an unknown database', async () => {
      const url = await makeDatabase()
      await expectRefused(['migrate', '--database', as(url, `${password}x`)], /refuses the user/)
      const nowhere = new URL(as(url))
      nowhere.pathname = '/nowhere'
      await expectRefused(['migrate', '--database', nowhere.href], /there is no database "nowhere"; make it/)
    })

    test('a user who may not create the extension, and may then continue without it', async () => {
      const url = await makeDatabase()
      await runSql(url, `create schema authorization ${user}`)
      await expectRefused(['serve', '--port', '0', '--database', as(url)], /may not create the extension pg_trgm/)
      expect(await tablesOf(url)).toEqual([])
      expect((await run('migrate', '--without-pg-trgm', '--database', as(url))).stdout).toMatch(/ran migration 1/)
      const server = await startPalmares(['serve', '--metrics-port', '0', '--database', as(url)], { cwd: folder })
      expect(server.output()).toContain('no search indexes')
      await server.stop()
      const store = await openStore(as(url), { create: true })
      const key = await fill(store, portail)
      expect(key).toMatch(/^palm_/)
      expect((await checkPortal(store)).findings.flatMap(({ faults }) => faults)).toEqual([])
      await store.close()
      // Once an administrator has created the extension, the same command creates the indexes.
      await runSql(url, 'create extension pg_trgm')
      expect((await run('migrate', '--database', as(url))).status).toBe(0)
      expect((await runSql(url, "select 1 from pg_indexes where indexname = 'auteurs_recherche'")).length).toBe(1)
      await runSql(url, `drop owned by ${user} cascade`)
    })

    test('a user who may not create tables', async () => {
      const url = await makeDatabase()
      await runSql(url, 'create extension pg_trgm')
      await expectRefused(['migrate', '--database', as(url)], /may not do this; make it the owner/)
    })

    test('a database with other tables, and one in another encoding', async () => {
      const url = await makeDatabase()
      await runSql(url, 'create table auteurs (x int)')
      await expectRefused(['migrate', '--database', url], /a table auteurs that is not of Palmarès/)
      const latin = new URL(url)
      latin.pathname = `/latin_${randomBytes(6).toString('hex')}`
      await runSql(
        postgresUrl,
        `create database ${latin.pathname.slice(1)} encoding 'LATIN1' locale 'C' template template0`,
      )
      made.push(latin.href)
      await expectRefused(['migrate', '--database', latin.href], /the encoding LATIN1/)
    })

    test('a missing store, for a command that does not create one', async () => {
      const url = await makeDatabase()
      await expectRefused(['export', '--database', url], /there is no store here/)
      expect(await tablesOf(url)).toEqual([])
    })

    test('a newer or incomplete schema', async () => {
      const url = await makeDatabase()
      await run('migrate', '--database', url)
      await runSql(url, "insert into palmares_schema (version, nom) values (99, 'to come')")
      await expectRefused(['serve', '--port', '0', '--database', url], /schema 99, this program knows up to/)
      await runSql(url, 'delete from palmares_schema where version = 99; drop table noeuds')
      await expectRefused(['serve', '--port', '0', '--database', url], /incomplete: the table noeuds is missing/)
      await expectRefused(['export', '--database', url], /the schema is incomplete/)
    })

    test('a store without any one of its tables', async () => {
      const url = await makeDatabase()
      await migrateStore(url, { withoutTrigrams: false })
      const tables = (await tablesOf(url)).filter((table) => table !== 'palmares_schema')
      expect(tables).toContain('miroir_ressources')
      for (const table of tables) {
        await runSql(url, `alter table ${table} rename to ailleurs`)
        await expect(openStore(url, { create: false })).rejects.toThrow(`incomplete: the table ${table} is missing`)
        await runSql(url, `alter table ailleurs rename to ${table}`)
      }
      await (await openStore(url, { create: false })).close()
    })

    test('a server that is too old', async () => {
      const url = await makeDatabase()
      const { port } = new URL(url)
      const proxy = await startProxy(Number(port))
      const [row] = await runSql<{ v: string }>(url, "select current_setting('server_version_num') as v")
      proxy.replace(row!.v, `12${row!.v.slice(2)}`)
      await expectRefused(
        ['migrate', '--database', url.replace(`:${port}/`, `:${proxy.port}/`)],
        /PostgreSQL 12; use 15/,
      )
      proxy.close()
    })

    test('an address with options that the server refuses', async () => {
      const url = await makeDatabase()
      const options = encodeURIComponent('-c foo=bar')
      await expectRefused(['migrate', '--database', `${url}?options=${options}`], /refuses the connection: .*"foo"/)
    })

    test('a server that is not PostgreSQL, or never answers', async () => {
      const server = createServer((socket) => socket.on('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')))
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const { port } = server.address() as { port: number }
      await expectRefused(
        ['migrate', '--database', `postgres://${user}:${password}@127.0.0.1:${port}/x`],
        /cannot be reached/,
      )
      await new Promise((resolve) => server.close(resolve))
    })

    test('a server without TLS, if TLS is required', async () => {
      const url = await makeDatabase()
      await expectRefused(['migrate', '--database', `${as(url)}?sslmode=require`], /TLS/)
    })

    async function expectRefused(args: string[], line: RegExp): Promise<void> {
      const { status, stdout, stderr } = await run(...args)
      expect([args.slice(0, -1), status, stdout]).toEqual([args.slice(0, -1), 1, ''])
      expect(stderr).toMatch(/^error: [^\n]*\n$/)
      expect(stderr).toMatch(line)
      expect(stderr).not.toContain(password)
      expect(stderr).not.toContain(new URL(postgresUrl).password)
    }
  })

  async function expectRefused(args: string[], line: RegExp): Promise<void> {
    const { status, stderr } = await run(...args)
    expect([status, stderr]).toEqual([1, expect.stringMatching(line)])
  }
})

describe.skipIf(!findBinaries())('a replica', () => {
  test('is refused as the primary, and a primary or foreign replica as a replica, in one line with status 1', async () => {
    const folder = makeFolder()
    const primary = await startPrimary()
    const stranger = await startPrimary()
    const database = await createDatabase(primary)
    const name = new URL(database).pathname.slice(1)
    const replica = await startReplica(primary)
    await stranger.sql(`create database ${name}`)
    await migrateStore(stranger.url(name), { withoutTrigrams: false })
    const strange = await startReplica(stranger)
    const serve = ['serve', '--port', '0', '--metrics-port', '0', '--database']
    const refused = async (args: string[], line: RegExp) => {
      const { status, stderr } = await palmares(args, { cwd: folder })
      expect([status, stderr]).toEqual([1, expect.stringMatching(/^error: [^\n]*\n$/)])
      expect(stderr).toMatch(line)
      for (const { password } of [primary, stranger]) expect(stderr).not.toContain(password)
    }
    try {
      await refused([...serve, replica.url(name)], /this is a replica; give --database the primary/)
      await refused(['migrate', '--database', replica.url(name)], /this is a replica/)
      await palmares(['migrate', '--database', database], { cwd: folder })
      await refused([...serve, database, '--replica', database], /this is no streaming replica/)
      await refused([...serve, database, '--replica', strange.url(name)], /a replica of another portal/)
      await refused([...serve, database, '--replica', `${replica.url(name)}x`], /there is no database/)
    } finally {
      for (const server of [strange, replica, stranger, primary]) await server.destroy()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

describe.skipIf(!postgresUrl)('a password', () => {
  test('the password of a database is in no log, error or process title, including those of workers', async () => {
    const folder = makeFolder()
    const url = await createDatabase(postgresUrl)
    const { password } = new URL(url)
    const args = ['serve', '--metrics-port', '0', '--workers', '2', '--log-level', 'debug']
    const server = await startPalmares(args, { cwd: folder, env: { PALMARES_DATABASE: url } })
    expect((await fetch(`${server.url}/health/ready`)).status).toBe(200)
    const titles = readFileSync(`/proc/${server.pid}/cmdline`, 'utf8')
    await runSql(
      url,
      'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    )
    await expect.poll(() => server.output()).toContain('no longer listening')
    await server.stop()
    expect([server.output().includes(password), titles.includes(password)]).toEqual([false, false])
    await dropDatabase(url)
    rmSync(folder, { recursive: true, force: true })
  })
})

async function tablesOf(url: string): Promise<string[]> {
  const rows = await runSql<{ nom: string }>(
    url,
    "select relname as nom from pg_class join pg_namespace n on n.oid = relnamespace where nspname not in ('pg_catalog', 'information_schema', 'pg_toast') and relkind = 'r'",
  )
  return rows.map(({ nom }) => nom)
}
