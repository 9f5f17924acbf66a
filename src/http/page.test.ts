import { readdirSync } from 'node:fs'
import { METHODS } from 'node:http'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { portail } from '../../test/fixtures.js'
import { startServer, type TestServer } from '../../test/harness.js'
import { problemOf } from '../../test/wire.js'

const SHELLS = ['/', '/p', '/p/', '/p/classement', '/p/auteurs/1', '/p/nulle/part', '/docs']
const ASSETS = readdirSync('dist/web/assets').filter((name) => !/\.(br|gz)$/.test(name))

let server: TestServer
beforeAll(async () => {
  server = await startServer(portail, { settings: { rateLimit: 600, addressRateLimit: 3 } })
})
afterAll(() => server.close())

describe('the page', () => {
  test('is the same shell at each of its addresses, without a credential and without data of the portal', async () => {
    for (const path of SHELLS) {
      const answer = await server.anonymous(path)
      const text = await answer.text()
      expect([path, answer.status, answer.headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8'])
      for (const { nom, titre } of portail as { nom?: string; titre?: string }[]) {
        for (const secret of [nom, titre]) if (secret && secret.length > 3) expect(text).not.toContain(secret)
      }
    }
  })

  test('is French or English, by the preference of the browser, and English for all other languages', async () => {
    const languageOf = async (accepted?: string) => {
      const answer = await server.anonymous('/', {
        headers: accepted === undefined ? {} : { 'accept-language': accepted },
      })
      expect(answer.headers.get('vary')).toContain('accept-language')
      return /<html lang="?(\w+)/.exec(await answer.text())?.[1]
    }
    expect(await languageOf('fr-FR,fr;q=0.9,en;q=0.8')).toBe('fr')
    expect(await languageOf('en-GB,en;q=0.9,fr;q=0.8')).toBe('en')
    expect(await languageOf('de,fr;q=0.4,en;q=0.3')).toBe('fr')
    expect(await languageOf('fr;q=0,en')).toBe('en')
    for (const other of ['de', '*', '', 'français', ';;q=2,,', 'frr', 'fr;q=9', `${','.repeat(5_000)}fr`]) {
      expect([other, await languageOf(other)]).toEqual([other, 'en'])
    }
  })

  test('runs no inline script, loads from its own origin only, and cannot be framed', async () => {
    for (const path of SHELLS) {
      const answer = await server.anonymous(path)
      const policy = answer.headers.get('content-security-policy') as string
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("script-src 'self';")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(/require-trusted-types-for 'script'/.test(policy)).toBe(path !== '/docs')
      expect(await answer.text()).not.toMatch(/<script(?![^>]* src=)|<style| style=| on\w+=|https?:/i)
    }
  })

  test('serves files named by content hash, cacheable forever, in the encodings that the client accepts', async () => {
    expect(ASSETS.length).toBeGreaterThan(0)
    for (const name of ASSETS) {
      const plain = await fetchRaw(`/assets/${name}`, 'identity')
      expect(plain.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      const body = Buffer.from(await plain.arrayBuffer())
      for (const encoding of ['br', 'gzip'] as const) {
        const packed = await fetchRaw(`/assets/${name}`, encoding)
        expect([name, packed.headers.get('content-encoding')]).toEqual([name, encoding])
        expect(packed.headers.get('vary')?.toLowerCase()).toContain('accept-encoding')
        expect(Buffer.from(await packed.arrayBuffer()).equals(body)).toBe(true)
      }
    }
  })

  test('is not counted against the rate limit, and is served to an address that has used its budget', async () => {
    for (let i = 0; i < 5; i++) await server.anonymous('/rubriques')
    await problemOf(await server.anonymous('/rubriques'), 'address_limited')
    for (const path of [...SHELLS, `/assets/${ASSETS[0]}`]) {
      const answer = await server.anonymous(path)
      expect([path, answer.status, answer.headers.get('ratelimit')]).toEqual([path, 200, null])
    }
  })

  test('ignores Range and sends whole files', async () => {
    const path = `/assets/${ASSETS[0]}`
    const whole = await (await server.anonymous(path)).text()
    for (const range of ['bytes=0-1', 'bytes=99999999-', 'bytes=5-1', 'bytes=', 'lines=1']) {
      const answer = await server.anonymous(path, { headers: { range } })
      expect([range, answer.status, (await answer.text()) === whole]).toEqual([range, 200, true])
    }
  })

  test('is a 304 to a client that has it', async () => {
    const { headers } = await server.anonymous('/')
    const etag = headers.get('etag') as string
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await server.anonymous('/', { headers: { 'if-none-match': tag } })
      expect([tag, again.status, await again.text()]).toEqual([tag, 304, ''])
    }
    expect((await server.anonymous('/', { headers: { 'if-none-match': '"other"' } })).status).toBe(200)
  })

  test('accepts only GET and HEAD', async () => {
    for (const path of ['/', '/p', '/p/classement', '/docs', `/assets/${ASSETS[0]}`]) {
      for (const method of METHODS.filter((each) => !['GET', 'HEAD', 'CONNECT', 'TRACE', 'TRACK'].includes(each))) {
        const answer = await server.anonymous(path, { method })
        expect([path, method, answer.headers.get('allow')]).toEqual([path, method, 'GET, HEAD'])
        await problemOf(answer, 'method_not_allowed')
      }
    }
  })

  test('leaves the paths of the API to JSON, also for a browser, and hides everything else', async () => {
    const headers = { accept: 'text/html,application/xhtml+xml', cookie: `api_key=${server.key}` }
    for (const path of ['/classement', '/challenges/1', '/openapi.json']) {
      const answer = await server.get(path, { headers })
      expect([path, answer.headers.get('content-type')]).toEqual([path, 'application/json; charset=utf-8'])
    }
    for (const path of [
      '/assets',
      '/assets/',
      '/assets/nothing.js',
      '/assets/..%2ffr.html',
      '/docs/x',
      '/fr.html',
      `/assets/${ASSETS[0]}.br`,
    ]) {
      await problemOf(await server.get(path), 'path_not_found')
    }
  })
})

/** Unlike `fetch`, this does not decompress the body. */
async function fetchRaw(path: string, encoding: 'br' | 'gzip' | 'identity') {
  const answer = await server.app.inject({ url: path, headers: { 'accept-encoding': encoding } })
  const packed = answer.rawPayload
  const bytes = encoding === 'br' ? brotliDecompressSync(packed) : encoding === 'gzip' ? gunzipSync(packed) : packed
  return { headers: new Headers(answer.headers as Record<string, string>), arrayBuffer: async () => bytes }
}
