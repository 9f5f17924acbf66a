import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { openStore } from '../../src/store/open.js'
import { portail } from '../fixtures.js'
import { ACCOUNT, makeFolder } from '../harness.js'
import { palmaresHere } from '../here.js'
import { fill } from '../nodes.js'
import { startPalmares } from '../palmares.js'
import { PATIENCE } from '../patience.js'
import { findPgBouncer, type Pooler, startPgBouncer } from '../servers/pgbouncer.js'
import { startPooler } from '../servers/pooler.js'
import { createDatabase, dropDatabase } from '../servers/postgres.js'

const postgresUrl = inject('postgresUrl')

if (postgresUrl && !findPgBouncer())
  process.stderr.write('\n!! The tests with PgBouncer are skipped: it is not on this machine.\n\n')

/** Every command that opens a store. */
const COMMANDS = [
  ['serve', '--port', '0', '--metrics-port', '0'],
  ['serve', '--port', '0', '--metrics-port', '0', '--workers', '2'],
  ['migrate'],
  ['migrate', '--dry-run'],
  ['check'],
  ['export'],
  ['accounts', 'list'],
  ['accounts', 'disable', ACCOUNT.login],
  ['keys', 'create', ACCOUNT.login],
  ['keys', 'list'],
  ['keys', 'revoke', '1'],
]
const REFUSAL = {
  status: 1,
  stdout: '',
  stderr: expect.stringMatching(/^error: postgres:[^\n]*transaction mode[^\n]*session mode[^\n]*\n$/),
}

describe.skipIf(!postgresUrl)('a pooler in transaction mode', () => {
  let database: string
  let key: string

  beforeAll(async () => {
    database = await createDatabase(postgresUrl as string, inject('postgresTemplate'))
    const store = await openStore(database, { create: false })
    key = await fill(store, portail)
    await store.close()
  })
  afterAll(() => dropDatabase(database))

  const refused = async (pooler: Pooler, commands: readonly string[][] = COMMANDS) => {
    try {
      for (const command of commands) {
        const run = await palmaresHere(...command, '--database', pooler.through(database))
        expect({ command, ...run }).toEqual({ command, ...REFUSAL })
        expect(run.stderr).not.toContain(new URL(database).password)
      }
    } finally {
      await pooler.close()
    }
  }

  for (const order of ['last', 'turns'] as const) {
    test.each([1, 2, 3, 4])(
      `a pooler that serves each transaction with one of %i connections (${order}) is refused`,
      async (n) => {
        await refused(await startPooler(database, n, order), [['keys', 'list']])
      },
    )
  }

  describe.skipIf(!findPgBouncer())('PgBouncer', () => {
    test('is refused by every command that opens a store, in one line that mentions session mode', async () => {
      await refused(await startPgBouncer(database, 'transaction'))
    })

    test('is refused with round robin, with a single server connection, and in statement mode', async () => {
      const list = [['keys', 'list']]
      await refused(
        await startPgBouncer(database, 'transaction', { server_round_robin: '1', min_pool_size: '3' }),
        list,
      )
      await refused(await startPgBouncer(database, 'transaction', { default_pool_size: '1' }), list)
      await refused(await startPgBouncer(database, 'statement'), list)
    })

    test('is refused as a replica', async () => {
      const pooler = await startPgBouncer(database, 'transaction')
      try {
        const replica = ['serve', '--port', '0', '--metrics-port', '0', '--replica', pooler.through(database)]
        expect(await palmaresHere(...replica, '--database', database)).toEqual(REFUSAL)
      } finally {
        await pooler.close()
      }
    })

    test('serves in session mode, and every command works', async () => {
      const folder = makeFolder()
      const pooler = await startPgBouncer(database, 'session')
      const at = ['--database', pooler.through(database)]
      try {
        const made = await palmaresHere('keys', 'create', ACCOUNT.login, '--quiet', ...at)
        expect(made).toMatchObject({ status: 0, stderr: '' })
        expect((await palmaresHere('check', ...at)).status).toBe(0)
        const server = await startPalmares(['serve', '--metrics-port', '0', ...at], { cwd: folder })
        for (const cookie of [`api_key=${key}`, `api_key=${made.stdout.trim()}`])
          await vi.waitFor(async () => {
            // Retries, because a busy machine sheds load.
            expect((await fetch(`${server.url}/rubriques`, { headers: { cookie } })).status).toBe(200)
          }, PATIENCE)
        expect(await server.stop()).toBe(0)
      } finally {
        await pooler.close()
        rmSync(folder, { recursive: true, force: true })
      }
    })
  })
})
