import { afterEach, describe, expect, test } from 'vitest'
import { changeGel } from '../src/portal/settings.js'
import { portail, randomPortal } from './fixtures.js'
import {
  type DumpLine,
  type Engine,
  engines,
  exportFrom,
  importInto,
  type MadeStore,
  makeStore,
  serveStore,
  startServer,
  type TestServer,
} from './harness.js'
import { mirrorInto } from './mirroring.js'

let origin: TestServer
let copy: MadeStore

afterEach(async () => {
  await copy.close()
  await origin.close()
})

async function begin(dump: readonly DumpLine[], engine: Engine = 'sqlite'): Promise<void> {
  origin = await startServer(dump, { logLevel: 'silent' })
  copy = await makeStore(engine)
}

const pass = (settings: Parameters<typeof mirrorInto>[2] = {}) =>
  mirrorInto(copy.store, origin.url, { key: origin.key, ...settings })

/** Without the dates of scores, and paths without their leading slash, which the API does not send. */
async function expectedCopy(server: TestServer): Promise<DumpLine[]> {
  return (await exportFrom(server.store)).map(({ date_score: _, ...line }) => {
    const { url_challenge: url } = line
    return typeof url === 'string' ? { ...line, url_challenge: url.replace(/^\/+/, '') } : line
  })
}

describe.each(engines)('a mirror on %s', (engine) => {
  test('copies the whole portal, and all responses of a second pass are 304', async () => {
    await begin(portail, engine)
    const first = await pass()
    expect(await exportFrom(copy.store)).toEqual(await expectedCopy(origin))
    expect(first).toMatchObject({ isResumed: false, isStopped: false })
    expect(first.tallies.find(({ type }) => type === 'auteur')).toMatchObject({ added: 12, changed: 0, removed: 0 })

    const second = await pass()
    expect(second.tallies).toEqual([])
    expect(second.requests.requests).toBe(first.requests.requests)
    expect(second.requests.unchanged).toBe(second.requests.requests)
  })

  test('a frozen copy does not show later solves; after the end of the freeze, the next pass makes it equal again', async () => {
    await begin(portail, engine)
    await changeGel(copy.store, '2025-03-02T00:00:00Z')
    const isLate = ({ type, date }: DumpLine) => type === 'validation' && !(String(date) <= '2025-03-02T00:00:00Z')
    const late = portail.filter(isLate).length
    expect(late).toBeGreaterThan(0)
    await pass()
    const solves = async () => (await exportFrom(copy.store)).filter(({ type }) => type === 'validation')
    expect(await solves()).toEqual(
      (await expectedCopy(origin)).filter((line) => line.type === 'validation' && !isLate(line)),
    )
    await pass()
    expect(await changeGel(copy.store, undefined)).toMatchObject({ applied: late, refused: [] })
    await pass()
    expect(await exportFrom(copy.store)).toEqual(await expectedCopy(origin))
  })

  test('applies every change of the portal in the next pass, and reports it', async () => {
    await begin(portail, engine)
    await pass()
    const { url_challenge, ...first } = portail.find(({ id_challenge }) => id_challenge === 1) as DumpLine
    await importInto(origin.store, [
      { ...first, type: 'challenge', titre: 'Renommé', score: 35 },
      { type: 'challenge', id_challenge: 3, supprime: true },
      { type: 'challenge', id_challenge: 91, id_rubrique: 8, titre: 'new', score: 5, auteurs: [41] },
      { type: 'rubrique', id_rubrique: 8, nom: 'Neuve' },
      { type: 'rubrique', id_rubrique: 2, nom: 'Stégano' },
      { type: 'rubrique', id_rubrique: 7, supprime: true },
      { type: 'auteur', id_auteur: 41, nom: 'nouvelle', statut: '6forum' },
      { type: 'auteur', id_auteur: 3, nom: "O'Brien", statut: '6forum', score: 500 },
      { type: 'auteur', id_auteur: 6, supprime: true },
      { type: 'validation', id_auteur: 41, id_challenge: 91, date: '2026-01-01T00:00:00Z' },
      { type: 'validation', id_auteur: 9, id_challenge: 1, supprime: true },
      { type: 'validation', id_auteur: 10, id_challenge: 5, date: '2026-01-02T00:00:00Z' },
      { type: 'environnement_virtuel', id_environnement_virtuel: 20, supprime: true },
      { type: 'environnement_virtuel', id_environnement_virtuel: 1, nom: 'Clairière 2', os: 'BSD' },
    ])
    const { tallies } = await pass()
    expect(await exportFrom(copy.store)).toEqual(await expectedCopy(origin))
    const changes = Object.fromEntries(
      tallies.map(({ type, added, changed, removed }) => [type, [added, changed, removed]]),
    )
    expect(changes).toMatchObject({
      rubrique: [1, 1, 1],
      challenge: [1, 1, 1],
      environnement_virtuel: [0, 1, 1],
    })
    expect(changes.auteur).toEqual([1, expect.any(Number), 1])
    expect((await pass()).tallies).toEqual([])
  })

  test('equals the portal after any changes', async () => {
    await begin(randomPortal({ seed: 1, auteurs: 60, challenges: 20, validations: 200, scores: 9 }), engine)
    for (const seed of [2, 3]) {
      await pass({ connections: 3 })
      expect(await exportFrom(copy.store)).toEqual(await expectedCopy(origin))
      const dump = randomPortal({ seed, auteurs: 70 - 9 * seed, challenges: 10 + seed, validations: 200, scores: 9 })
      // The import keeps the author whose account has the key.
      await importInto(origin.store, dump, { replace: true })
    }
    await pass()
    expect(await exportFrom(copy.store)).toEqual(await expectedCopy(origin))
  })
})

test('a score that changes without a solve is reported as a change of its author', async () => {
  await begin(portail)
  await pass()
  await importInto(origin.store, [{ type: 'auteur', id_auteur: 40, nom: '日本語', score: 7 }])
  const { tallies } = await pass()
  expect(tallies).toContainEqual({ type: 'auteur', added: 0, changed: 1, removed: 0, listed: 0 })
})

test('a challenge whose score changes during a pass leaves no wrong score after the next one', async () => {
  await begin(portail)
  const { url_challenge, ...first } = portail.find(({ id_challenge }) => id_challenge === 1) as DumpLine
  let isMoved = false
  await pass({
    onProgress(step) {
      if (isMoved || step !== 'reading auteurs') return
      isMoved = true
      void importInto(origin.store, [{ ...first, type: 'challenge', score: 1_000 }])
    },
  })
  expect(isMoved).toBe(true)
  await pass()
  expect(await exportFrom(copy.store)).toEqual(await expectedCopy(origin))
})

test('a solve of a challenge that is newer than the list adds the challenge too', async () => {
  await begin(portail)
  let isThere = false
  const settings = {
    onProgress(step: string) {
      if (isThere || step !== 'listing auteurs') return
      isThere = true
      void importInto(origin.store, [
        { type: 'rubrique', id_rubrique: 9, nom: 'late' },
        { type: 'challenge', id_challenge: 500, id_rubrique: 9, titre: 'late', score: 5, auteurs: [12] },
        { type: 'validation', id_auteur: 12, id_challenge: 500, date: '2026-01-01T00:00:00Z' },
      ])
    },
  }
  await pass(settings)
  expect(isThere).toBe(true)
  expect(await exportFrom(copy.store)).toEqual(await expectedCopy(origin))
})

describe('--authors', () => {
  test('requests only the followed authors, and copies every challenge', async () => {
    await begin(portail)
    const warnings: string[] = []
    await pass({ authors: [2, 6, 999], warnings })
    const lines = await exportFrom(copy.store)
    const wanted = (await expectedCopy(origin))
      .filter(
        ({ type, id_auteur }) =>
          !['auteur', 'validation'].includes(String(type)) || [2, 6].includes(id_auteur as number),
      )
      .map((line) =>
        line.type === 'challenge'
          ? { ...line, auteurs: (line.auteurs as number[]).filter((id) => [2, 6].includes(id)) }
          : line,
      )
    expect(lines).toEqual(wanted)
    expect(warnings).toEqual(['the portal has no author 999, whom --authors names'])
  })

  test('removes authors that are no longer followed, and can return to all', async () => {
    await begin(portail)
    const followed = async () =>
      (await exportFrom(copy.store)).filter(({ type }) => type === 'auteur').map((line) => line.id_auteur)
    await pass({ authors: [2, 6] })
    expect(await followed()).toEqual([2, 6])
    await pass({ authors: [4, 6] })
    expect(await followed()).toEqual([4, 6])
    await pass({ authors: [2, 4] })
    expect(await followed()).toEqual([2, 4])
    await pass()
    expect(await exportFrom(copy.store)).toEqual(await expectedCopy(origin))
  })
})

describe('URLs of challenges', () => {
  test('below the page address of the portal are stored as paths, and others unchanged', async () => {
    await begin(portail)
    const { app, url } = await serveStore(origin.store, {
      settings: { portalUrl: 'https://portail.example/defis' },
      logLevel: 'silent',
    })
    const urls = async () =>
      Object.fromEntries(
        (await exportFrom(copy.store))
          .filter(({ type }) => type === 'challenge')
          .map((line) => [line.id_challenge, line.url_challenge]),
      )
    await mirrorInto(copy.store, url, { key: origin.key })
    expect(await urls()).toMatchObject({ 1: 'https://portail.example/defis/fr/Challenges/Reseau/Entree' })
    await mirrorInto(copy.store, url, { key: origin.key, portalUrl: 'https://portail.example/defis' })
    expect(await urls()).toMatchObject({
      1: 'fr/Challenges/Reseau/Entree',
      3: 'https://ailleurs.example/defi?x=1&y=2',
      4: undefined,
    })
    await app.close()
  })
})

describe('a store', () => {
  test('a store with a portal of its own is refused and unchanged', async () => {
    await begin(portail)
    await importInto(copy.store, [{ type: 'rubrique', id_rubrique: 1, nom: 'mine' }])
    await expect(pass()).rejects.toThrow('this store holds a portal of its own')
    expect(await exportFrom(copy.store)).toEqual([{ type: 'rubrique', id_rubrique: 1, nom: 'mine' }])
  })

  test('a store whose first mirror failed because no portal answered accepts the right address', async () => {
    await begin(portail)
    await expect(mirrorInto(copy.store, `${origin.url}/api`, { key: origin.key })).rejects.toThrow('404')
    await pass()
    expect((await exportFrom(copy.store)).length).toBeGreaterThan(10)
  })

  test('a store that is the copy of another address is refused and unchanged', async () => {
    await begin(portail)
    await pass()
    const before = await exportFrom(copy.store)
    await expect(mirrorInto(copy.store, 'http://127.0.0.1:9/api')).rejects.toThrow(
      `this store is the copy of ${origin.url}/`,
    )
    expect(await exportFrom(copy.store)).toEqual(before)
  })
})

test('a portal with an empty ranking and a hidden author is not empty', async () => {
  await begin([{ type: 'auteur', id_auteur: 1, nom: 'a', statut: '5poubelle' }])
  await pass()
  expect(await exportFrom(copy.store)).toEqual(
    [{ type: 'auteur', id_auteur: 1, nom: 'a', statut: '5poubelle' }].map((line) => ({ ...line, score: 0 })),
  )
})
