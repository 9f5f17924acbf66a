import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DEFAULT_BOUNDS } from '../parameters.js'
import { readAsked, readId, rewriteUrl } from './query.js'
import { filters } from './routes.js'

const read = (text: string) => readAsked(text, filters.challenges, 'debut_challenges', DEFAULT_BOUNDS)

test.each([
  ['/rootme/auteurs/1%', '/rootme/auteurs/1%25'],
  ['/rootme/auteurs/1%zz%4', '/rootme/auteurs/1%25zz%254'],
  ['/rootme/auteurs/%E9%2F', '/rootme/auteurs/%C3%A9%2F'],
  ['/rootme/auteurs/%C3%A9', '/rootme/auteurs/%C3%A9'],
  ['//rootme//auteurs?nom=%', '/rootme/auteurs?nom=%'],
  ['http://a.example/rootme/%?x', '/rootme/%25?x'],
  ['/rootme/..', '/rootme'],
  ['/rootme/x/%2E%2e/challenges?titre=..', '/rootme/challenges?titre=..'],
  ['/rootme/..%2Fauteurs', '/rootme/..%2Fauteurs'],
  ['/rootme/.../...%2e', '/rootme/.../....'],
])('an address of the dialect is rewritten for the router: %s', (given, rewritten) => {
  expect(rewriteUrl(given)).toBe(rewritten)
})

test.each([
  ['/', '/rootme'],
  ['/?lang=fr', '/rootme?lang=fr'],
  ['//auteurs/2%', '/rootme/auteurs/2%25'],
  ['/rootme/auteurs', '/rootme/rootme/auteurs'],
  ['/../../auteurs', '/rootme/auteurs'],
  ['/health', '/rootme/health'],
  ['/healthy/live', '/rootme/healthy/live'],
  ['/x/../health/live', '/rootme/health/live'],
  ['http://rm.example', '/rootme'],
  ['http://rm.example/auteurs?x', '/rootme/auteurs?x'],
  ['/health/live', '/health/live'],
  ['//health//ready/', '//health//ready/'],
  ['http://rm.example/health/live', 'http://rm.example/health/live'],
])('with the dialect at the root, every address but the probes is rewritten: %s', (given, rewritten) => {
  expect(rewriteUrl(given, true)).toBe(rewritten)
})

test.each(['/auteurs/%', '//auteurs', '/rootmes/%', '/p/rootme/%', '/%', '*', '/?x=/rootme/%', '/ROOTME/%'])(
  'any other address is unchanged: %s',
  (address) => {
    expect(rewriteUrl(address)).toBe(address)
  },
)

test('a rewritten path is always percent-encoded UTF-8', () => {
  const anyPath = fc.string({ unit: fc.constantFrom('%', '2', 'F', 'e', '9', 'C3%A9', 'é', '/', 'x', '+', '.', '%2E') })
  fc.assert(
    fc.property(anyPath, (path) => {
      const rewritten = rewriteUrl(`/rootme/${path}`)
      expect(() => decodeURIComponent(rewritten)).not.toThrow()
      expect(rewriteUrl(rewritten)).toBe(rewritten)
      expect(rewritten).toMatch(/^\/rootme(\/|$)/)
      expect(rewritten.split('/')).not.toContain('..')
    }),
  )
})

test('no query is refused for its encoding', () => {
  const anyText = fc.string({ unit: fc.constantFrom('%', '0', 'A', 'f', 'é', '=', '&', '+', '[', ']', 'titre') })
  fc.assert(
    fc.property(anyText, (text) => {
      expect(read(`zzz=${text}`).debut).toBe(0)
    }),
  )
})

test.each([
  ['titre=100%', '100%'],
  ['titre=%E9toile', 'etoile'],
  ['titre=%C3%A9toile', 'etoile'],
  ['titre=\xc3\xa9toile', 'etoile'],
  ['titre=a+b%2B', 'a b+'],
  ['titre=a&titre=b', 'b'],
])('a filter is read in any encoding: %s', (text, titre) => {
  expect(read(text).values.titre).toBe(titre)
})

test.each([
  ['', 0],
  ['50', 50],
  ['050', 50],
  [' 50"', 50],
  ['50.9', 50],
  ['abc', 0],
  ['.5', 0],
  ['Infinity', 0],
  ['1e3', 1],
  ['-50', 0],
  ['9'.repeat(400), Number.MAX_SAFE_INTEGER],
])('an offset is read as PHP reads numbers: %j', (text, row) => {
  expect(read(`debut_challenges=7&debut_challenges=${text}`).debut).toBe(row)
})

test.each([
  ['123', 123],
  ['0123', 123],
  ['123"', 123],
  ['123/x', 123],
  ['+5', 5],
  ['0', undefined],
  ['-1', undefined],
  ['x1', undefined],
  ['', undefined],
  ['9007199254740993', undefined],
])('an id is the leading digits of a path: %j', (text, id) => {
  expect(readId(text)).toBe(id)
})
