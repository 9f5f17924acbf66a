import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { listComptes } from '../../src/auth/comptes-queries.js'
import { ingest } from '../../src/portal/live/ingest.js'
import {
  ACCOUNT,
  addAccount,
  addKey,
  type DumpLine,
  engines,
  exportFrom,
  importInto,
  type MadeStore,
  makeFolder,
  makeStore,
  startServer,
  type TestServer,
  waitForChanges,
} from '../harness.js'
import { palmaresHere } from '../here.js'
import { mirrorInto } from '../mirroring.js'
import { palmares } from '../palmares.js'

const PORTAL: DumpLine[] = [1, 2, 3, 4].map((id) => ({ type: 'auteur', id_auteur: id, nom: `a${id}`, score: 0 }))
const PASSWORD = 'correct horse battery'
const removal = (id_auteur: number) => ({ type: 'auteur', id_auteur, supprime: true })

let folder: string
beforeAll(() => {
  folder = makeFolder()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Alice has author 1 and is no operator; bob has author 2, zoé author 3, and both are operators. */
describe.each(engines)('on %s', (engine) => {
  let server: TestServer
  const operator = { password: PASSWORD, operator: true }
  beforeEach(async () => {
    server = await startServer(PORTAL, { engine })
    await addAccount(server.store, { login: 'bob', idAuteur: 2, ...operator })
    await addAccount(server.store, { login: 'zoé', idAuteur: 3, ...operator })
  })
  afterEach(() => server.close())

  const run = (...args: string[]) => palmaresHere(...args, '--database', server.database)
  const logins = async () => (await server.store.read(listComptes)).map(({ login }) => login)
  const importing = (lines: DumpLine[], ...options: string[]) => {
    const file = join(folder, 'dump.ndjson')
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    return run('import', file, ...options)
  }
  const statusOf = async (headers: Record<string, string>) => {
    await waitForChanges(server)
    return (await server.anonymous('/auteurs', { headers })).status
  }

  test('accounts remove ends the sessions and keys of an account for the next request, and keeps its author', async () => {
    const login = () =>
      server.anonymous('/login', {
        ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
        body: JSON.stringify({ login: ACCOUNT.login, password: ACCOUNT.password }),
      })
    const cookie = (await login()).headers.get('set-cookie')!.split(';')[0]!
    const authorization = `Bearer ${server.key}`
    expect([await statusOf({ cookie }), await statusOf({ authorization })]).toEqual([200, 200])
    expect(await run('accounts', 'remove', 'alice')).toMatchObject({ status: 0, stdout: 'account alice removed\n' })
    expect([await statusOf({ cookie }), await statusOf({ authorization })]).toEqual([401, 401])
    expect((await login()).status).toBe(401)
    expect(await exportFrom(server.store)).toEqual(PORTAL)
    const left = await server.store.read(async (db) => [
      ...(await db.select('select id_compte from sessions')),
      ...(await db.select('select id_compte from cles_api')),
    ])
    expect([left, await logins()]).toEqual([[], ['bob', 'zoé']])
    expect(await run('accounts', 'remove', 'alice')).toMatchObject({
      ...{ status: 1, stdout: '', stderr: 'error: there is no account alice\n' },
    })
  })

  test('accounts remove keeps the last enabled operator, except with --remove-operators', async () => {
    await run('accounts', 'disable', 'zoé')
    const refused = await run('accounts', 'remove', 'bob')
    expect([refused.status, refused.stderr]).toEqual([
      1,
      'error: bob is the last enabled operator; add another one first, or give --remove-operators\n',
    ])
    expect(await logins()).toEqual(['alice', 'bob', 'zoé'])
    expect((await run('accounts', 'remove', 'zoé')).status).toBe(0)
    expect((await run('accounts', 'remove', 'bob', '--remove-operators')).status).toBe(0)
    expect(await logins()).toEqual(['alice'])
  })

  test('accounts disable keeps the last enabled operator too', async () => {
    await run('accounts', 'disable', 'zoé')
    const refused = await run('accounts', 'disable', 'bob')
    expect([refused.status, refused.stderr]).toEqual([
      1,
      'error: bob is the last enabled operator; add another one first, or give --remove-operators\n',
    ])
    expect((await run('accounts', 'disable', 'bob', '--remove-operators')).status).toBe(0)
  })

  test('of two concurrent removals, one keeps the last operator', async () => {
    const remove = (login: string) => ['accounts', 'remove', login, '--database', server.database]
    const runs = await Promise.all(['bob', 'zoé'].map((login) => palmares(remove(login), { cwd: folder })))
    expect(runs.map(({ status }) => status).sort()).toEqual([0, 1])
    expect(await logins()).toHaveLength(2)
  })

  test('a live line cannot remove an author with an account, until accounts remove has run', async () => {
    const line = () => ingest(server.store, [{ number: 1, text: JSON.stringify(removal(1)) }])
    expect(await line()).toEqual([
      {
        ...{ ligne: 1, resultat: 'refusee' },
        raison: 'the auteur has the account alice; remove it first, with palmares accounts remove',
      },
    ])
    await run('accounts', 'remove', 'alice')
    expect(await line()).toEqual([{ ligne: 1, resultat: 'appliquee' }])
    expect(await exportFrom(server.store)).toEqual(PORTAL.slice(1))
  })

  test.each<[string, DumpLine[], string[]]>([
    ['of an author with supprime', [removal(1)], []],
    ['of an author whom --replace removes', PORTAL.slice(1), ['--replace']],
  ])('an import that removes the account %s reports it', async (_, lines, options) => {
    const key = await addKey(server.store, 'alice')
    const { status, stderr } = await importing(lines, ...options)
    expect([status, stderr]).toEqual([
      0,
      expect.stringContaining('warning: the account alice is removed, with its sessions and keys\n'),
    ])
    expect([await statusOf({ authorization: `Bearer ${key}` }), await logins()]).toEqual([401, ['bob', 'zoé']])
  })

  test('an import that would leave no enabled operator changes nothing, except with --remove-operators', async () => {
    await run('accounts', 'disable', 'zoé')
    const before = await exportFrom(server.store, { withAccounts: true })
    const versions = await server.store.versions()
    const comptes = before.filter(({ type }) => type === 'compte')
    const [alice, bob] = comptes as [DumpLine, DumpLine]
    const attempts: [DumpLine[], string[]][] = [
      [[removal(2)], []],
      [PORTAL.filter(({ id_auteur }) => id_auteur !== 2), ['--replace']],
      [[{ type: 'compte', login: 'bob', supprime: true }], ['--with-accounts']],
      [
        [...PORTAL, alice],
        ['--with-accounts', '--replace'],
      ],
      [[{ ...bob, operateur: false }], ['--with-accounts']],
      [[{ ...bob, desactive: true }], ['--with-accounts']],
    ]
    for (const [lines, options] of attempts) {
      const { status, stdout, stderr } = await importing(lines, ...options)
      expect([status, stdout]).toEqual([1, ''])
      expect(stderr).toContain(
        'error: the dump has 1 fault, nothing was imported\nno enabled operator would be left of bob; give --remove-operators to import anyway',
      )
      expect(await exportFrom(server.store, { withAccounts: true })).toEqual(before)
    }
    expect(await server.store.versions()).toEqual(versions)
    expect(await importing([removal(2)], '--remove-operators')).toMatchObject({
      ...{ status: 0, stderr: expect.stringContaining('the account bob is removed') },
    })
    expect(await logins()).toEqual(['alice', 'zoé'])
    // No operator is left.
    expect(await importing([removal(3)])).toMatchObject({ status: 0 })
  })

  test('an account that the import moves to another author survives the removal of its first one', async () => {
    const key = await addKey(server.store, 'bob')
    const bob = (await exportFrom(server.store, { withAccounts: true })).find(({ login }) => login === 'bob')!
    const { status, stdout, stderr } = await importing([removal(2), { ...bob, id_auteur: 4 }], '--with-accounts')
    expect([status, stdout]).toEqual([0, expect.stringContaining('compte: 0 added, 1 changed, 0 removed')])
    expect(stderr).not.toContain('warning')
    expect([await statusOf({ authorization: `Bearer ${key}` }), await logins()]).toEqual([200, ['alice', 'bob', 'zoé']])
  })

  describe('a mirror', () => {
    let copy: MadeStore
    beforeEach(async () => {
      copy = await makeStore(engine)
      await mirrorInto(copy.store, server.url, { key: server.key })
      await addAccount(copy.store, { login: 'root', idAuteur: 4, ...operator })
    })
    afterEach(() => copy.close())
    const auteurs = async () => (await exportFrom(copy.store)).map(({ id_auteur }) => id_auteur)
    const pass = async (settings: { authors?: number[] } = {}) => {
      const warnings: string[] = []
      await mirrorInto(copy.store, server.url, { key: server.key, warnings, ...settings })
      return warnings
    }

    test('keeps an author with an account in its store, in every pass, until the account is removed', async () => {
      await importInto(server.store, [removal(3), removal(4)])
      for (let round = 0; round < 2; round++) {
        expect(await pass()).toEqual([
          '/auteurs/4: the portal no longer has this author; kept because account root uses this author; to remove the account: palmares accounts remove root',
        ])
        expect(await auteurs()).toEqual([1, 2, 4])
        expect((await copy.store.read(listComptes)).map(({ login }) => login)).toEqual(['root'])
      }
      const remove = ['accounts', 'remove', 'root', '--remove-operators', '--database', copy.url]
      expect(await palmaresHere(...remove)).toMatchObject({ status: 0 })
      expect([await pass(), await auteurs()]).toEqual([[], [1, 2]])
    })

    test('a mirror of some authors only keeps such an author too', async () => {
      expect(await pass({ authors: [1] })).toEqual([
        '--authors does not name author 4; kept because account root uses this author; to remove the account: palmares accounts remove root',
      ])
      expect(await auteurs()).toEqual([1, 4])
    })
  })
})
