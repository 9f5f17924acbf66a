import { execFile } from 'node:child_process'
import { type IncomingHttpHeaders, request } from 'node:http'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openStore } from '../src/store/open.js'
import { linksOf } from './compare.js'
import { portail } from './fixtures.js'
import { type DumpLine, engines, importInto, startServer, type TestServer, waitForChanges } from './harness.js'

const LISTS = ['/challenges', '/auteurs', '/classement', '/environnements_virtuels', '/challenges/1/validations']
/** Headers that differ with each response or connection. */
const UNCOMPARED = ['date', 'x-request-id', 'content-length', 'connection', 'keep-alive']
const READS = [...LISTS, '/challenges/1', '/rubriques', '/auteurs/2', '/environnements_virtuels/3']

describe.each(engines)('caching on %s', (engine) => {
  let server: TestServer
  beforeAll(async () => {
    server = await startServer(portail, { engine })
  })
  afterAll(() => server.close())

  const tagOf = async (path: string, from = server) => (await from.get(path)).headers.get('etag') as string
  const ifNoneMatch = (path: string, condition: string, method = 'GET') =>
    server.get(path, { method, headers: { 'if-none-match': condition } })

  /** A separate portal, for tests that change it. */
  async function withServer(work: (own: TestServer) => Promise<void>, settings = {}): Promise<void> {
    const own = await startServer(portail, { engine, settings })
    try {
      await work(own)
    } finally {
      await own.close()
    }
  }

  describe('an ETag', () => {
    test.each(READS)(
      '%s: is strong, stays the same while the body does, and is never shared by two bodies',
      async (path) => {
        const tag = await tagOf(path)
        expect(tag).toMatch(/^"[\x21\x23-\x7e]+"$/)
        expect(await tagOf(path)).toBe(tag)
        const others = await Promise.all(READS.filter((other) => other !== path).map((other) => tagOf(other)))
        expect(others).not.toContain(tag)
      },
    )

    test('changes with the body only', async () => {
      await withServer(async (own) => {
        const before = new Map<string, string>()
        for (const path of READS) before.set(path, await tagOf(path, own))
        await importInto(own.store, [{ type: 'environnement_virtuel', id_environnement_virtuel: 3, nom: 'Bois' }])
        const changed: string[] = []
        for (const path of READS) if ((await tagOf(path, own)) !== before.get(path)) changed.push(path)
        expect(changed).toEqual(['/environnements_virtuels', '/environnements_virtuels/3'])
      })
    })

    test('returns when its body does', async () => {
      await withServer(async (own) => {
        const tag = await tagOf('/auteurs/9', own)
        const auteur = portail.find((line) => line.type === 'auteur' && line.id_auteur === 9) as DumpLine
        await importInto(own.store, [{ ...auteur, nom: 'autre' }])
        expect(await tagOf('/auteurs/9', own)).not.toBe(tag)
        await importInto(own.store, [auteur])
        expect(await tagOf('/auteurs/9', own)).toBe(tag)
      })
    })
  })

  describe('a conditional request', () => {
    test.each(READS)('%s: with the tag of the body is a 304 without a body', async (path) => {
      const full = await server.get(path)
      const response = await ifNoneMatch(path, full.headers.get('etag') as string)
      expect([response.status, await response.text()]).toEqual([304, ''])
      for (const name of ['etag', 'cache-control', 'api-version', 'x-content-type-options', 'link', 'x-total-count']) {
        expect([name, response.headers.get(name)]).toEqual([name, full.headers.get(name)])
      }
      expect(response.headers.get('x-request-id')).toMatch(/./)
    })

    test('is a 304 if the tag is anywhere in a list, weak or strong, or for *', async () => {
      const tag = await tagOf('/challenges')
      for (const condition of [`W/${tag}`, `"a", ${tag}`, `"a",W/"b" ,W/${tag},"c"`, '*', ` ${tag} `, `"a",,${tag}`]) {
        expect([condition, (await ifNoneMatch('/challenges', condition)).status]).toEqual([condition, 304])
      }
    })

    test('is a 200 with the body for any other tag', async () => {
      const tag = await tagOf('/challenges')
      const others = [
        '"a"',
        'W/"a"',
        '""',
        '',
        tag.slice(1, -1),
        tag.toLowerCase(),
        `w/${tag}x`,
        await tagOf('/auteurs'),
      ]
      for (const condition of others) {
        const response = await ifNoneMatch('/challenges', condition)
        expect([condition, response.status, (await response.text()).length > 2]).toEqual([condition, 200, true])
      }
    })

    test('still gets its 401, 400 or 404, whatever tag it names', async () => {
      const tag = await tagOf('/challenges')
      for (const condition of ['*', tag]) {
        expect((await ifNoneMatch('/challenges/999', condition)).status).toBe(404)
        expect((await ifNoneMatch('/challenges?limite=0', condition)).status).toBe(400)
        const anonymous = await server.anonymous('/challenges', { headers: { 'if-none-match': condition } })
        expect([anonymous.status, anonymous.headers.get('etag')]).toEqual([401, null])
      }
    })

    test('is a 304 after a change that left its body alone, and a 200 after one that did not', async () => {
      await withServer(async (own) => {
        const tag = await tagOf('/challenges', own)
        const ask = () => own.get('/challenges', { headers: { 'if-none-match': tag } })
        await importInto(own.store, [{ type: 'auteur', id_auteur: 50, nom: 'nouveau' }])
        expect((await ask()).status).toBe(304)
        await importInto(own.store, [{ type: 'challenge', id_challenge: 4, id_rubrique: 2, titre: 'Vêtu', score: 0 }])
        expect((await ask()).status).toBe(200)
      })
    })
  })

  test.each([...READS, '/openapi.json', '/challenges/999', '/challenges?limite=0', '/nulle-part'])(
    '%s: HEAD has the status and the headers of GET, without a body',
    async (path) => {
      const comparable = ({ headers }: Response) => [...headers].filter(([name]) => !UNCOMPARED.includes(name))
      const get = await server.get(path)
      const head = await server.get(path, { method: 'HEAD' })
      expect(head.status).toBe(get.status)
      expect(comparable(head)).toEqual(comparable(get))
      if (get.status === 200) expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'))
      expect(await head.text()).toBe('')
    },
  )

  test('HEAD with the tag of the body is a 304', async () => {
    expect((await ifNoneMatch('/challenges', await tagOf('/challenges'), 'HEAD')).status).toBe(304)
  })

  test.each(READS)('%s: may be cached by its client only, which must revalidate', async (path) => {
    expect((await server.get(path)).headers.get('cache-control')).toBe('private, no-cache')
  })

  test.each(READS)('%s: a cached response is not served without a credential', async (path) => {
    expect((await server.get(path)).status).toBe(200)
    const response = await server.anonymous(path)
    expect([response.status, response.headers.get('etag')]).toEqual([401, null])
  })

  describe('a change', () => {
    test('a change in the same process is visible to the next request', async () => {
      await withServer(async (own) => {
        for (let round = 0; round < 5; round++) {
          await importInto(own.store, [{ type: 'auteur', id_auteur: 5, nom: `nom ${round}`, score: 1_000 + round }])
          expect(await own.json('/auteurs/5')).toMatchObject({ nom: `nom ${round}`, score: 1_000 + round, position: 1 })
          expect(await own.json('/classement?limite=1')).toMatchObject([{ nom: `nom ${round}`, place: 1 }])
        }
      })
    })

    test('a change on another connection to the store is visible to the next request that can know of it', async () => {
      await withServer(async (own) => {
        const other = await openStore(own.database, { create: false })
        for (let round = 0; round < 10; round++) {
          await importInto(other, [{ type: 'auteur', id_auteur: 5, nom: `nom ${round}`, score: 1_000 + round }])
          await waitForChanges(own)
          expect(await own.json('/auteurs/5')).toMatchObject({ nom: `nom ${round}`, score: 1_000 + round, position: 1 })
          expect(await own.json('/classement?limite=1')).toMatchObject([{ nom: `nom ${round}`, place: 1 }])
          expect(await own.json(`/auteurs?nom=nom%20${round}`)).toMatchObject({ 0: { id_auteur: '5' } })
        }
        await importInto(other, [{ type: 'auteur', id_auteur: 5, supprime: true }])
        await waitForChanges(own)
        expect((await own.get('/auteurs/5')).status).toBe(404)
        expect(await own.json('/auteurs?nom=nom')).toEqual({})
        await other.close()
      })
    })

    test('a change by another process is visible to the next request that can know of it', async () => {
      await withServer(async (own) => {
        const before = await tagOf('/rubriques', own)
        const line = JSON.stringify({ type: 'rubrique', id_rubrique: 7, nom: 'Plus vide' })
        const program = new URL('../dist/main.js', import.meta.url).pathname
        const done = promisify(execFile)(process.execPath, [program, 'import', '-', '--database', own.database])
        done.child.stdin?.end(`${line}\n`)
        await done
        await waitForChanges(own)
        expect(await own.json('/rubriques')).toContainEqual({ id_rubrique: 7, nom: 'Plus vide', nb_challenges: 0 })
        expect(await tagOf('/rubriques', own)).not.toBe(before)
      })
    })
  })

  describe('a URL in Link', () => {
    test('has the Host of its own request, even when the body is cached', async () => {
      const hosts = ['palmares.example', 'PALMARES.example:8443', '[::1]:80', '127.0.0.1:65535', 'palmares.example']
      for (const path of LISTS) {
        for (const host of hosts) {
          const { headers } = await getWithHost(server, path, { host })
          const links = Object.values(linksOf(new Response(null, { headers: { link: headers.link as string } })))
          expect(links.length).toBeGreaterThan(1)
          for (const link of links) expect(link.startsWith(`http://${host}${path}?`), link).toBe(true)
        }
      }
    })

    test('ignores headers that only a trusted proxy may set', async () => {
      const forwarded = {
        'x-forwarded-host': 'evil.example',
        'x-forwarded-proto': 'https',
        forwarded: 'host=evil.example',
      }
      const { headers } = await getWithHost(server, '/auteurs', { host: 'palmares.example', ...forwarded })
      expect(headers.link).toContain('<http://palmares.example/auteurs?')
      expect(headers.link).not.toContain('evil')
    })

    test('never contains a malformed Host, which is a 400', async () => {
      const malformed = [
        'a b',
        'a/b',
        'user@a',
        'a"b',
        '<a>',
        'a:b',
        'a:65536',
        'a:999999',
        '[::1',
        'a,b',
        'a?b',
        'a#b',
        'a%b',
      ]
      for (const host of malformed) {
        expect([host, (await getWithHost(server, '/auteurs', { host })).status]).toEqual([host, 400])
      }
    })

    test('starts with the public address if there is one, whatever Host is', async () => {
      const settings = { publicUrl: 'https://api.example/palmares/' }
      await withServer(async (own) => {
        for (const host of ['evil.example', 'api.example']) {
          const { headers } = await getWithHost(own, '/auteurs?limite=5&nom=e', { host })
          expect(headers.link).toMatch(/^<https:\/\/api\.example\/palmares\/auteurs\?/)
          expect(headers.link).not.toContain('evil')
        }
      }, settings)
    })
  })
})

/** A GET with headers that fetch cannot set. */
function getWithHost(
  { url, key }: TestServer,
  path: string,
  headers: Record<string, string>,
): Promise<{ status: number | undefined; headers: IncomingHttpHeaders }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url + path,
      { headers: { cookie: `api_key=${key}`, ...headers }, agent: false },
      (response) => {
        response.resume().on('end', () => resolve({ status: response.statusCode, headers: response.headers }))
      },
    )
    sent.on('error', reject).end()
  })
}
