import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStore } from '../../src/store/open.js'
import { type DumpLine, engines, exportFrom, makeFolder, makePlace } from '../harness.js'
import { hasOpenssl, OPENSSL } from '../openssl.js'
import { blocks } from '../pages.js'
import { migrationLines, palmares, type Run, type RunOptions, startPalmares } from '../palmares.js'
import { freePort } from '../servers/child.js'
import { runSql } from '../servers/postgres.js'

/** The stop timeout of the systemd unit; a stop takes 9 s at most. */
const SERVICE_MANAGER_PATIENCE_MILLISECONDS = 15_000

/** What `serve` and `demo` share. */
const SERVE = [
  ...['public-url', 'portal-url', 'tls-cert', 'tls-key', 'trust-proxy', 'cors-origin', 'rootme-host', 'rate-limit'],
  ...['address-rate-limit', 'login-rate-limit', 'login-address-rate-limit', 'refuse-get-login', 'max-head-bytes'],
  ...['max-body-bytes', 'max-filter-characters', 'request-timeout-seconds', 'keep-alive-seconds', 'cache-megabytes'],
  'log-level',
]

const PORTAL = [
  { type: 'rubrique', id_rubrique: 1, nom: 'r' },
  { type: 'auteur', id_auteur: 1, nom: 'Élodie', score: 30 },
  { type: 'auteur', id_auteur: 2, nom: 'b', statut: 'visiteur', score: 20 },
  { type: 'auteur', id_auteur: 3, nom: 'c', statut: '5poubelle', score: 10 },
  { type: 'challenge', id_challenge: 1, id_rubrique: 1, titre: 'c', score: 5, auteurs: [1] },
  { type: 'validation', id_auteur: 1, id_challenge: 1 },
  { type: 'environnement_virtuel', id_environnement_virtuel: 1, nom: 'vm' },
]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join('')

let folder: string
const at = (name: string) => join(folder, name)

beforeAll(async () => {
  folder = makeFolder()
  writeFileSync(at('portal.ndjson'), PORTAL)
  writeFileSync(at('empty'), '')
  mkdirSync(at('folder'))
  expect(await run('import', 'portal.ndjson')).toMatchObject({ status: 0 })
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('--help', () => {
  test('the help of each command lists each option and its variable', async () => {
    const commands: [string, string[]][] = [
      ['serve', ['database', 'host', 'port', 'metrics-port', ...SERVE]],
      [
        'import',
        [
          'database',
          'format PALMARES_IMPORT_FORMAT',
          'replace',
          'with-accounts',
          'remove-operators',
          'freeze',
          'scale',
        ],
      ],
      ['export', ['database', 'format PALMARES_EXPORT_FORMAT', 'with-accounts']],
      ['demo', ['database', 'port', ...SERVE]],
      ['mirror', ['database', 'portal-url', 'key-file', 'every', 'authors', 'requests-per-second', 'connections']],
      ['accounts add', ['database', 'id-auteur', 'password-stdin', 'operator']],
      ['accounts list', ['database', 'json']],
      ['accounts passwd', ['database', 'password-stdin']],
      ['accounts disable', ['database']],
      ['accounts remove', ['database', 'remove-operators']],
      ['accounts enable', ['database']],
      ['keys create', ['database', 'name', 'expires', 'scope', 'quiet']],
      ['keys list', ['database', 'json']],
      ['keys revoke', ['database']],
      ['migrate', ['database', 'dry-run', 'hidden-statuts']],
      ['check', ['database', 'repair']],
      ['backup', ['database']],
    ]
    await inTurns(commands, async ([command, options]) => {
      const { status, stdout, stderr } = await run(...command.split(' '), '--help')
      expect([command, status, stderr]).toEqual([command, 0, ''])
      const text = stdout.replace(/\s+/g, ' ')
      expect(text).toMatch(new RegExp(`^Usage: palmares ${command} \\[options\\]`))
      for (const each of options) {
        const [option = '', variable = `PALMARES_${option.replaceAll('-', '_').toUpperCase()}`] = each.split(' ')
        expect(text).toMatch(new RegExp(` --${option} [^-].*?\\(env: ${variable}[,)]`))
      }
    })
  })

  test('the help of palmares lists every command', async () => {
    const { status, stdout } = await run('--help')
    expect(status).toBe(0)
    for (const name of [
      'serve',
      'import',
      'ingest',
      'export',
      'mirror',
      'demo',
      'accounts',
      'keys',
      'migrate',
      'check',
      'backup',
    ]) {
      expect(stdout).toMatch(new RegExp(`^ {2}${name}\\b`, 'm'))
    }
  })

  test('--version prints only the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../..', 'package.json'), 'utf8'))
    expect(await run('--version')).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' })
  })
})

test('a usage error is reported in one line on standard error, with a pointer to the help, and status 2', async () => {
  const wrong: [string[], RegExp, Record<string, string>?][] = [
    [['nothing'], /unknown command 'nothing'/],
    [['serve', '--nope'], /unknown option '--nope'/],
    [['serve', '--port', '65536'], /'--port <number>'.* integer from 0 to 65535/],
    [['serve', '--port'], /'--port <number>' argument missing/],
    [['serve', '--public-url', 'ftp://x/'], /'--public-url <url>'/],
    [['serve', '--rootme-host', 'https://rm.example/'], /'--rootme-host <name>'.* It takes host names such as /],
    [
      ['serve', '--rootme-host', 'a.example,B.Example.:81', '--public-url', 'https://b.example:8443/'],
      /--rootme-host b\.example is the host of --public-url/,
    ],
    [['serve', '--cors-origin', 'https://a.example/path'], /'--cors-origin <list>'/],
    [['serve', '--log-level', 'loud'], /debug, info, warn, error or silent|one of debug, info, warn, error, silent/],
    [['serve', '--tls-cert', 'portal.ndjson'], /--tls-cert and --tls-key go together/],
    ...['foo', 'loopback,', '10.0.0.0/0', '10.0.0.0/33', '::1/129', '10.0.0.0/8/8', '10.0.0.1.5', '010.0.0.1'].map(
      (list): [string[], RegExp] => [['serve', '--trust-proxy', list], /'--trust-proxy <list>'.* It takes loopback, /],
    ),
    [['import'], /missing required argument 'file'/],
    [['import', 'a', 'b'], /too many arguments/],
    [['export', '--database', 'mysql://x'], /sqlite:PATH/],
    [['accounts', 'add', 'x', '--password-stdin'], /required option '--id-auteur <id>'/],
    [['accounts', 'add', 'x', '--id-auteur', '0', '--password-stdin'], /'--id-auteur <id>'/],
    [['accounts', 'add', 'x', '--id-auteur', '1'], /--password-stdin/],
    [['accounts', 'passwd', 'x'], /--password-stdin/],
    [['keys', 'create', 'x', '--expires', '2001-01-01'], /a future date/],
    [['keys', 'create', 'x', '--scope', 'tout'], /lecture, ecriture, export/],
    [['keys', 'create', 'x', '--name', ' '], /a text of 1 to/],
    [['keys', 'revoke', 'abc'], /the id that `keys list` shows/],
    [['serve'], /PALMARES_PORT .*integer from 0 to 65535/, { PALMARES_PORT: 'x' }],
    [['accounts', 'list'], /PALMARES_JSON .*true or false/, { PALMARES_JSON: 'maybe' }],
    [['export'], /PALMARES_DATABASE .*sqlite:PATH/, { PALMARES_DATABASE: 'x' }],
    [['serve'], /PALMARES_TRUST_PROXY .*uniquelocal/, { PALMARES_TRUST_PROXY: 'proxy.example' }],
  ]
  await inTurns(wrong, async ([args, line, env]) => {
    const { status, stdout, stderr } = await palmares(args, { cwd: at('folder'), ...(env ? { env } : {}) })
    expect([args, status, stdout]).toEqual([args, 2, ''])
    const [first, ...rest] = stderr.trimEnd().split('\n')
    expect(first).toMatch(/^error: /)
    expect(first).toMatch(line)
    expect(rest.filter((more) => !/^Try `palmares .*--help`\.$/.test(more))).toEqual([])
  })
  expect(existsSync(at('folder/data'))).toBe(false)
})

test('palmares, accounts and keys without arguments print their help on standard error, with status 2', async () => {
  for (const args of [[], ['accounts'], ['keys']]) {
    expect(await run(...args)).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringMatching(/^Usage: palmares/),
    })
  }
})

test('a failure is reported in one line on standard error, with status 1', async () => {
  writeFileSync(at('garbage.db'), 'this is not a store, but a text of some length '.repeat(100))
  const newer = new DatabaseSync(at('newer.db'))
  newer.exec('create table t (x); pragma application_id = 1347177811; pragma user_version = 99')
  newer.close()
  const other = new DatabaseSync(at('other.db'))
  other.exec('create table t (x)')
  other.close()
  const missing = ['export', 'accounts list', 'accounts passwd x --password-stdin', 'accounts disable x', 'keys list']
  const missingToo = ['accounts enable x', 'keys create x', 'keys revoke 1', 'check', 'backup copy.db']
  const failing: [string[], RegExp][] = [
    ...[...missing, ...missingToo].map((command): [string[], RegExp] => [
      [...command.split(' '), '--database', 'sqlite:none/none.db'],
      /none\/none\.db: there is no store here; /,
    ]),
    [['import', 'nowhere.ndjson'], /nowhere\.ndjson: there is no such file/],
    [['import', 'folder'], /folder: this is a folder, not a file/],
    [['export', '--database', 'sqlite:garbage.db'], /garbage\.db: this file is not a Palmarès store/],
    [['serve', '--database', 'sqlite:garbage.db'], /garbage\.db: this file is not a Palmarès store/],
    [['import', 'portal.ndjson', '--database', 'sqlite:other.db'], /other\.db: this file is not a Palmarès store/],
    [['migrate', '--database', 'sqlite:newer.db'], /newer\.db: the store has schema 99, .*; use a newer palmares/],
    [['export', '--database', 'sqlite:empty'], /empty: the store needs a newer schema; run `palmares migrate`/],
    [['migrate', '--database', 'sqlite:portal.ndjson/x.db'], /cannot make the store/],
    ...['serve', 'export', 'migrate', 'migrate --dry-run'].map((command): [string[], RegExp] => [
      [...command.split(' '), '--database', 'sqlite:folder'],
      /\/folder: this is a folder, not a file; give --database a file in it/,
    ]),
    [['backup', 'portal.ndjson'], /portal\.ndjson: the file exists; give a new name/],
    [['backup', 'nowhere/copy.db'], /nowhere\/copy\.db: cannot write the copy/],
    [['serve', '--host', '203.0.113.1', '--metrics-port', '0'], /203\.0\.113\.1 is not an address of this machine/],
    [['serve', '--tls-cert', 'nowhere.pem', '--tls-key', 'nowhere.pem'], /nowhere\.pem: there is no such file/],
    [['serve', '--tls-cert', 'folder', '--tls-key', 'folder'], /folder: this is a folder, not a file/],
    [['serve', '--tls-cert', 'portal.ndjson', '--tls-key', 'empty'], /portal\.ndjson: .* certificate chain in PEM/],
  ]
  await inTurns(failing, async ([args, line]) => {
    const { status, stdout, stderr } = await run(...args)
    expect([args, status, stdout]).toEqual([args, 1, ''])
    expect(stderr).toMatch(/^error: [^\n]*\n$/)
    expect(stderr).toMatch(line)
  })
  expect(existsSync(at('none'))).toBe(false)
  expect(readFileSync(at('empty')).length).toBe(0)
})

test.skipIf(!hasOpenssl())('an invalid key, or one of another certificate, is reported in one line', async () => {
  const keys = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-keyout', at('key.pem')]
  const args = ['req', '-x509', '-nodes', '-days', '2', ...keys, '-out', at('cert.pem'), '-subj', '/CN=a']
  execFileSync(OPENSSL, args, { stdio: 'ignore' })
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const pem = { type: 'pkcs8', format: 'pem' } as const
  writeFileSync(at('other.pem'), privateKey.export(pem))
  writeFileSync(at('secret.pem'), privateKey.export({ ...pem, cipher: 'aes-256-cbc', passphrase: 'x' }))
  const wrong: [string, RegExp][] = [
    ['other.pem', /^error: other\.pem: this is not the key of cert\.pem \(key values mismatch\)\n$/],
    ['secret.pem', /^error: secret\.pem: this is not a private key in PEM without a passphrase [^\n]*\n$/],
    ['cert.pem', /^error: cert\.pem: this is not a private key in PEM [^\n]*\n$/],
    ['empty', /^error: empty: this is not a private key in PEM [^\n]*\n$/],
  ]
  await inTurns(wrong, async ([key, line]) => {
    const { status, stdout, stderr } = await run('serve', '--tls-cert', 'cert.pem', '--tls-key', key)
    expect([key, status, stdout, stderr]).toEqual([key, 1, '', expect.stringMatching(line)])
  })
})

test('--trust-proxy accepts names of ranges, addresses and ranges', async () => {
  const list =
    'loopback, linklocal,uniquelocal,203.0.113.7,203.0.113.0/24,::1,2001:db8::/32,::ffff:10.0.0.1/128,fe80::1%eth0'
  const server = await startPalmares(['serve', '--metrics-port', '0', '--trust-proxy', list], { cwd: folder })
  expect((await fetch(`${server.url}/auteurs`, { headers: { 'x-forwarded-for': '198.51.100.9' } })).status).toBe(401)
  expect(await server.stop()).toBe(0)
  expect(server.output()).toContain('"address":"198.51.100.9"')
})

describe('import and export', () => {
  test('import of an unreadable file creates no store', async () => {
    for (const file of ['nowhere.ndjson', 'folder']) {
      expect(await run('import', file, '--database', 'sqlite:unmade/unmade.db')).toMatchObject({ status: 1 })
      expect(existsSync(at('unmade'))).toBe(false)
    }
  })

  test('export | import into another store | export returns identical bytes, through pipes', async () => {
    const { stdout } = await run('export')
    expect(stdout.trimEnd().split('\n')).toHaveLength(7)
    const imported = await palmares(['import', '-', '--database', 'sqlite:moved/moved.db'], {
      cwd: folder,
      input: stdout,
    })
    expect(imported.status).toBe(0)
    expect(await run('export', '--database', 'sqlite:moved/moved.db')).toEqual({ status: 0, stdout, stderr: '' })
  })

  test('import reports on standard output what it did, or that nothing changed', async () => {
    const first = await run('import', 'portal.ndjson', '--database', 'sqlite:second.db')
    expect(first.stdout).toMatch(/^7 lines read\n {2}rubrique: 1 added, 0 changed, 0 removed\n {2}auteur: 3 added/)
    expect((await run('import', 'portal.ndjson', '--database', 'sqlite:second.db')).stdout).toBe(
      '7 lines read, nothing changed\n',
    )
  })

  test('a dump with faults is refused, with its faults by line on standard error and nothing on standard output', async () => {
    const input = '{"type":"auteur","id_auteur":9,"nom":"x"}\n{"type":"joueur"}\n{"type":"auteur","id_auteur":8}'
    const { status, stdout, stderr } = await palmares(['import', '-'], { cwd: folder, input })
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(
      /^error: the dump has 2 fault.*nothing was imported\nline 2: type must .*\nline 3: nom is missing\n$/m,
    )
    expect((await run('export')).stdout).not.toContain('"id_auteur":9')
  })

  test('--replace and PALMARES_REPLACE remove records that the dump does not have; false keeps them', async () => {
    const database = ['--database', 'sqlite:replaced.db']
    const one = (env: Record<string, string>) =>
      palmares(['import', '-', ...database], { cwd: folder, env, input: '{"type":"auteur","id_auteur":1,"nom":"a"}' })
    await run('import', 'portal.ndjson', ...database)
    await one({ PALMARES_REPLACE: 'false' })
    expect((await run('export', ...database)).stdout.trimEnd().split('\n')).toHaveLength(7)
    await one({ PALMARES_REPLACE: 'true' })
    expect((await run('export', ...database)).stdout).toBe('{"type":"auteur","id_auteur":1,"nom":"a","score":0}\n')
  })

  const removal = '{"type":"rubrique","id_rubrique":1,"supprime":true}'
  test.each(['', ' \n\n', '\ufeff', removal])(
    'a file without records (%j) with --replace is refused',
    async (input) => {
      await run('import', 'portal.ndjson')
      const before = (await run('export')).stdout
      expect(await palmares(['import', '-', '--replace'], { cwd: folder, input })).toMatchObject({
        ...{ status: 1, stdout: '', stderr: expect.stringContaining('--replace would empty the portal') },
      })
      expect((await run('export')).stdout).toBe(before)
    },
  )

  test('a store created by import is readable by its user only', async () => {
    await run('import', 'portal.ndjson', '--database', 'sqlite:private/private.db')
    expect(statSync(at('private/private.db')).mode & 0o777).toBe(0o600)
    expect(statSync(at('private')).mode & 0o777).toBe(0o700)
  })
})

describe('the environment', () => {
  test('sets every option, and a flag takes precedence', async () => {
    const env = { PALMARES_DATABASE: 'sqlite:none.db' }
    expect(await palmares(['export'], { cwd: folder, env })).toMatchObject({ status: 1 })
    const both = await palmares(['export', '--database', 'sqlite:data/palmares.db'], { cwd: folder, env })
    expect(both).toMatchObject({ status: 0, stdout: (await run('export')).stdout })
  })

  test('PALMARES_JSON is a boolean: true or yes, false or 0; empty means unset', async () => {
    const cases: [string, boolean][] = [
      ...['true', 'YES'].map((text): [string, boolean] => [text, true]),
      ...['false', '0', ''].map((text): [string, boolean] => [text, false]),
    ]
    await inTurns(cases, async ([text, isJson]) => {
      const { stdout } = await palmares(['accounts', 'list'], { cwd: folder, env: { PALMARES_JSON: text } })
      expect([text, stdout.startsWith('[')]).toEqual([text, isJson])
    })
  })
})

describe('migrate', () => {
  test('--dry-run prints what would run and creates nothing; without it a missing store is created, once', async () => {
    const database = ['--database', 'sqlite:fresh/fresh.db']
    expect(await run('migrate', '--dry-run', ...database)).toEqual(done(migrationLines('would run')))
    expect(existsSync(at('fresh'))).toBe(false)
    expect(await run('migrate', ...database)).toEqual(done(migrationLines('ran')))
    expect(await run('migrate', ...database)).toEqual(done('the schema is up to date\n'))
  })

  test('--hidden-statuts changes the ranking of a running server at once, and repeating it changes nothing', async () => {
    const server = await serve()
    const headers = { authorization: `Bearer ${await makeKey()}` }
    const ranked = async () =>
      ((await (await fetch(`${server.url}/classement`, { headers })).json()) as { id_auteur: string }[]).map(
        ({ id_auteur }) => id_auteur,
      )
    expect(await ranked()).toEqual(['1', '2'])
    expect((await run('migrate', '--hidden-statuts', 'Visiteur , 6forum')).stdout).toMatch(/hides 6forum, visiteur\n$/)
    expect(await ranked()).toEqual(['1', '3'])
    expect((await run('migrate', '--hidden-statuts', '6forum,visiteur')).stdout).toMatch(/already\n$/)
    expect((await run('migrate', '--hidden-statuts', '')).stdout).toMatch(/now hides nothing\n$/)
    expect(await ranked()).toEqual(['1', '2', '3'])
    const dryRun = async (list: string) => (await run('migrate', '--dry-run', '--hidden-statuts', list)).stdout
    expect(await dryRun('5poubelle')).toBe('the schema is up to date\nwould hide 5poubelle\n')
    expect(await dryRun('')).toBe('the schema is up to date\nthe ranking hides nothing already\n')
    expect(await ranked()).toEqual(['1', '2', '3'])
    await run('migrate', '--hidden-statuts', '5poubelle')
    expect(await ranked()).toEqual(['1', '2'])
    expect(await server.stop()).toBe(0)
  })
})

describe('migrate --hidden-statuts with another list', () => {
  const database = ['--database', 'sqlite:hidden.db']

  test('--dry-run reports it for a missing store too, and creates nothing', async () => {
    expect(await run('migrate', '--dry-run', '--hidden-statuts', 'Banni', ...database)).toEqual(
      done(`${migrationLines('would run')}would hide banni\n`),
    )
    expect(existsSync(at('hidden.db'))).toBe(false)
  })

  test('changes places, positions and pages of a running server, and those of 5poubelle are back', async () => {
    const statuts = ['', 'banni', '', '5poubelle', 'BANNI', '']
    const scores = [60, 50, 40, 40, 30, 20]
    const input = statuts
      .map((statut, i) => JSON.stringify({ type: 'auteur', id_auteur: i + 1, nom: 'x', statut, score: scores[i] }))
      .join('\n')
    await palmares(['import', '-', ...database], { cwd: folder, input })
    const server = await startPalmares(['serve', '--metrics-port', '0', ...database], { cwd: folder })
    const headers = { authorization: `Bearer ${await makeKey(...database)}` }
    const get = async (path: string) => (await fetch(server.url + path, { headers })).json() as Promise<never>
    const places = async (query = '') =>
      ((await get(`/classement${query}`)) as Ranked[]).map(({ id_auteur, place }) => [Number(id_auteur), place])
    const positions = () =>
      Promise.all(statuts.map(async (_, i) => ((await get(`/auteurs/${i + 1}`)) as Ranked).position))

    expect(await places()).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
      [5, 4],
      [6, 5],
    ])
    expect(await positions()).toEqual([1, 2, 3, 3, 4, 5])
    await run('migrate', '--hidden-statuts', 'banni', ...database)
    expect(await places()).toEqual([
      [1, 1],
      [3, 2],
      [4, 2],
      [6, 4],
    ])
    expect(await positions()).toEqual([1, 2, 2, 2, 4, 4])
    expect(await places('?debut_classement=2&limite=1')).toEqual([[4, 2]])
    expect(await places('?autour_de=6&limite=1')).toEqual([[6, 4]])
    expect(await run('check', ...database)).toMatchObject({ status: 0 })
    expect(await server.stop()).toBe(0)
  })
})

describe('check', () => {
  test('reports no fault in a good store, and its numbers of records', async () => {
    const { status, stdout } = await run('check')
    expect(status).toBe(0)
    expect(stdout).toMatch(/1 category, 1 challenge, 3 players, 1 solve/)
    expect(stdout).not.toContain('FAULT')
  })

  test('finds tampered values, and --repair derives them again without losing a record', async () => {
    const tampered: [string, RegExp][] = [
      ['update auteurs set score = 1 where id_auteur = 1', /FAULT {2}scores and ranking keys: author 1/],
      ['update auteurs set cle_classement = 5 where id_auteur = 2', /FAULT {2}scores.*author 2/],
      ['update challenges set nb_validations = 9', /FAULT {2}counts .*challenge 1/],
      ['update rubriques set nb_challenges = 9', /FAULT {2}counts .*category 1/],
      ["update noeuds set nb = nb + 1 where arbre = 'classement' and niveau = 2", /FAULT {2}places.*classement/],
      ["delete from noeuds where arbre = 'auteurs'", /FAULT {2}places and pages: the order auteurs/],
      [
        "insert into noeuds (arbre, niveau, cle, date, id, nb) values ('validations/7', 0, 1, 0, 1, 1)",
        /FAULT {2}places.*validations\/7/,
      ],
      ['delete from auteurs_recherche where rowid = 1', /FAULT {2}search: the index auteurs_recherche/],
    ]
    await run('backup', 'good.db')
    const before = await exported('good.db')
    await inTurns([...tampered.entries()], async ([i, [sql, fault]]) => {
      const database = ['--database', `sqlite:tampered-${i}.db`]
      copyFileSync(at('good.db'), at(`tampered-${i}.db`))
      tamper(`tampered-${i}.db`, sql)
      const found = await run('check', ...database)
      expect(found).toMatchObject({ status: 1, stdout: expect.stringMatching(fault) })
      expect(found.stderr).toMatch(/^(checking [^\n]*\n)+error: the store has faults; run `palmares check --repair`\n$/)
      expect(await run('check', '--repair', ...database)).toMatchObject({ status: 0 })
      expect(await exported(`tampered-${i}.db`)).toEqual(before)
    })
  })

  test('finds a missing reference, and recommends a backup', async () => {
    await run('import', 'portal.ndjson', '--database', 'sqlite:dangling.db')
    tamper('dangling.db', 'pragma foreign_keys = off; delete from challenges')
    const { status, stdout, stderr } = await run('check', '--database', 'sqlite:dangling.db')
    expect([status, stdout]).toEqual([1, expect.stringMatching(/FAULT {2}file, indexes and references: .*validations/)])
    expect(stderr).toMatch(/^(checking [^\n]*\n)+error: the store has faults; restore a backup[^\n]*\n$/)
  })
})

test('backup copies a live store completely while a server uses it, and the copy is independent', async () => {
  const server = await serve()
  expect(await run('backup', 'copies.db')).toEqual(done('copied to copies.db\n'))
  expect(statSync(at('copies.db')).mode & 0o777).toBe(0o600)
  expect(existsSync(at('copies.db.unfinished'))).toBe(false)
  expect((await run('export', '--database', 'sqlite:copies.db')).stdout).toBe((await run('export')).stdout)
  expect(await run('check', '--database', 'sqlite:copies.db')).toMatchObject({ status: 0 })
  const input = '{"type":"rubrique","id_rubrique":99,"nom":"only"}'
  const replaced = await palmares(['import', '-', '--database', 'sqlite:copies.db', '--replace'], {
    cwd: folder,
    input,
  })
  expect(replaced).toMatchObject({ status: 0 })
  expect((await run('export')).stdout).not.toBe('')
  expect(await server.stop()).toBe(0)
})

test('a port in use is reported in one line, with status 1, and the server that uses it keeps running', async () => {
  const server = await serve()
  const { port } = new URL(server.url)
  for (const workers of ['1', '2']) {
    const first = ['--database', 'sqlite:not-served.db', '--metrics-port', '0', '--port', port, '--workers', workers]
    expect(await run('serve', ...first)).toMatchObject({ status: 1, stderr: expect.stringContaining('is in use') })
    expect([workers, existsSync(at('not-served.db'))]).toEqual([workers, false])
  }
  const second = await run('serve', '--metrics-port', '0', '--log-level', 'silent', '--port', new URL(server.url).port)
  expect(second).toMatchObject({ status: 1, stdout: '' })
  expect(second.stderr).toMatch(/^error: port \d+ is in use on 127\.0\.0\.1; give another with --port\n$/)
  expect((await fetch(`${server.url}/auteurs`)).status).toBe(401)
  expect(await server.stop()).toBe(0)
})

test("a stop ends with 0 before the service manager's timeout, even with open requests and another process holding the lock", async () => {
  const database = ['--database', 'sqlite:stopped.db']
  await run('import', 'portal.ndjson', ...database)
  await makeKey(...database)
  const server = await startPalmares(['serve', '--metrics-port', '0', ...database], { cwd: folder })
  const other = new DatabaseSync(at('stopped.db'))
  other.exec('begin immediate')
  const body = JSON.stringify({ login: 'alice', password: 'correct horse battery' })
  const clients = Array.from({ length: 8 }, () =>
    connect(Number(new URL(server.url).port), '127.0.0.1').on('error', () => undefined),
  )
  for (const client of clients) {
    client.write(
      'POST /login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n' +
        `Content-Length: ${body.length}\r\n\r\n`,
    )
    await once(client, 'data')
  }
  const stopped = Promise.race([server.stop(), sleep(SERVICE_MANAGER_PATIENCE_MILLISECONDS, 'killed', { ref: false })])
  // Each session waits 5 s for the lock, so one of them still waits when the stop runs out of time.
  for (const client of clients) {
    client.write(body)
    await sleep(1_000)
  }
  expect(await stopped).toBe(0)
  expect(server.output()).toContain('stopped with requests still running')
  for (const client of clients) client.destroy()
  other.close()
})

test('demo shows an account once, its lines can be pasted, its links lead to itself, and a second start keeps everything', async () => {
  const options = { cwd: folder, env: { PALMARES_DATABASE: "sqlite:a demo's.db" } }
  const first = await startPalmares(['demo'], options)
  const login = async (url: string, password: string) => {
    const body = JSON.stringify({ login: 'demo', password })
    return (await fetch(`${url}/login`, { method: 'POST', headers: { 'content-type': 'application/json' }, body }))
      .status
  }
  const password = /password +(\S+)/.exec(first.stdout())![1] as string
  expect(await login(first.url, password)).toBe(200)
  const [ranking, , author, ...others] = pasted(first.stdout())
  expect(others).toEqual([])
  const [shown] = blocks('README.md', 'sh').filter((block) => block.includes('palm_')) as [string]
  const asReadme = first
    .stdout()
    .replaceAll(first.url, 'http://127.0.0.1:8080')
    .replaceAll(/palm_\w+/g, 'palm_…')
  expect(shown.trim().split('\n')).toEqual(pasted(asReadme))
  const top = execFileSync('sh', ['-c', ranking as string], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  expect([top]).toEqual(blocks('README.md', 'json').map((block) => block.trim()))
  const key = /palm_[0-9A-Za-z]{56}/.exec(author as string)![0]
  const headers = { authorization: `Bearer ${key}` }
  const { url_challenge } = (await (await fetch(`${first.url}/challenges/1`, { headers })).json()) as Record<
    string,
    string
  >
  expect(url_challenge).toBe(`${first.url}/p/challenges/1`)
  expect((await fetch(url_challenge as string)).headers.get('content-type')).toContain('text/html')
  expect(await first.stop()).toBe(0)

  const second = await startPalmares(['demo'], options)
  expect(second.stdout()).not.toContain('palm_')
  expect(await (await fetch(`${second.url}/classement?limite=3`, { headers })).text()).toBe(top)
  const [passwd, create, ...none] = pasted(second.stdout())
  expect(none).toEqual([])
  const sh = (line?: string) => execFileSync('sh', ['-c', line as string], { cwd: folder, encoding: 'utf8' })
  const [message, changed] = sh(passwd).trim().split('\n')
  expect(message).toBe('password of demo changed')
  expect([await login(second.url, password), await login(second.url, changed as string)]).toEqual([401, 200])
  const newKey = { authorization: `Bearer ${sh(create).trim()}` }
  expect((await fetch(`${second.url}/compte`, { headers: newKey })).status).toBe(200)
  expect(await second.stop()).toBe(0)
  expect(existsSync(at('data/demo.db'))).toBe(false)
})

/** The lines of an output that are meant for pasting. */
function pasted(output: string): string[] {
  return [...output.matchAll(/^ {4}(\S.*)$/gm)].map(([, line]) => line as string)
}

test('demo on a port in use says how to choose another, and creates nothing', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => taken.once('listening', resolve))
  const { port } = taken.address() as { port: number }
  expect(await run('demo', '--port', String(port), '--database', 'sqlite:not-made.db')).toEqual({
    status: 1,
    stdout: '',
    stderr: `error: port ${port} is in use on 127.0.0.1; give another with --port (\`npm start -- --port 8081\`)\n`,
  })
  expect(existsSync(at('not-made.db'))).toBe(false)
  taken.close()
})

test('a metrics port in use is a warning with its reason; the server runs, and metrics start once the port is free', async () => {
  const port = await freePort()
  const taken = createServer().listen(port, '127.0.0.1')
  await new Promise((resolve) => taken.once('listening', resolve))
  const server = await startPalmares(['serve', '--metrics-port', String(port)], { cwd: folder })
  expect((await fetch(`${server.url}/health/ready`)).status).toBe(200)
  await expect.poll(server.output).toContain(`no metrics: port ${port} is in use on 127.0.0.1; give another with`)
  await new Promise((resolve) => taken.close(resolve))
  await expect
    .poll(() =>
      fetch(`http://127.0.0.1:${port}/metrics`).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(200)
  expect(await server.stop()).toBe(0)
})

describe.runIf(engines.includes('postgres'))('on PostgreSQL', () => {
  let place: Awaited<ReturnType<typeof makePlace>>
  let database: string[]
  beforeAll(async () => {
    place = await makePlace('postgres')
    database = ['--database', place.url]
  })
  afterAll(() => place.remove())

  test('commands that need a store report that there is none; migrate creates it, once', async () => {
    for (const args of [['export'], ['check'], ['keys', 'list']]) {
      const { status, stdout, stderr } = await run(...args, ...database)
      expect([status, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(/^error: postgres:\/\/[^\n]*: there is no store here; [^\n]*\n$/)
      expect(stderr).not.toContain(new URL(place.url).password)
    }
    expect(await run('migrate', '--dry-run', ...database)).toEqual(done(migrationLines('would run')))
    expect(await run('migrate', ...database)).toEqual(done(migrationLines('ran')))
    expect(await run('migrate', ...database)).toEqual(done('the schema is up to date\n'))
  })

  test('a portal moves from SQLite to PostgreSQL with its accounts, byte for byte, and check finds no fault', async () => {
    const ofSqlite = ['--database', 'sqlite:to-move.db']
    await run('import', 'portal.ndjson', ...ofSqlite)
    const key = await makeKey(...ofSqlite)
    const { stdout } = await run('export', '--with-accounts', ...ofSqlite)
    expect(stdout).toContain('"type":"compte","login":"alice"')
    const moved = ['import', '-', '--with-accounts', ...database]
    expect(await palmares(moved, { cwd: folder, input: stdout })).toMatchObject({ status: 0 })
    expect((await palmares(moved, { cwd: folder, input: stdout })).stdout).toBe('8 lines read, nothing changed\n')
    expect(await run('export', '--with-accounts', ...database)).toEqual(done(stdout))
    expect(await run('check', ...database)).toMatchObject({ status: 0, stdout: expect.stringMatching(/3 players/) })
    const server = await startPalmares(['serve', '--metrics-port', '0', ...database], { cwd: folder })
    const response = await fetch(`${server.url}/classement`, { headers: { authorization: `Bearer ${key}` } })
    expect(((await response.json()) as Ranked[]).map(({ id_auteur }) => id_auteur)).toEqual(['1', '2'])
    expect(await server.stop()).toBe(0)
  })

  test('accounts, keys and hidden statuts can be created, listed and removed, and a running server applies the changes', async () => {
    const server = await startPalmares(['serve', '--metrics-port', '0', ...database], { cwd: folder })
    const add = ['accounts', 'add', 'bob', '--id-auteur', '2', '--password-stdin', ...database]
    expect(await palmares(add, { cwd: folder, input: 'correct horse battery' })).toMatchObject({ status: 0 })
    const key = (await run('keys', 'create', 'bob', '--quiet', ...database)).stdout.trim()
    const ask = async () => {
      const answer = await fetch(`${server.url}/classement`, { headers: { authorization: `Bearer ${key}` } })
      return answer.ok ? ((await answer.json()) as Ranked[]).map(({ id_auteur }) => id_auteur) : answer.status
    }
    await expect.poll(ask).toEqual(['1', '2'])
    await run('migrate', '--hidden-statuts', 'visiteur', ...database)
    await expect.poll(ask).toEqual(['1', '3'])
    await run('migrate', '--hidden-statuts', '5poubelle', ...database)
    const keys = JSON.parse((await run('keys', 'list', '--json', ...database)).stdout) as {
      id: number
      login: string
    }[]
    const own = keys.find(({ login }) => login === 'bob') as { id: number }
    expect(await run('keys', 'revoke', String(own.id), ...database)).toMatchObject({ status: 0 })
    await expect.poll(ask).toBe(401)
    expect(await run('accounts', 'disable', 'bob', ...database)).toMatchObject({ status: 0 })
    expect((await run('accounts', 'list', ...database)).stdout).toMatch(/bob/)
    expect(await server.stop()).toBe(0)
  })

  test('check finds tampered values and missing references; --repair derives values again', async () => {
    const before = await run('export', ...database)
    for (const [sql, fault] of [
      ['update auteurs set score = 1 where id_auteur = 1', /FAULT {2}scores and ranking keys: author 1/],
      ['update challenges set nb_validations = 9', /FAULT {2}counts .*challenge 1/],
      ["update noeuds set nb = nb + 1 where arbre = 'classement' and niveau = 2", /FAULT {2}places.*classement/],
      ['drop index auteurs_recherche', /FAULT {2}search: the index auteurs_recherche/],
    ] as [string, RegExp][]) {
      await runSql(place.url, sql)
      expect(await run('check', ...database)).toMatchObject({ status: 1, stdout: expect.stringMatching(fault) })
      expect(await run('check', '--repair', ...database)).toMatchObject({ status: 0 })
    }
    expect(await run('export', ...database)).toEqual(before)
    await runSql(place.url, 'delete from challenges_auteurs; delete from challenges')
    const { status, stdout } = await run('check', ...database)
    expect([status, stdout]).toEqual([1, expect.stringMatching(/FAULT {2}file, indexes and references: .*validations/)])
  })

  test('backup refers to pg_dump', async () => {
    expect(await run('backup', 'copy-of-postgres', ...database)).toMatchObject({
      ...{ status: 1, stdout: '', stderr: expect.stringMatching(/^error: [^\n]*pg_dump[^\n]*\n$/) },
    })
    expect(existsSync(at('copy-of-postgres'))).toBe(false)
  })
})

function run(...args: string[]): Promise<Run> {
  return palmares(args, { cwd: folder })
}

function serve() {
  return startPalmares(['serve', '--metrics-port', '0'], { cwd: folder })
}

async function makeKey(...database: string[]): Promise<string> {
  const options: RunOptions = { cwd: folder, input: 'correct horse battery' }
  await palmares(['accounts', 'add', 'alice', '--id-auteur', '1', '--password-stdin', ...database], options)
  return (await run('keys', 'create', 'alice', '--quiet', ...database)).stdout.trim()
}

interface Ranked {
  id_auteur: string
  place: number
  position: number
}

function done(stdout: string): Run {
  return { status: 0, stdout, stderr: '' }
}

async function exported(name: string): Promise<DumpLine[]> {
  const store = await openStore(`sqlite:${at(name)}`, { create: false })
  const lines = await exportFrom(store)
  await store.close()
  return lines
}

/** Changes a store directly, outside of the program. */
function tamper(name: string, sql: string): void {
  const db = new DatabaseSync(at(name))
  db.exec(sql)
  db.close()
}

/** Runs four at a time, because each is a process. */
async function inTurns<T>(cases: readonly T[], work: (each: T) => Promise<void>): Promise<void> {
  for (let i = 0; i < cases.length; i += 4) await Promise.all(cases.slice(i, i + 4).map(work))
}
