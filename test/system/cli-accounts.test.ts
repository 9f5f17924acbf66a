import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/open.js'
import { makeFolder } from '../harness.js'
import { palmares, type Run, type Running, startPalmares } from '../palmares.js'

let folder: string
let server: Running

/** One store and one running server. The tests run in order, as an operator would act. */
beforeAll(async () => {
  folder = makeFolder()
  const dump = [1, 2].map((id) => `${JSON.stringify({ type: 'auteur', id_auteur: id, nom: `a${id}` })}\n`).join('')
  writeFileSync(join(folder, 'portal.ndjson'), dump)
  await run('import', 'portal.ndjson')
  server = await startPalmares(['serve', '--metrics-port', '0', '--log-level', 'info'], { cwd: folder })
})

afterAll(async () => {
  expect(await server.stop()).toBe(0)
  rmSync(folder, { recursive: true, force: true })
})

describe('accounts', () => {
  test('add creates an account that a running server accepts at once, and reports it on standard output', async () => {
    expect(await login('alice', PASSWORD)).toBe(401)
    expect(await add('alice', 1)).toEqual(done('account alice added for author 1\n'))
    expect(await login('alice', PASSWORD)).toBe(200)
    expect(await add('Zoé root', 2, '--operator')).toEqual(done('account Zoé root added for author 2\n'))
  })

  test('add removes the newline after a password, and keeps its spaces', async () => {
    await runWith('  eight spaces  \r\n', 'accounts', 'add', 'spaces', '--id-auteur', '1', '--password-stdin')
    expect(await login('spaces', '  eight spaces  ')).toBe(200)
    expect(await login('spaces', 'eight spaces')).toBe(401)
  })

  test.each<[string, string[], string, RegExp]>([
    [
      'a duplicate login',
      ['alice', '--id-auteur', '1'],
      'correct horse',
      /^error: the account alice already exists\n$/,
    ],
    ['an unknown author', ['new', '--id-auteur', '77'], 'correct horse', /^error: there is no author 77;/],
    ['a short password', ['new', '--id-auteur', '1'], 'seven77', /^error: a password has at least 8 characters\n$/],
    ['a long password', ['new', '--id-auteur', '1'], 'x'.repeat(1_025), /^error: a password has at most 1024 bytes\n$/],
    [
      'a password of two lines',
      ['new', '--id-auteur', '1'],
      'correct\nhorse',
      /^error: a password is one line, without/,
    ],
    ['a password with ESC', ['new', '--id-auteur', '1'], 'correct \u001b[A', /^error: a password is one line, without/],
    ['a login with spaces at its ends', [' new', '--id-auteur', '1'], 'correct horse', /^error: a login has 1 to/],
    ['a login of two lines', ['a\nb', '--id-auteur', '1'], 'correct horse', /^error: a login has 1 to/],
  ])('add refuses %s in one line, with status 1', async (_, args, password, line) => {
    const { status, stdout, stderr } = await runWith(password, 'accounts', 'add', ...args, '--password-stdin')
    expect([status, stdout, stderr.trimEnd().split('\n').length]).toEqual([1, '', 1])
    expect(stderr).toMatch(line)
  })

  test.each([
    ['login', ' new', 'correct horse'],
    ['password', 'new', 'seven77'],
  ])('add creates no store for an invalid %s', async (_, name, password) => {
    const database = ['--database', 'sqlite:unmade/unmade.db']
    const made = await runWith(
      password,
      ...['accounts', 'add', name, '--id-auteur', '1', '--password-stdin', ...database],
    )
    expect(made.status).toBe(1)
    expect(existsSync(join(folder, 'unmade'))).toBe(false)
  })

  test('list shows every account; --json is an array with the names of the API', async () => {
    const { stdout } = await run('accounts', 'list')
    for (const word of ['login', 'alice', 'Zoé root', 'yes']) expect(stdout).toContain(word)
    const creation = expect.stringMatching(INSTANT)
    expect(JSON.parse((await run('accounts', 'list', '--json')).stdout)).toEqual([
      { login: 'Zoé root', id_auteur: 2, operateur: true, desactive: false, creation },
      { login: 'alice', id_auteur: 1, operateur: false, desactive: false, creation },
      { login: 'spaces', id_auteur: 1, operateur: false, desactive: false, creation },
    ])
  })

  test('list never shows a hash', async () => {
    for (const args of [[], ['--json']]) {
      expect((await run('accounts', 'list', ...args)).stdout).not.toMatch(/argon2|\$m=/)
    }
  })

  test('passwd ends the sessions and keys of the account for the next request', async () => {
    const cookie = await sessionOf('alice', PASSWORD)
    const key = await quietKey('alice')
    expect([await get({ cookie }), await get(bearer(key))]).toEqual([200, 200])
    expect(await runWith('another horse', 'accounts', 'passwd', 'alice', '--password-stdin')).toEqual(
      done('password of alice changed\n'),
    )
    expect([await get({ cookie }), await get(bearer(key))]).toEqual([401, 401])
    expect([await login('alice', PASSWORD), await login('alice', 'another horse')]).toEqual([401, 200])
    await runWith(PASSWORD, 'accounts', 'passwd', 'alice', '--password-stdin')
  })

  test('disable ends them too and refuses logins; enable accepts new logins, and what ended stays ended', async () => {
    const cookie = await sessionOf('alice', PASSWORD)
    const key = await quietKey('alice')
    expect(await run('accounts', 'disable', 'alice')).toEqual(done('account alice disabled\n'))
    expect([await get({ cookie }), await get(bearer(key)), await login('alice', PASSWORD)]).toEqual([401, 401, 401])
    expect(JSON.parse((await run('accounts', 'list', '--json')).stdout)[1]).toMatchObject({ desactive: true })
    expect(await run('keys', 'create', 'alice')).toEqual(failed('the account alice is disabled'))
    expect(await run('accounts', 'enable', 'alice')).toEqual(done('account alice enabled\n'))
    expect([await get({ cookie }), await get(bearer(key)), await login('alice', PASSWORD)]).toEqual([401, 401, 200])
  })

  test('passwd, disable, enable and remove refuse an unknown login', async () => {
    for (const args of [
      ['passwd', 'nobody', '--password-stdin'],
      ['disable', 'nobody'],
      ['enable', 'nobody'],
      ['remove', 'nobody'],
    ]) {
      expect(await runWith(PASSWORD, 'accounts', ...args)).toEqual(failed('there is no account nobody'))
    }
  })
})

describe('keys', () => {
  test('create --quiet prints only the key, which is accepted at once', async () => {
    const made = await run('keys', 'create', 'alice', '--quiet')
    expect(made).toEqual({ status: 0, stdout: expect.stringMatching(/^palm_[0-9A-Za-z]{56}\n$/), stderr: '' })
    expect(await get(bearer(made.stdout.trim()))).toBe(200)
    expect(await get({ cookie: `api_key=${made.stdout.trim()}` })).toBe(200)
  })

  test('create prints only the key on standard output, and its description on standard error', async () => {
    const made = await run('keys', 'create', 'alice', '--name', 'mon bot', '--expires', '2090-01-31')
    expect(made.stdout).toMatch(/^palm_[0-9A-Za-z]{56}\n$/)
    expect(made.stderr).toMatch(/^Created key \d+ for alice, valid until 2090-01-31T00:00:00Z\. .*\n$/)
  })

  test('create grants scopes to operators only', async () => {
    expect(await run('keys', 'create', 'alice', '--scope', 'export')).toMatchObject({ status: 1, stdout: '' })
    expect(await run('keys', 'create', 'Zoé root', '--scope', 'ecriture,export')).toMatchObject({ status: 0 })
    const [cle] = JSON.parse((await run('keys', 'list', 'Zoé root', '--json')).stdout)
    expect(cle.portee).toEqual(['lecture', 'ecriture', 'export'])
  })

  test('list shows live keys, of all accounts or of one; --json has the fields of the API, then the login', async () => {
    const all = JSON.parse((await run('keys', 'list', '--json')).stdout)
    const own = JSON.parse((await run('keys', 'list', 'alice', '--json')).stdout)
    expect(all.map(({ id }: { id: number }) => id)).toEqual(
      all.map(({ id }: { id: number }) => id).sort((a: number, b: number) => a - b),
    )
    expect(own).toEqual(all.filter((cle: { login: string }) => cle.login === 'alice'))
    expect(Object.keys(own[0])).toEqual([
      ...['id', 'nom', 'prefixe', 'portee', 'creation', 'expiration', 'derniere_utilisation', 'login'],
    ])
    const bot = own.find(({ nom }: { nom: string }) => nom === 'mon bot')
    expect(bot).toMatchObject({ portee: ['lecture'], expiration: '2090-01-31T00:00:00Z', derniere_utilisation: null })
    expect(bot.prefixe).toMatch(/^palm_[0-9A-Za-z]{6}$/)
    expect((await run('keys', 'list')).stdout).toContain('mon bot')
    expect(await run('keys', 'list', 'nobody', '--json')).toEqual(failed('there is no account nobody'))
  })

  test('commands that end no credential move no version, so no server drops its cache of accounts', async () => {
    expect(await add('idle', 1)).toMatchObject({ status: 0 })
    expect(await run('accounts', 'disable', 'idle')).toMatchObject({ status: 0 })
    const store = await openStore(`sqlite:${join(folder, 'data', 'palmares.db')}`, { create: false })
    const before = (await store.versions()).comptes
    expect(await add('newcomer', 1)).toMatchObject({ status: 0 })
    expect(await run('keys', 'create', 'newcomer', '--quiet')).toMatchObject({ status: 0 })
    expect(await run('keys', 'revoke', '999999')).toEqual(failed('there is no valid key 999999'))
    expect(await run('accounts', 'disable', 'idle')).toMatchObject({ status: 0 })
    expect(await runWith(PASSWORD, 'accounts', 'passwd', 'idle', '--password-stdin')).toMatchObject({ status: 0 })
    expect((await store.versions()).comptes).toBe(before)
    expect(await run('accounts', 'disable', 'newcomer')).toMatchObject({ status: 0 })
    expect((await store.versions()).comptes).toBeGreaterThan(before)
    await store.close()
  })

  test('revoke takes an id from the list, and the next request with the key is refused', async () => {
    const key = await quietKey('alice')
    const { id } = JSON.parse((await run('keys', 'list', 'alice', '--json')).stdout).at(-1)
    expect(await get(bearer(key))).toBe(200)
    expect(await run('keys', 'revoke', String(id))).toEqual(done(`key ${id} revoked\n`))
    expect(await get(bearer(key))).toBe(401)
    expect(await run('keys', 'revoke', String(id))).toEqual(failed(`there is no valid key ${id}`))
    expect(await run('keys', 'revoke', '999999')).toEqual(failed('there is no valid key 999999'))
  })

  test('create refuses an unknown account', async () => {
    expect(await run('keys', 'create', 'nobody')).toEqual(failed('there is no account nobody'))
  })

  test('the key and the password still work after export --with-accounts | import --with-accounts into another store', async () => {
    const key = await quietKey('Zoé root')
    const dump = (await run('export', '--with-accounts')).stdout
    const other = { cwd: folder, env: { PALMARES_DATABASE: 'sqlite:other.db', PALMARES_WITH_ACCOUNTS: 'true' } }
    expect(await palmares(['import', '-'], { ...other, input: dump })).toMatchObject({ status: 0 })
    expect((await palmares(['export'], other)).stdout).toBe(dump)
    const second = await startPalmares(['serve', '--metrics-port', '0'], other)
    expect(await get(bearer(key), second.url)).toBe(200)
    expect(await login('Zoé root', PASSWORD, second.url)).toBe(200)
    expect(await second.stop()).toBe(0)
  })
})

test('the server never logs a password or a key', () => {
  expect(server.output()).not.toMatch(/correct horse|another horse|palm_[0-9A-Za-z]{20}/)
})

const PASSWORD = 'correct horse battery'
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

function run(...args: string[]): Promise<Run> {
  return palmares(args, { cwd: folder })
}

function runWith(input: string, ...args: string[]): Promise<Run> {
  return palmares(args, { cwd: folder, input })
}

function add(name: string, idAuteur: number, ...more: string[]): Promise<Run> {
  return runWith(`${PASSWORD}\n`, 'accounts', 'add', name, '--id-auteur', `${idAuteur}`, '--password-stdin', ...more)
}

function done(stdout: string): Run {
  return { status: 0, stdout, stderr: '' }
}

function failed(message: string): Run {
  return { status: 1, stdout: '', stderr: `error: ${message}\n` }
}

async function quietKey(name: string): Promise<string> {
  return (await run('keys', 'create', name, '--quiet')).stdout.trim()
}

function bearer(key: string): Record<string, string> {
  return { authorization: `Bearer ${key}` }
}

async function get(headers: Record<string, string>, url = server.url): Promise<number> {
  return (await fetch(`${url}/auteurs`, { headers })).status
}

async function login(name: string, password: string, url = server.url): Promise<number> {
  return (await post(name, password, url)).status
}

async function sessionOf(name: string, password: string): Promise<string> {
  return (await post(name, password, server.url)).headers.get('set-cookie')!.split(';')[0]!
}

function post(name: string, password: string, url: string): Promise<Response> {
  const body = JSON.stringify({ login: name, password })
  return fetch(`${url}/login`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
}
