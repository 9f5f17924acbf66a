import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { failure, fakeDialect } from './fake-dialect.js'
import { portail, randomPortal } from './fixtures.js'
import { altered, type Front, json, startFront } from './front.js'
import { type DumpLine, exportFrom, importInto, type MadeStore, makeStore, startServer } from './harness.js'
import { makeClock, mirrorInto } from './mirroring.js'

const portal = { lines: [] as DumpLine[], hasTags: true }
let front: Front
let copy: MadeStore

beforeEach(async () => {
  portal.lines = []
  portal.hasTags = true
  front = await startFront(fakeDialect(portal))
  copy = await makeStore()
})

afterEach(async () => {
  await front.close()
  await copy.close()
})

const pass = (settings: Parameters<typeof mirrorInto>[2] = {}) =>
  mirrorInto(copy.store, front.url, { clock: makeClock(), ...settings })

/** A dump as a store exports it, with computed scores. */
async function normalised(lines: readonly DumpLine[]): Promise<DumpLine[]> {
  const { store, close } = await makeStore()
  await importInto(store, lines)
  const exported = await exportFrom(store)
  await close()
  return exported
}

/** Removes what the dialect cannot express. */
function withoutUnsupported(lines: DumpLine[]): DumpLine[] {
  const used = new Set(lines.filter(({ type }) => type === 'challenge').map(({ id_rubrique }) => id_rubrique))
  return lines
    .filter(({ type, id_rubrique }) => type !== 'rubrique' || used.has(id_rubrique))
    .map(({ descriptif, ...line }) => {
      const { lang, statut, groupe, date_score, ...rest } = line
      if (line.type === 'auteur') return statut === undefined ? rest : { ...rest, statut }
      if (line.type === 'environnement_virtuel') return rest
      const { url_challenge: url } = line
      return typeof url === 'string' ? { ...line, url_challenge: url.replace(/^\/+/, '') } : line
    })
}

test.each([true, false])(
  'a mirror of the dialect contains everything that the dialect has (tags: %s)',
  async (hasTags) => {
    portal.hasTags = hasTags
    portal.lines = await normalised(portail)
    const first = await pass()
    expect(await exportFrom(copy.store)).toEqual(withoutUnsupported(portal.lines))
    const second = await pass()
    expect(second.tallies).toEqual([])
    expect(second.requests.unchanged).toBe(hasTags ? first.requests.requests : 0)
  },
)

test('a mirror of the dialect follows every change of the portal, over many pages', async () => {
  for (const seed of [5, 6]) {
    const dump = randomPortal({ seed, auteurs: 160 - seed, challenges: 60 - 3 * seed, validations: 400, scores: 9 })
    portal.lines = await normalised(dump)
    await pass()
    expect(await exportFrom(copy.store)).toEqual(withoutUnsupported(portal.lines))
  }
  expect(front.asked.filter(({ path }) => path.includes('debut_auteurs=')).map(({ path }) => path)).toEqual(
    Array(2).fill(['/auteurs?debut_auteurs=50', '/auteurs?debut_auteurs=100', '/auteurs?debut_auteurs=150']).flat(),
  )
})

test('a language that only the list contains is updated even if the challenge is unchanged', async () => {
  portal.lines = await normalised(portail)
  await pass()
  portal.lines = portal.lines.map((line) =>
    line.id_challenge === 2 && line.type === 'challenge' ? { ...line, lang: 'zh' } : line,
  )
  expect((await pass()).tallies).toContainEqual({ type: 'challenge', added: 0, changed: 1, removed: 0, listed: 0 })
  expect(await exportFrom(copy.store)).toEqual(withoutUnsupported(portal.lines))
})

test('an empty portal of the dialect is distinguished from an error', async () => {
  await expect(pass()).rejects.toThrow('has nothing to copy')
  expect(await exportFrom(copy.store)).toEqual([])
  front.fault = () => failure(403)
  await expect(pass()).rejects.toThrow(/^\/classement\?limite=1: it answered 403 .*: the portal refuses the key$/)
})

describe('faults of the dialect', () => {
  test.each([
    [
      'a next page on another host',
      '/auteurs',
      () => json([{}, { rel: 'next', href: 'http://ailleurs.example/auteurs?debut_auteurs=50' }]),
      /the next page is at http:\/\/ailleurs\.example/,
    ],
    [
      'a next page that is the current one',
      '/auteurs',
      () => json([{}, { rel: 'next', href: '/auteurs?debut_auteurs=0' }]),
      /leads in a circle/,
    ],
    [
      'a page of the contract',
      '/auteurs',
      () => json({ '0': { id_auteur: '1', nom: 'a' } }),
      /^\/auteurs: the body must be array$/,
    ],
    [
      'an error with status 200',
      '/auteurs/9',
      () => json([{ error: { code: 500 } }]),
      /^\/auteurs\/9: id_auteur|^\/auteurs\/9: the body must have required properties/,
    ],
    [
      'a score that is not a number',
      '/auteurs/9',
      (usual: never) => altered(usual, (body: object) => ({ ...body, score: 'many' })),
      /^\/auteurs\/9: score must be a whole number$/,
    ],
    [
      'an invalid date',
      '/challenges/1',
      (usual: never) => altered(usual, ([body]: [object]) => [{ ...body, date_publication: '2026-02-30 12:00:00' }]),
      /^\/challenges\/1: date_publication must be a date and time/,
    ],
  ])('%s is reported, and leaves its record unchanged', async (_, path, fault, message) => {
    portal.hasTags = false
    portal.lines = await normalised(portail)
    await pass()
    const before = await exportFrom(copy.store)
    portal.lines = portal.lines.map((line) => (line.type === 'challenge' ? { ...line, titre: 'renamed' } : line))
    front.fault = (asked, usual) => (asked.path === path ? fault(usual as never) : usual())
    const warnings: string[] = []
    const failure = await pass({ warnings }).then(
      () => undefined,
      (error: Error) => error.message,
    )
    const isOfList = path === '/auteurs'
    expect(isOfList ? [failure] : warnings).toEqual([expect.stringMatching(message)])
    const isAffected = ({ type, id_auteur, id_challenge }: DumpLine) =>
      isOfList || (path === '/auteurs/9' ? id_auteur === 9 : type === 'challenge' && id_challenge === 1)
    expect((await exportFrom(copy.store)).filter(isAffected)).toEqual(before.filter(isAffected))
  })
})

/** Against the dialect of this server, if it is enabled. */
test('a mirror of the dialect of Palmarès has the whole portal', async ({ skip }) => {
  const origin = await startServer(portail, { logLevel: 'silent' })
  const { status } = await origin.get('/rootme/classement')
  if (status !== 200) {
    await origin.close()
    console.warn(`skipped: GET /rootme/classement answers ${status}, so there is no dialect to mirror`)
    skip()
  }
  await mirrorInto(copy.store, `${origin.url}/rootme`, { key: origin.key })
  expect(await exportFrom(copy.store)).toEqual(withoutUnsupported(await exportFrom(origin.store)))
  await origin.close()
})
