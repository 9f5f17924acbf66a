import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ExchangeLimits } from '../../src/mirror/exchange.js'
import { claim } from '../../src/mirror/state.js'
import { portail } from '../fixtures.js'
import { altered, type Fault, type Front, json, passOn, startFront } from '../front.js'
import {
  addRubrique,
  type DumpLine,
  exportFrom,
  importInto,
  type MadeStore,
  makeStore,
  startServer,
  type TestServer,
} from '../harness.js'
import { type FakeClock, makeClock, mirrorInto } from '../mirroring.js'

let origin: TestServer
let front: Front
let copy: MadeStore
let clock: FakeClock
let changes = 0

beforeAll(async () => {
  origin = await startServer(portail, { logLevel: 'silent' })
  front = await startFront(passOn(origin.url))
})

afterEach(() => {
  front.fault = undefined
})

afterAll(async () => {
  await front.close()
  await copy.close()
  await origin.close()
})

/** Starts with an empty copy. */
async function begin(): Promise<void> {
  await copy?.close()
  copy = await makeStore()
  clock = makeClock()
  front.asked.length = 0
}

/** Waits take no time here, so retries are immediate. */
const pass = (settings: Parameters<typeof mirrorInto>[2] = {}) =>
  mirrorInto(copy.store, front.url, { key: origin.key, clock, ...settings })

/** Applies a fault to every response below a path. */
function injectFault(path: string, fault: Fault): void {
  front.fault = (asked, usual, response) => (asked.path.startsWith(path) ? fault(asked, usual, response) : usual())
}

const page = (status: number) => ({ status, headers: { 'content-type': 'text/html' }, body: '<h1>secret</h1>' })

/** Faults in the response for one record, and how they are reported. */
const faultsOfOne: [name: string, path: string, fault: Fault, message: RegExp][] = [
  [
    'an error of the server',
    '/auteurs/9',
    () => json({ code: 'internal_error' }, 500),
    /^\/auteurs\/9: it answered 500; tried 5 times$/,
  ],
  [
    'a page of HTML',
    '/auteurs/9',
    () => page(200),
    /^\/auteurs\/9: it answered 200 and text\/html, which is not JSON$/,
  ],
  ['a missing page of HTML', '/auteurs/9', () => page(404), /^\/auteurs\/9: it answered 404 and text\/html$/],
  ['an unknown path', '/auteurs/9', () => json({ code: 'path_not_found' }, 404), /404 .*\(path_not_found\)$/],
  ['the dialect', '/auteurs/9', () => json([{ error: { code: 404 } }], 404), /^\/auteurs\/9: it answered 404/],
  [
    'a truncated text',
    '/auteurs/9',
    () => ({ status: 200, headers: { 'content-type': 'application/json' }, body: '{"nom":"a' }),
    /which is not JSON$/,
  ],
  [
    'another author',
    '/auteurs/9',
    (_, usual) => altered(usual, (body: object) => ({ ...body, id_auteur: '10' })),
    /^\/auteurs\/9: the response is about 10$/,
  ],
  [
    'a score that is a text',
    '/auteurs/9',
    (_, usual) => altered(usual, (body: object) => ({ ...body, score: '5' })),
    /^\/auteurs\/9: score must be integer$/,
  ],
  [
    'a name that never ends',
    '/auteurs/9',
    (_, usual) => altered(usual, (body: object) => ({ ...body, nom: 'n'.repeat(1_001) })),
    /^\/auteurs\/9: nom must have at most 1000 characters$/,
  ],
  [
    'an invalid date',
    '/auteurs/9',
    (_, usual) =>
      altered(usual, (body: { validations: object[] }) => ({
        ...body,
        validations: body.validations.map((each) => ({ ...each, date: '2026-02-31T00:00:00Z' })),
      })),
    /^\/auteurs\/9: date must be a date and time such as /,
  ],
  [
    'an address that is not followed',
    '/challenges/2',
    (_, usual) => altered(usual, (body: object) => ({ ...body, url_challenge: 'javascript:alert(1)' })),
    /^\/challenges\/2: url_challenge must be/,
  ],
  [
    'a redirect to another host',
    '/auteurs/9',
    () => ({ status: 302, headers: { location: 'http://ailleurs.example/x' }, body: '' }),
    /^\/auteurs\/9: a redirect to http:\/\/ailleurs\.example; the key is only sent to http:\/\/127\.0\.0\.1:\d+$/,
  ],
  [
    'redirects in a circle',
    '/auteurs/9',
    ({ path }) => ({ status: 307, headers: { location: path }, body: '' }),
    /^\/auteurs\/9: more than 5 redirects$/,
  ],
  ['a body that never ends', '/auteurs/9', endless(1), /^\/auteurs\/9: a body of more than 100000 bytes$/],
]

/** Faults that end a pass. */
const faultsOfAll: [name: string, path: string, fault: Fault, message: RegExp, limits?: Partial<ExchangeLimits>][] = [
  [
    'a key that it refuses',
    '/challenges/2',
    () => json({ code: 'credential_expired' }, 401),
    /\(credential_expired\): the portal refuses the key$/,
  ],
  [
    'the list of the dialect',
    '/auteurs?',
    () => json([{ '0': { id_auteur: '1', nom: 'a' } }]),
    /^\/auteurs\?limite=500: the body must be object$/,
  ],
  [
    'an invalid id',
    '/auteurs?',
    (_, usual) => altered(usual, () => ({ '0': { id_auteur: '0', nom: 'a' } })),
    /^\/auteurs\?limite=500: 0\.id_auteur must match/,
  ],
  [
    'an id past the largest number',
    '/auteurs?',
    (_, usual) => altered(usual, () => ({ '0': { id_auteur: '9'.repeat(20), nom: 'a' } })),
    /id_auteur is no id$/,
  ],
  [
    'a link to another host',
    '/auteurs?',
    async (_, usual) => withLink(await usual(), '<http://ailleurs.example/auteurs?debut_auteurs=5>; rel="next"'),
    /^\/auteurs\?limite=500: the next page is at http:\/\/ailleurs\.example/,
  ],
  [
    'a link to another list',
    '/auteurs?',
    async (_, usual) => withLink(await usual(), '</challenges?debut_auteurs=5>; rel="next"'),
    /of another list$/,
  ],
  [
    'links in a circle',
    '/auteurs?',
    async (_, usual) => withLink(await usual(), '</auteurs?debut_auteurs=0>; rel="next"'),
    /leads in a circle, to row 0$/,
  ],
  [
    'the same page forever',
    '/auteurs?',
    async ({ path }, usual) => withLink(await usual(), `</auteurs?debut_auteurs=${1 + rowOf(path)}>; rel=next`),
    /\?limite=500&debut_auteurs=1: the page names nobody new and leads on/,
  ],
  [
    'a list that never ends',
    '/auteurs?',
    ({ path }) =>
      withLink(
        json({ '0': { id_auteur: String(1 + rowOf(path)), nom: 'a' } }),
        `</auteurs?debut_auteurs=${1 + rowOf(path)}>; rel=next`,
      ),
    /the list has more than 50 rows$/,
  ],
  [
    'a request to wait for hours',
    '/auteurs/9',
    () => json({ code: 'rate_limited' }, 429, { 'retry-after': '7200' }),
    /^\/auteurs\/9: the portal asks to wait until 2026-03-01T14:00:0\d\.\d+Z$/,
  ],
  [
    'a window of hours',
    '/auteurs/9',
    async (_, usual) => ({
      ...(await usual()),
      headers: { ...(await usual()).headers, ratelimit: '"compte";r=0;t=7200' },
    }),
    /asks to wait until 2026-03-01T14:00:0\d\.\d+Z$/,
  ],
  ['a truncated body', '/auteurs/9', cutShort, /^\/auteurs\/9: the connection failed \(ECONNRESET\); tried 5 times$/],
  [
    'no response',
    '/auteurs/9',
    () => undefined,
    /^\/auteurs\/9: no sign of life in 300 ms; tried 5 times$/,
    { silenceMilliseconds: 300 },
  ],
  [
    'a closed connection',
    '/auteurs/9',
    (_a, _u, response) => void response.destroy(),
    /^\/auteurs\/9: the connection failed \(ECONNRESET\); tried 5 times$/,
  ],
  [
    'a change of protocol',
    '/auteurs/9',
    (_a, _u, response) => {
      response.socket!.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n')
      return undefined
    },
    /^\/auteurs\/9: the connection ended without an answer; tried 5 times$/,
  ],
  [
    'a body that arrives too slowly',
    '/auteurs/9',
    endless(20),
    /^\/auteurs\/9: no whole answer in 500 ms; tried 5 times$/,
    { wholeMilliseconds: 500 },
  ],
]

const bounds = { limits: { bodyBytes: 100_000 }, maxListRows: 50 }

describe('a fault during an update of a copy', () => {
  beforeAll(async () => {
    await begin()
    await pass()
  })

  test.each(faultsOfOne)(
    '%s is reported with its address and leaves its record unchanged, and the pass reads all others',
    async (_, path, fault, message) => {
      await change()
      const before = await exportFrom(copy.store)
      injectFault(path, fault)
      const warnings: string[] = []
      expect(await pass({ ...bounds, warnings })).toMatchObject({ faults: 1, isStopped: false })
      expect(warnings).toEqual([expect.stringMatching(message)])
      expect(warnings[0]).not.toMatch(new RegExp(`secret|${origin.key}`))
      const isAffected = (line: DumpLine) =>
        path === '/challenges/2' ? line.id_challenge === 2 && line.type === 'challenge' : line.id_auteur === 9
      const expected = await expectedCopy(origin)
      const copied = await exportFrom(copy.store)
      expect(copied.filter(isAffected)).toEqual(before.filter(isAffected))
      expect(copied.filter((line) => !isAffected(line))).toEqual(expected.filter((line) => !isAffected(line)))

      front.fault = undefined
      expect(await pass()).toMatchObject({ faults: 0, isResumed: false })
      expect(await exportFrom(copy.store)).toEqual(expected)
    },
  )

  test.each(faultsOfAll)(
    '%s ends the pass, is reported with its address, and leaves each record complete',
    async (_, path, fault, message, limits) => {
      clock = makeClock()
      await change()
      const before = await exportFrom(copy.store)
      injectFault(path, fault)
      const failure = await pass({ ...bounds, limits: { ...bounds.limits, ...limits } }).then(
        () => expect.unreachable('the pass should have failed'),
        (error: Error) => error,
      )
      expect(failure).toMatchObject({ name: 'MirrorError', message: expect.stringMatching(message) })
      expect(failure.message).not.toMatch(new RegExp(`secret|${origin.key}`))
      const expected = await expectedCopy(origin)
      const texts = new Set([...before, ...expected].map((line) => JSON.stringify(line)))
      expect((await exportFrom(copy.store)).filter((line) => !texts.has(JSON.stringify(line)))).toEqual([])

      front.fault = undefined
      clock = makeClock(clock.now() + 7_200_000)
      expect(await pass()).toMatchObject({ isResumed: true, faults: 0 })
      expect(await exportFrom(copy.store)).toEqual(expected)
    },
  )
})

function cutShort(...[, , response]: Parameters<Fault>): undefined {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' }).write('{"nom":"a')
  setTimeout(() => response.destroy(), 20)
  return undefined
}

function endless(everyMilliseconds: number): Fault {
  const chunk = everyMilliseconds === 1 ? ' '.repeat(50_000) : ' '
  return (_asked, _usual, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const timer = setInterval(() => response.write(chunk), everyMilliseconds)
    response.on('close', () => clearInterval(timer))
    return undefined
  }
}

/** Changes some records, before and after the faulty one. */
async function change(): Promise<void> {
  const nom = `change ${++changes}`
  await addRubrique(origin.store, nom)
  await importInto(origin.store, [
    { type: 'auteur', id_auteur: 9, nom, score: 3 },
    { type: 'auteur', id_auteur: 40, nom, score: 4 },
    { type: 'validation', id_auteur: 9, id_challenge: 4, date: `20${10 + changes}-01-01T00:00:00Z` },
    { type: 'challenge', id_challenge: 2, id_rubrique: 1, titre: nom, score: 10 },
  ])
}

async function expectedCopy(server: TestServer): Promise<DumpLine[]> {
  return (await exportFrom(server.store)).map((line) =>
    typeof line.url_challenge === 'string' ? { ...line, url_challenge: line.url_challenge.replace(/^\/+/, '') } : line,
  )
}

function withLink(reply: Awaited<ReturnType<Parameters<Fault>[1]>>, link: string) {
  const { etag, ...headers } = reply.headers
  return { ...reply, headers: { ...headers, link } }
}

function rowOf(path: string): number {
  return Number(/debut_auteurs=(\d+)/.exec(path)?.[1] ?? 0)
}

describe('a temporary fault', () => {
  beforeEach(begin)

  test('is retried with growing waits, and reported once', async () => {
    let failures = 0
    injectFault('/auteurs/9', (_, usual) => (failures++ < 3 ? page(502) : usual()))
    const retries: string[] = []
    const { requests } = await pass({ retries })
    expect(retries).toEqual(['/auteurs/9: it answered 502; retrying for 15 s'])
    expect(clock.waits.filter((wait) => wait >= 1_000)).toEqual([1_000, 2_000, 4_000])
    expect(requests.waitedMilliseconds).toBe(0)
    expect(await exportFrom(copy.store)).toEqual(await expectedCopy(origin))
  })

  test.each([
    ['seconds', 429, () => '17'],
    ['a date', 503, () => new Date(clock.now() + 17_000).toUTCString()],
  ])('is retried after the Retry-After in %s', async (_, status, retryAfter) => {
    let failures = 0
    injectFault('/auteurs/9', (_asked, usual) =>
      failures++ < 2 ? json({ code: 'rate_limited' }, status, { 'retry-after': retryAfter() }) : usual(),
    )
    const retries: string[] = []
    const { requests } = await pass({ retries })
    expect(retries).toEqual([])
    expect(clock.waits.filter((wait) => wait > 1_000).map((wait) => Math.round(wait / 1_000))).toEqual([17, 17])
    expect(Math.round(requests.waitedMilliseconds / 1_000)).toBe(34)
    expect(await exportFrom(copy.store)).toEqual(await expectedCopy(origin))
  })
})

describe('the pace', () => {
  beforeEach(begin)

  test('never exceeds the maximum rate', async () => {
    const times: number[] = []
    front.fault = (_, usual) => {
      times.push(clock.now())
      return usual()
    }
    await pass({ requestsPerSecond: 5 })
    const gaps = times.slice(1).map((time, index) => time - (times[index] as number))
    expect(gaps.length).toBeGreaterThan(20)
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(200)
  })

  test.each([1, 3])('has at most %i requests in flight when so many connections are allowed', async (connections) => {
    front.mostAtOnce = 0
    await pass({ connections })
    expect(front.mostAtOnce).toBe(connections)
  })

  test('spreads the remaining RateLimit over its window, so that the portal never refuses', async () => {
    const limit = limiter({ quota: 10, hasHeader: true })
    const { requests } = await pass()
    expect(limit.refused()).toBe(0)
    expect(requests.waitedMilliseconds).toBeGreaterThan(60_000)
    expect(await exportFrom(copy.store)).toEqual(await expectedCopy(origin))
  })

  test('waits for the Retry-After of a portal without RateLimit', async () => {
    const limit = limiter({ quota: 10, hasHeader: false })
    const { requests } = await pass()
    expect(limit.refused()).toBe(Math.floor((requests.requests - limit.refused() - 1) / 10))
    expect(await exportFrom(copy.store)).toEqual(await expectedCopy(origin))
  })

  /** A limit of requests a minute, by the clock of the mirror. A 304 is free. */
  function limiter({ quota, hasHeader }: { quota: number; hasHeader: boolean }): { refused(): number } {
    let window = -1
    let used = 0
    let refused = 0
    front.fault = async (_, usual) => {
      const now = clock.now() / 60_000
      if (Math.floor(now) !== window) used = 0
      window = Math.floor(now)
      const seconds = Math.ceil((window + 1 - now) * 60)
      if (used === quota) {
        refused++
        return json({ code: 'rate_limited' }, 429, { 'retry-after': String(seconds) })
      }
      used++
      const reply = await usual()
      if (!hasHeader) return reply
      return { ...reply, headers: { ...reply.headers, ratelimit: `"compte";r=${quota - used};t=${seconds}` } }
    }
    return { refused: () => refused }
  }
})

describe('a portal', () => {
  beforeEach(begin)

  test('may redirect on its own origin', async () => {
    injectFault('/auteurs/9', ({ path }, usual) =>
      path.endsWith('?moved') ? usual() : { status: 308, headers: { location: '/auteurs/9?moved' }, body: '' },
    )
    await pass()
    expect(await exportFrom(copy.store)).toEqual(await expectedCopy(origin))
  })

  test('may be below a path', async () => {
    const below = await startFront(({ path, headers }) => {
      if (!path.startsWith('/api/')) return page(404)
      return passOn(origin.url)({ path: path.slice(4), headers })
    })
    await mirrorInto(copy.store, `${below.url}/api`, { key: origin.key, clock })
    expect(await exportFrom(copy.store)).toEqual(await expectedCopy(origin))
    await below.close()
  })

  test('an empty list of authors removes none while their pages still answer', async () => {
    await pass()
    const before = await exportFrom(copy.store)
    injectFault('/auteurs?', async (_, usual) => {
      const { etag, link, ...headers } = (await usual()).headers
      return json({}, 200, headers['api-version'] === undefined ? {} : { 'api-version': '1' })
    })
    expect((await pass()).tallies).toEqual([])
    expect(await exportFrom(copy.store)).toEqual(before)
  })

  test('an author removed between a challenge that names them and their page is left out', async () => {
    await importInto(origin.store, [
      { type: 'auteur', id_auteur: 41, nom: 'short-lived' },
      { type: 'challenge', id_challenge: 92, id_rubrique: 1, titre: 'new', score: 5, auteurs: [40, 41] },
    ])
    injectFault('/auteurs/41', async (_, usual) => {
      await importInto(origin.store, [{ type: 'auteur', id_auteur: 41, supprime: true }])
      return usual()
    })
    await pass()
    expect(await exportFrom(copy.store)).toEqual(await expectedCopy(origin))
  })

  test('receives all requests, with the key only as a cookie', async () => {
    await pass()
    expect(new Set(front.asked.map(({ headers }) => headers.cookie))).toEqual(new Set([`api_key=${origin.key}`]))
    expect(front.asked.filter(({ path }) => path.includes(origin.key))).toEqual([])
  })
})

describe('an interrupted pass', () => {
  beforeEach(begin)

  test('continues with what it has not read, and starts again after a day', async () => {
    let count = 0
    const stop = new AbortController()
    count = 0
    front.fault = (_, usual) => {
      if (++count === 20) stop.abort()
      return usual()
    }
    expect(await pass({ signal: stop.signal })).toMatchObject({ isStopped: true, isResumed: false })
    front.fault = undefined
    const before = front.asked.length
    const rest = await pass()
    expect(rest).toMatchObject({ isResumed: true, isStopped: false })
    const whole = await pass()
    expect(rest.requests.requests).toBe(whole.requests.requests - 19)
    expect(front.asked.length - before).toBe(rest.requests.requests + whole.requests.requests)
    expect(await exportFrom(copy.store)).toEqual(await expectedCopy(origin))

    const again = new AbortController()
    again.abort()
    await pass({ signal: again.signal })
    clock = makeClock(clock.now() + 25 * 3_600_000)
    expect((await pass()).isResumed).toBe(false)
  })
})

describe('a pass that fails', () => {
  beforeEach(begin)

  test('keeps complete records, so that the next one continues after them', async () => {
    injectFault('/auteurs/9', () => json({}, 401))
    await expect(pass()).rejects.toThrow('refuses the key')
    const kept = await exportFrom(copy.store)
    const challenges = (lines: DumpLine[]) => lines.filter(({ type }) => type === 'challenge')
    expect(challenges(kept)).toEqual(challenges(await expectedCopy(origin)))
    expect(kept).toContainEqual(expect.objectContaining({ type: 'auteur', id_auteur: 4 }))
    front.fault = undefined
    const asked = front.asked.length
    await pass()
    expect(front.asked.slice(asked).map(({ path }) => path)).not.toContain('/auteurs/4')
    expect(await exportFrom(copy.store)).toEqual(await expectedCopy(origin))
  })

  test('ten failures in a row end the pass, without further requests', async () => {
    injectFault('/auteurs/', () => page(200))
    const warnings: string[] = []
    await expect(pass({ warnings })).rejects.toThrow('which is not JSON')
    expect(warnings.length).toBe(9)
    expect(front.asked.filter(({ path }) => path.startsWith('/auteurs/')).length).toBe(10)
  })

  test('a new challenge that fails is requested once, and its solves are copied when it can be read', async () => {
    injectFault('/challenges/1', () => page(404))
    expect((await pass()).faults).toBe(1)
    expect(front.asked.filter(({ path }) => path === '/challenges/1').length).toBe(1)
    front.fault = undefined
    expect((await pass()).faults).toBe(0)
    expect(await exportFrom(copy.store)).toEqual(await expectedCopy(origin))
  })
})

test('several connections that need a challenge missing from the list wait for its one response, and lose no solve', async () => {
  await begin()
  const asked: string[] = []
  front.fault = async ({ path }, usual) => {
    asked.push(path)
    // The list lacks it, and its own response is late.
    if (path.startsWith('/challenges?')) {
      return altered(usual, (rows: { id_challenge: number }[]) => rows.filter(({ id_challenge }) => id_challenge !== 1))
    }
    if (path === '/challenges/1') await new Promise((resolve) => setTimeout(resolve, 150))
    return usual()
  }
  await pass({ connections: 4 })
  expect(asked.filter((path) => path === '/challenges/1').length).toBe(1)
  expect(await exportFrom(copy.store)).toEqual(await expectedCopy(origin))
})

describe('two mirrors on one store', () => {
  beforeEach(begin)

  test('may both claim it at once for one portal, and a claim for another portal is refused', async () => {
    const claims = await Promise.allSettled(
      [front.url, front.url, 'http://127.0.0.1:9'].map((url) => claim(copy.store, `${url}/`)),
    )
    expect(claims.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
    expect(claims[2]).toMatchObject({
      reason: { name: 'MirrorError', message: expect.stringMatching(/^this store is the copy of /) },
    })
  })

  test('do not mix their writes: the later one continues, and the earlier one fails', async () => {
    let later: Promise<unknown> | undefined
    injectFault('/auteurs/9', async (_, usual) => {
      front.fault = undefined
      later = pass()
      await later
      return usual()
    })
    await expect(pass()).rejects.toThrow('another mirror took over this store; this one stops')
    await later
    expect(await exportFrom(copy.store)).toEqual(await expectedCopy(origin))
  })
})

describe('instead of a portal,', () => {
  beforeEach(begin)

  test.each([
    ['a page of HTML', () => page(200), /^\/classement\?limite=1: it answered 200 and text\/html, but neither/],
    ['another API', () => json({ users: [] }), /it answered 200 and application\/json; charset=utf-8, but neither/],
    ['an empty list', () => json([]), /but neither/],
    [
      'an error of the contract',
      () => json({ code: 'credential_missing' }, 401),
      /\(credential_missing\): the portal refuses the key$/,
    ],
    [
      'an error of the dialect',
      () => json([{ error: { code: 401, message: 'x' } }], 401),
      /it answered 401 .*: the portal refuses the key$/,
    ],
  ])('%s is recognised', async (_, fault, message) => {
    injectFault('/classement', fault)
    await expect(pass()).rejects.toThrow(message)
    expect(await exportFrom(copy.store)).toEqual([])
  })

  test('a change of the convention between two passes is refused', async () => {
    await pass()
    injectFault('/classement', () => json([{ '0': { place: 1, id_auteur: '1', nom: 'a', score: '0' } }]))
    await expect(pass()).rejects.toThrow('spoke the contract and speaks the dialect now')
  })
})
