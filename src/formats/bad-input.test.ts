import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  award,
  challenge,
  contest,
  ctfdZip,
  entriesOf,
  SECRETS,
  solve,
  submission,
  type Tables,
  user,
} from '../../test/ctfd.js'
import {
  type DumpLine,
  engines,
  exportFrom,
  importInto,
  type MadeStore,
  makeFolder,
  makeStore,
} from '../../test/harness.js'
import { palmaresHere } from '../../test/here.js'
import { type ZipEntry, zip } from '../../test/zip.js'

const BOMB = Buffer.alloc(200_000_000, ' ')
const GIBIBYTE = 1024 ** 3

let folder: string
let made: MadeStore
let before: DumpLine[]

beforeAll(() => {
  folder = makeFolder()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Imports a file that must be refused and returns its faults. The store must be unchanged. */
async function faultsOf(format: string, bytes: Buffer | string, ...options: string[]): Promise<string[]> {
  const file = join(folder, 'bad')
  writeFileSync(file, bytes)
  const { status, stdout, stderr } = await palmaresHere(
    'import',
    '--format',
    format,
    '--database',
    made.url,
    ...options,
    file,
  )
  const lines = stderr.split('\n').filter((line) => line !== '')
  // The lines before it report progress.
  const reported = lines.slice(lines.findIndex((line) => line.startsWith('error: ')))
  expect([status, stdout]).toEqual([1, ''])
  expect(reported[0]).toMatch(/^error: the (file|dump) has \d+ faults?, nothing was imported$/)
  for (const secret of Object.values(SECRETS)) expect(stderr).not.toContain(secret)
  expect(await exportFrom(made.store)).toEqual(before)
  return reported.slice(1)
}

describe.each(engines)('a refused file leaves %s unchanged:', (engine) => {
  beforeAll(async () => {
    made = await makeStore(engine)
    await importInto(made.store, [{ type: 'auteur', id_auteur: 1, nom: 'there before', score: 3 }])
    before = await exportFrom(made.store)
  })
  afterAll(() => made.close())

  const archive = (entries: readonly ZipEntry[]) => faultsOf('ctfd', zip([...entriesOf(contest()), ...entries]))
  const tables = (override: Tables, ...options: string[]) => faultsOf('ctfd', ctfdZip(contest(override)), ...options)

  test.each<[string, ZipEntry[], RegExp]>([
    ['a name that leaves the archive', [{ name: '../evil', data: 'x' }], /^the archive is refused: .*\.\.\/evil$/],
    ['an absolute name', [{ name: '/etc/evil', data: 'x' }], /^the archive is refused: absolute path: \/etc\/evil$/],
    ['a drive', [{ name: 'C:/evil', data: 'x' }], /^the archive is refused: absolute path/],
    ['a backslash', [{ name: '..\\evil', data: 'x' }], /^the archive is refused: invalid characters/],
    ['NUL in a name', [{ name: 'a\0b', data: 'x' }], /^the archive is refused: a\\u0000b has NUL in its name$/],
    [
      'a duplicate name',
      [{ name: 'db/users.json', data: 'x' }],
      /^the archive is refused: db\/users\.json is there twice$/,
    ],
    [
      'a link',
      [{ name: 'l', data: '/etc/passwd', mode: 0o120777 }],
      /^the archive is refused: l is a link or a device/,
    ],
    ['an encrypted entry', [{ name: 'e', data: 'x', flags: 1, declaredBytes: 1 }], /^the archive is refused: /],
    ['a long name', [{ name: 'n'.repeat(1_001), data: '' }], /^the archive has a name of more than 1000 bytes$/],
    [
      'more than 4 GiB in all',
      Array.from({ length: 5 }, (_, i) => ({ name: `u${i}`, data: 'x', method: 8, declaredBytes: GIBIBYTE })),
      /^the archive declares more than 4294967296 bytes$/,
    ],
  ])('an archive with %s', async (_, entries, fault) => {
    expect(await archive(entries)).toEqual([expect.stringMatching(fault)])
  })

  test('an archive with more than 100,000 entries', async () => {
    const entries = Array.from({ length: 100_001 }, (_, index) => ({ name: `u${index}`, data: '' }))
    expect(await faultsOf('ctfd', zip(entries))).toEqual(['the archive has more than 100000 entries'])
  })

  test.each<[string, Partial<ZipEntry>, RegExp]>([
    [
      'with more bytes than it declares',
      { isDeflated: true, declaredBytes: 9 },
      /^db\/users\.json cannot be read: too many bytes/,
    ],
    [
      'with fewer bytes than it declares',
      { isDeflated: true, declaredBytes: 9_999 },
      /^db\/users\.json cannot be read: not enough/,
    ],
    [
      'larger than a table may be',
      { isDeflated: true, declaredBytes: GIBIBYTE + 1 },
      /^db\/users\.json is larger than/,
    ],
    ['with a wrong CRC-32', { crc: 1 }, /^db\/users\.json is damaged: its CRC-32 is wrong$/],
    [
      'compressed by another method',
      { method: 12 },
      /^db\/users\.json is compressed in a way that is not known \(method 12\)$/,
    ],
    ['whose compressed bytes are invalid', { method: 8 }, /^db\/users\.json cannot be read: /],
  ])('a table %s', async (_, wrong, fault) => {
    const entries = entriesOf(contest()).map((entry) =>
      entry.name === 'db/users.json' ? { ...entry, ...wrong } : entry,
    )
    expect(await faultsOf('ctfd', zip(entries))).toEqual([expect.stringMatching(fault)])
  })

  test('a zip bomb, which declares few bytes and holds 200 MB, is read only as far as it declares', async () => {
    const entries = entriesOf(contest()).filter(({ name }) => name !== 'db/users.json')
    const bomb = { name: 'db/users.json', data: BOMB, isDeflated: true, declaredBytes: 1_000 }
    const archive = zip([...entries, bomb])
    expect(await faultsOf('ctfd', archive)).toEqual([
      expect.stringMatching(/^db\/users\.json cannot be read: too many bytes/),
    ])
  })

  test.each(['[', '{"":'])('a table that nests a few bytes very deeply: %j', async (level) => {
    const users = `{"count":1,"results":[{"id":1,"name":"u","hidden":0,"banned":0,"x":${level.repeat(1_000_000)}`
    const entries = entriesOf(contest()).filter(({ name }) => name !== 'db/users.json')
    const archive = zip([...entries, { name: 'db/users.json', data: users, isDeflated: true }])
    expect(await faultsOf('ctfd', archive)).toEqual([
      expect.stringMatching(/^db\/users\.json is nested deeper than 64 levels, after byte \d+$/),
    ])
  })

  test('an archive truncated anywhere', async () => {
    const whole = ctfdZip(contest())
    for (const part of [0.1, 0.5, 0.9, 0.999]) {
      expect(await faultsOf('ctfd', whole.subarray(0, whole.length * part))).toEqual([
        expect.stringMatching(/^the file is not a zip archive that can be read, or it was cut short/),
      ])
    }
    expect(await faultsOf('ctfd', whole.subarray(100))).toEqual([expect.stringMatching(/^the (file|archive) /)])
  })

  test('an archive without an export in it', async () => {
    expect(await faultsOf('ctfd', zip([{ name: 'readme.txt', data: 'x' }]))).toEqual([
      'the archive has no db/config.json, so it is no CTFd export',
    ])
    expect(await faultsOf('ctfd', zip([]))).toEqual(['the archive has no db/config.json, so it is no CTFd export'])
  })

  test.each<[string, Tables, string[]]>([
    ['missing', { solves: undefined, awards: undefined }, ['db/solves.json is missing', 'db/awards.json is missing']],
    ['of accounts that is missing', { users: undefined }, ['db/users.json is missing']],
    [
      'of dates that is missing',
      { submissions: undefined },
      ['db/submissions.json is missing; the dates of 6 solve(s) are in it'],
    ],
    [
      'that is truncated',
      { solves: '{"count":2,"results":[{"id":1,' },
      ['db/solves.json ends in the middle; it was cut short'],
    ],
    ['that is not JSON', { solves: '{"count":2,"results":[{"id":x' }, ['db/solves.json is not JSON, after byte 27']],
    ['of the wrong shape', { solves: '[{"id":1}]' }, ['db/solves.json must be an object with count and results']],
    ['that is a single value', { solves: '12' }, ['db/solves.json must be an object with count and results']],
    ['whose results are not a list', { solves: '{"results":{"a":{}}}' }, ['db/solves.json: results must be a list']],
    ['with text after its end', { solves: '{"count":0,"results":[]}}' }, ['db/solves.json is not JSON, after byte 23']],
    [
      'with fewer results than its count',
      { awards: '{"count":2,"results":[{"user_id":1,"value":1}]}' },
      ['db/awards.json: count is not the number of results, which is 1; it may have been cut short'],
    ],
    [
      'in UTF-16',
      { users: '\ufeff\0{\0' },
      [expect.stringMatching(/^db\/users\.json is (not JSON|in UTF-16)/)] as never,
    ],
    [
      'whose results are not objects',
      { awards: '{"results":[1,null,[]]}' },
      [`${[1, 2, 3].map((n) => `db/awards.json: result ${n}`).join(', ')}: must be an object`],
    ],
  ])('a table %s', async (_, override, faults) => {
    expect(await tables(override)).toEqual(faults)
  })

  test('a table that is not UTF-8', async () => {
    const entries = entriesOf(contest()).map((entry) =>
      entry.name === 'db/users.json'
        ? { ...entry, data: Buffer.from('{"count":1,"results":[{"id":1,"name":"\xe9lo"}]}', 'latin1') }
        : entry,
    )
    expect(await faultsOf('ctfd', zip(entries))).toEqual([
      expect.stringMatching(/^db\/users\.json is not UTF-8, after byte \d+$/),
    ])
  })

  test('a record longer than the limit', async () => {
    const long = `{"count":1,"results":[{"id":1,"name":"${'x'.repeat(9_000_000)}"}]}`
    expect(await tables({ users: long })).toEqual(['db/users.json: what follows result 0 is longer than 8388608 bytes'])
  })

  test('references to missing records, each with its table, its record and the missing id', async () => {
    expect(await tables({ solves: [solve(11, 1, 1), solve(12, 1, 99), solve(13, 98, 1)] })).toEqual([
      'db/solves.json: result 2 (id 12): challenge_id names 99, which db/challenges.json does not have',
      'db/solves.json: result 3 (id 13): user_id names 98, which db/users.json does not have',
    ])
    expect(await tables({ awards: [award(1, 97, 5, '2026-01-31T18:00:00')] })).toEqual([
      'db/awards.json: result 1 (id 1): user_id names 97, which db/users.json does not have',
    ])
    expect(await tables({ users: [user(1, { bracket_id: 9 })], brackets: [{ id: 1, name: 'x' }], solves: [] })).toEqual(
      ['db/users.json: result 1 (id 1): bracket_id names 9, which db/brackets.json does not have'],
    )
    expect(await tables({ solves: [solve(77, 1, 1)] })).toEqual([
      'db/solves.json: id 77: is not in db/submissions.json',
    ])
  })

  test.each<[string, Tables, string]>([
    ['a duplicate id', { users: [user(1), user(1)] }, 'db/users.json: result 2 (id 1): id is there twice'],
    [
      'an invalid id',
      { users: [user(1), { ...user(1), id: 0 }] },
      'db/users.json: result 2 (id 0): id must be an integer',
    ],
    ['a name with NUL', { users: [user(1, { name: 'a\0b' })] }, 'name must not contain NUL'],
    [
      'half of a surrogate pair',
      { challenges: [challenge(1, { description: '\ud83d' })] },
      'description must not contain half of',
    ],
    ['a name that is not a text', { users: [user(1, { name: 7 })] }, 'name must be a text, not a number'],
    [
      'a name that is too long',
      { users: [user(1, { name: 'x'.repeat(1_001) })] },
      'name must have at most 1000 characters',
    ],
    ['a value with a fraction', { challenges: [challenge(1, { value: '12.5' })] }, 'value must be a whole number'],
    ['a value that is not a number', { challenges: [challenge(1, { value: 'x' })] }, 'value must be a number'],
    [
      'a value past the limit',
      { challenges: [challenge(1, { value: 1e13 })] },
      'value must lie within 1000000000000 of 0',
    ],
    ['no value at all', { challenges: [challenge(9, { value: null })] }, 'value is missing, and so is initial'],
    [
      'hidden that is not a boolean',
      { users: [user(1, { hidden: 'maybe' })] },
      'hidden must be true or false, or 1 or 0',
    ],
    ['an award of an invalid date', { awards: [award(1, 1, 5, 'yesterday')] }, 'date must be a date and time such as'],
    ['an invalid date', { submissions: [submission(11, 'yesterday')] }, 'date must be a date and time such as'],
    [
      'a date that no calendar has',
      { submissions: [submission(11, '2026-02-30T00:00:00')] },
      'date must be a date and time such as',
    ],
  ])('a record with %s', async (_, override, fault) => {
    expect((await tables(override))[0]).toContain(fault)
  })

  test('past twenty faults, only their number is reported', async () => {
    const faults = await tables({ solves: Array.from({ length: 50 }, (_, index) => solve(index + 1, 1, 100 + index)) })
    expect(faults).toHaveLength(21)
    expect(faults[20]).toBe('and 30 more')
  })

  test('repeated faults share one line with the first places and the number of others', async () => {
    const places = [1, 2, 3, 4, 5].map((n) => `db/solves.json: result ${n} (id ${n})`).join(', ')
    expect(await tables({ solves: Array.from({ length: 50 }, (_, index) => solve(index + 1, 1, 99)) })).toEqual([
      `${places} and 45 more: challenge_id names 99, which db/challenges.json does not have`,
    ])
    const standings = Array.from({ length: 659 }, (_, index) => ({ team: `t${index}`, score: index + 0.5 }))
    expect(await faultsOf('ctftime', JSON.stringify({ standings }))).toEqual([
      expect.stringMatching(/^standings\[0\], .*standings\[4\] and 654 more: score has a fraction; --scale says/),
    ])
  })

  test('--freeze with an export that has no freeze, and with solves and awards that have no date', async () => {
    for (const value of [null, '', undefined]) {
      const config = [{ key: 'user_mode', value: 'users' }, ...(value === undefined ? [] : [{ key: 'freeze', value }])]
      expect(await tables({ config }, '--freeze')).toEqual(['db/config.json has no freeze, so --freeze means nothing'])
    }
    expect(await tables({ config: [{ key: 'freeze', value: 'soon' }] }, '--freeze')).toContainEqual(
      'db/config.json: result 1: value must be seconds since 1970, such as 1769860800',
    )
    expect(await tables({ solves: [solve(11, 1, 1)], submissions: [submission(11, null)] }, '--freeze')).toEqual([
      'db/solves.json: id 11: has no date, so it is not known whether --freeze leaves it out',
    ])
    expect(await tables({ awards: [{ id: 1, user_id: 1, value: 5 }] }, '--freeze')).toEqual([
      'db/awards.json: result 1 (id 1): date is missing, which --freeze needs',
    ])
  })

  test('a ten-year-old export, which gets a message that names what it lacks', async () => {
    const old: Tables = {
      config: [{ id: 1, key: 'ctf_name', value: 'x' }],
      teams: [{ id: 1, name: 'x', email: SECRETS.email, password: SECRETS.password, banned: 0 }],
      challenges: [{ id: 1, name: 'c', category: 'x', value: 1, hidden: 0 }],
      solves: [{ id: 1, chalid: 1, teamid: 1, date: '2016-01-31T10:00:00' }],
      awards: [],
    }
    expect(await faultsOf('ctfd', ctfdZip(old))).toEqual([
      'db/config.json has no user_mode; exports of CTFd 2 and later do',
    ])
    expect(await tables({ solves: old.solves as never })).toEqual([
      'db/solves.json has no challenge_id, user_id; the importer needs the tables of CTFd 2 or later',
    ])
  })

  test('an unknown version that lacks the fields of visibility, which are not guessed', async () => {
    const { hidden: _, ...visible } = user(1)
    expect(await tables({ users: [user(2), visible] })).toEqual(['db/users.json: result 2 (id 1): hidden is missing'])
    expect(await tables({ users: [visible] })).toEqual([expect.stringMatching(/^db\/users\.json has no hidden; /)])
    expect(await tables({ config: [{ key: 'user_mode', value: 'both' }] })).toEqual([
      'db/config.json: user_mode must be users or teams',
    ])
  })

  test('a file in another format, which gets a message that names that format and its --format', async () => {
    const scoreboard = '{"success":true,"data":[]}'
    const feed = ' {"standings":[]}'
    const dump = '{"type":"auteur","id_auteur":1,"nom":"x"}'
    const kinds: [string, Buffer | string, RegExp][] = [
      ['ctfd', scoreboard, /looks like CTFd's scoreboard, which --format ctfd-scoreboard reads/],
      ['ctfd', feed, /looks like CTFtime's feed, which --format ctftime reads/],
      ['ctfd', dump, /looks like a dump of Palmarès, which --format ndjson reads/],
      ['ctfd', Buffer.from('1f8b0800', 'hex'), /is compressed by gzip; decompress it first/],
      ['ctfd', '', /is empty/],
      ['ndjson', Buffer.from('SQLite format 3\0\x10\0'), /is a SQLite database; .* `palmares export` writes its dump/],
      ['ctfd', 'x', /is not a zip archive/],
      ...['ctfd-scoreboard', 'ctftime'].flatMap((format): [string, Buffer | string, RegExp][] => [
        [format, ctfdZip(contest()), /looks like a zip archive such as a CTFd export, which --format ctfd reads/],
        [format, dump, /looks like a dump of Palmarès/],
        [format, format === 'ctftime' ? scoreboard : feed, /which --format ctf/],
        [format, '<!doctype html><p>', /looks like HTML or XML/],
        [format, '', /is empty/],
        [format, ' \n', /begins with only white space/],
        [format, Buffer.from(feed, 'utf16le'), /is in UTF-16/],
        [format, Buffer.from('\ufeff{}', 'utf16le'), /is in UTF-16/],
        [format, '{"count":1,"results":[]}', /looks like one table of a CTFd export/],
        [format, '[]', /must be an object, not a list/],
        [format, '3', /must be an object, not a single value/],
        [format, Buffer.from('{"x":"\xe9"}', 'latin1'), /^the file is not UTF-8$/],
        [format, '{"x":', /^the file ends in the middle; it was cut short$/],
        [format, '{"x":1}}', /^the file is not JSON, after byte 6$/],
        [format, `{"x":"${SECRETS.flag}"`, /^the file ends in the middle/],
        [format, `{"x":${SECRETS.flag}}`, /^the file is not JSON, after byte \d+$/],
      ]),
      ['ndjson', ctfdZip(contest()), /looks like a zip archive such as a CTFd export, which --format ctfd reads/],
      ['ndjson', scoreboard, /CTFd's scoreboard/],
      ['ndjson', feed, /CTFtime's feed/],
      ['ndjson', gzipSync(dump), /is compressed by gzip; decompress it first; it should be a dump/],
      ['ndjson', Buffer.from('fd377a585a000004', 'hex'), /is compressed by xz/],
      ['ndjson', Buffer.from('28b52ffd04', 'hex'), /is compressed by zstd/],
      ['ndjson', Buffer.from(dump, 'utf16le'), /is in UTF-16, not in UTF-8; it should be a dump/],
      ['ndjson', Buffer.from(`\ufeff${dump}`, 'utf16le'), /is in UTF-16/],
      ['ndjson', '<!doctype html><p>', /looks like HTML or XML/],
      ['ndjson', 'pos,team,score\n1,a,3\n2,b,2\n', /looks like a table in CSV/],
      ['ndjson', '"pos";"team";"score"\r\n1;a;3\r\n', /looks like a table in CSV/],
      ['ndjson', '{"count":1,"results":[]}', /looks like one table of a CTFd export/],
      ['ndjson', JSON.stringify({ items: [{ id: 1 }], x: 1 }, null, 2), /is one JSON document, not one object a line/],
      ['ndjson', `[${dump}]`, /is one JSON document/],
      ['ndjson', `[\n${dump}\n]\n`, /is one JSON document/],
    ]
    for (const [format, bytes, fault] of kinds)
      expect(await faultsOf(format, bytes)).toEqual([expect.stringMatching(fault)])
  })

  test('a document of another platform is recognised by its content, whatever its layout and the fields before it', async () => {
    const standings = [{ pos: 1, account_id: 420, team: 'a "standings"', score: 8_800, members: [{ data: 1 }] }]
    const feeds = [
      { success: true, standings },
      { extra: { data: ['}', '\\"'], standings: 0 }, success: true, standings },
      { tasks: Array.from({ length: 20_000 }, (_, i) => `task ${i}`), standings },
    ]
    const boards = [
      { success: true, data: [] },
      { meta: null, success: true, data: [{ standings: [] }] },
    ]
    const laidOut = (body: unknown) => [JSON.stringify(body), `\ufeff\n ${JSON.stringify(body, null, 4)}`]
    for (const body of feeds.flatMap(laidOut)) {
      for (const format of ['ndjson', 'ctfd-scoreboard']) {
        expect(await faultsOf(format, body)).toEqual([
          expect.stringMatching(/looks like CTFtime's feed, which --format ctftime reads/),
        ])
      }
    }
    for (const body of boards.flatMap(laidOut)) {
      for (const format of ['ndjson', 'ctftime']) {
        expect(await faultsOf(format, body)).toEqual([
          expect.stringMatching(/looks like CTFd's scoreboard, which --format ctfd-scoreboard reads/),
        ])
      }
    }
  })

  test('an unknown document gets one message that lists the formats', async () => {
    const items = Array.from({ length: 25_000 }, (_, id) => ({ id, name: `n${id}` }))
    expect(await faultsOf('ndjson', JSON.stringify({ items }, null, 1))).toEqual([
      'the file is one JSON document, not one object a line; it should be a dump of Palmarès. --format takes ndjson, ctfd, ctfd-scoreboard, ctftime',
    ])
    const reported = await faultsOf('ndjson', `${items.map((item) => JSON.stringify(item)).join('\n')}\n`)
    expect(reported).toEqual([expect.stringMatching(/^lines 1, 2, 3, 4, 5 and 24995 more: type must be one of/)])
  })

  test.each<[string, unknown, string]>([
    [
      'that is hidden',
      { success: false, data: [] },
      'success is false: CTFd did not show the scoreboard; sign in or make it public',
    ],
    [
      'of something else',
      { success: true, data: { 1: account(1), members: [] } },
      'data must be a list of accounts, or an object of them by place',
    ],
    ['by place without a score', { data: { 1: { id: 1 } } }, 'data["1"]: score is missing'],
    ['by place with a duplicate account', { data: { 1: top(1), 2: top(1) } }, 'data["2"]: id 1 is there twice'],
    ['with solves that are not a list', { data: { 1: top(1, { solves: {} }) } }, 'data["1"]: solves must be a list'],
    ['with an invalid solve', { data: { 1: top(1, { solves: [3] }) } }, 'data["1"]: solves must be a list of objects'],
    [
      'with an invalid date',
      { data: { 1: top(1, { solves: [{ value: 1, date: 'soon' }] }) } },
      'data["1"]: date must be a date and time such as 2026-01-31T12:00:00',
    ],
    ['with a bracket that is not a text', { data: [account(1, { bracket_name: 3 })] }, 'data[0]: bracket_name must be'],
    ['without data', { success: true }, 'data must be a list of accounts'],
    ['with an entry that is not an account', { data: [null] }, 'data[0]: must be an object'],
    ['with a duplicate account', { data: [account(1), account(1)] }, 'data[1]: account_id 1 is there twice'],
    ['with an account without id', { data: [account(1), { name: 'x', score: 1 }] }, 'data[1]: account_id is missing'],
    ['with a missing score', { data: [account(1, { score: null })] }, 'data[0]: score is missing'],
    [
      'with a fractional score',
      { data: [account(1, { score: 1.5 })] },
      'data[0]: score has a fraction; --scale says by',
    ],
    [
      'with a name that is not a text',
      { data: [account(1, { name: {} })] },
      'data[0]: name must be a text, not an object',
    ],
  ])('a scoreboard %s', async (_, body, fault) => {
    expect((await faultsOf('ctfd-scoreboard', JSON.stringify(body)))[0]).toContain(fault)
  })

  test.each<[string, unknown, string]>([
    ['without standings', { tasks: [] }, 'standings must be a list of teams'],
    ['with tasks that are not a list', { standings: [], tasks: {} }, 'tasks must be a list of names'],
    ['with a task without name', { standings: [], tasks: ['a', {}] }, 'tasks[1]: is missing'],
    ['with a team that is not an object', { standings: [3] }, 'standings[0]: must be an object'],
    ['with a team without name', { standings: [{ team: '', score: 1 }] }, 'standings[0]: team must not be empty'],
    [
      'with a fractional score',
      { standings: [{ team: 'a', score: '12.50' }] },
      'standings[0]: score has a fraction; --scale',
    ],
    [
      'with a score that is not a number',
      { standings: [{ team: 'a', score: 'NaN' }] },
      'standings[0]: score must be a number',
    ],
    ['with NUL in a name', { standings: [{ team: 'a\0', score: 1 }] }, 'standings[0]: team must not contain NUL'],
    ['with stats that are not an object', { standings: [stats(['x'])] }, 'standings[0]: taskStats must be an object'],
    [
      'with an invalid stat',
      { standings: [stats({ x: 3 })] },
      'standings[0].taskStats: task 1: must contain objects with points',
    ],
    [
      'with a stat without points',
      { standings: [stats({ x: {} })] },
      'standings[0].taskStats: task 1: points is missing',
    ],
    [
      'with fractional points',
      { standings: [stats({ x: { points: 0.5 } })] },
      'standings[0].taskStats: task 1: points has a fraction',
    ],
    [
      'with milliseconds',
      { standings: [stats({ x: { points: 1, time: 1.7e15 } })] },
      'taskStats: task 1: time must be seconds since 1970',
    ],
  ])('a feed %s', async (_, body, fault) => {
    expect((await faultsOf('ctftime', JSON.stringify(body)))[0]).toContain(fault)
  })

  test('a score still fractional after --scale is reported with its row', async () => {
    const body = JSON.stringify({
      standings: [
        { team: 'a', score: 1.5 },
        { team: 'b', score: 1.25 },
      ],
    })
    expect(await faultsOf('ctftime', body, '--scale', '10')).toEqual([
      'standings[1]: score has a fraction still, multiplied by --scale',
    ])
  })

  test('points past the largest exact number, found in the file or during the import', async () => {
    const awards = Array.from({ length: 9_008 }, (_, index) => award(index, 1, 1e12, '2026-01-31T18:00:00'))
    expect(await tables({ awards })).toEqual(['db/users.json: id 1: has too many points'])
    const tasks = Object.fromEntries(awards.map((_, index) => [`task ${index}`, { points: 1e12 }]))
    expect(
      await faultsOf('ctftime', JSON.stringify({ standings: [{ team: 'a', score: 0, taskStats: tasks }] })),
    ).toEqual([
      expect.stringMatching(/^the points of auteur \d+, with the base or without, would pass 9007199254740991$/),
    ])
  })

  test('with --replace, a file without any author', async () => {
    const empty = contest({ users: [user(1, { hidden: 1 })], solves: [], awards: [], submissions: [] })
    const fault = ['the file names nobody, so --replace would empty the portal']
    expect(await faultsOf('ctfd', ctfdZip(empty), '--replace')).toEqual(fault)
    expect(await faultsOf('ctftime', '{"standings":[]}', '--replace')).toEqual(fault)
    expect(await faultsOf('ctfd-scoreboard', '{"success":true,"data":[]}', '--replace')).toEqual(fault)
  })
})

function account(account_id: number, columns: object = {}): object {
  return { pos: 1, account_id, account_type: 'user', name: `account ${account_id}`, score: 10, ...columns }
}

function top(id: number, columns: object = {}): object {
  return { id, name: `account ${id}`, score: 10, solves: [], ...columns }
}

function stats(taskStats: unknown): object {
  return { pos: 1, team: 'a', score: 1, taskStats }
}

test('a refused file creates no store', async () => {
  const file = join(folder, 'none.zip')
  writeFileSync(file, 'x')
  const store = join(folder, 'unmade.db')
  for (const format of ['ctfd', 'ctfd-scoreboard', 'ctftime']) {
    expect(await palmaresHere('import', '--format', format, '--database', `sqlite:${store}`, file)).toMatchObject({
      status: 1,
    })
  }
  expect(existsSync(store)).toBe(false)
})

test('options that exclude each other are a usage error; a folder and a missing file are reported', async () => {
  mkdirSync(join(folder, 'folder'))
  const wrong: [string[], number, RegExp][] = [
    [['--with-accounts', '--format', 'ctfd', 'x'], 2, /^error: --with-accounts only works with --format ndjson\n$/],
    [['--freeze', 'x'], 2, /^error: --freeze only works with --format ctfd\n$/],
    [['--freeze', '--format', 'ctftime', 'x'], 2, /--freeze only works with/],
    [['--scale', '10', 'x'], 2, /^error: --scale only works with --format ctfd-scoreboard or ctftime\n$/],
    [['--scale', '10', '--format', 'ctfd', 'x'], 2, /--scale only works with/],
    [['--departage', 'heure', 'x'], 2, /It takes one of aucun, date\./],
    [['--format', 'ctfd', '-'], 2, /^error: --format ctfd takes a file, not standard input\n$/],
    [['--format', 'csv', 'x'], 2, /It takes one of ndjson, ctfd, ctfd-scoreboard, ctftime\./],
    ...['0', '-1', 'x', '1e9', ''].map((scale): [string[], number, RegExp] => [
      ['--format', 'ctftime', `--scale=${scale}`, 'x'],
      2,
      /It takes a number from 1 to 1000000, such as 100\./,
    ]),
    ...['ctfd', 'ctftime', 'ctfd-scoreboard'].flatMap((format): [string[], number, RegExp][] => [
      [['--format', format, join(folder, 'folder')], 1, /this is a folder, not a file/],
      [['--format', format, join(folder, 'nowhere')], 1, /nowhere: there is no such file/],
    ]),
    [['--format', 'ctfd', '/dev/null'], 1, /this is not a plain file, which an archive must be/],
  ]
  for (const [args, status, message] of wrong) {
    const ran = await palmaresHere('import', '--database', `sqlite:${join(folder, 'unmade.db')}`, ...args)
    expect([args, ran.status, ran.stdout, ran.stderr]).toEqual([args, status, '', expect.stringMatching(message)])
  }
})
