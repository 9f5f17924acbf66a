import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { addRubrique, engines, type MadeStore, makeStore, waitForChanges } from '../../test/harness.js'
import { PATIENCE } from '../../test/patience.js'
import type { JournalEntry, News, Subscriber } from './changes.js'
import { readJournal } from './journal.js'
import { openStore } from './open.js'
import type { Store } from './store.js'

const solve = (id_auteur: number): JournalEntry => ({ type: 'validation', id_auteur, id_challenge: 7 })

describe.each(engines)('a follower on %s', (engine) => {
  let made: MadeStore
  let store: Store
  /** The same store, opened as another process would. */
  let other: Store
  let news: News<JournalEntry>[]

  beforeEach(async () => {
    made = await makeStore(engine)
    store = made.store
    other = await openStore(made.url, { create: false })
    news = []
    await addRubrique(store, 'first')
  })
  afterEach(async () => {
    await other.close()
    await made.close()
  })

  const subscriber = (isInterested = true): Subscriber<JournalEntry> => ({
    isInterested,
    hear: (each) => void news.push(each),
  })
  const now = async () => (await store.versions()).donnees
  const commit = (from: Store, ...auteurs: number[]) =>
    from.write({ donnees: auteurs.map(solve) }, async () => undefined)
  const reads = () => store.state().reads.primary
  /** Each piece of news starts where the one before ended. */
  const expectNoGap = () => {
    for (const [i, { from }] of news.entries()) if (i > 0) expect(from).toBe(news[i - 1]?.to)
  }

  test('reports each change once, in commit order and without gaps, even without requests', async () => {
    const start = await now()
    await store.changes.donnees.reach(start)
    const end = store.changes.donnees.subscribe(subscriber(), { isEager: true })
    await Promise.all(Array.from({ length: 20 }, (_, i) => commit(i % 2 ? store : other, 2 * i, 2 * i + 1)))
    await waitForChanges({ store, database: made.url })
    const last = await now()
    await vi.waitFor(() => expect(store.changes.donnees.version).toBe(last), PATIENCE)
    expectNoGap()
    const lines = await store.read((db) => readJournal(db, start, 1_000))
    expect(lines).toHaveLength(40)
    expect(news.flatMap((each) => each.lines)).toEqual(lines)
    end()
    await commit(store, 1)
    await store.changes.donnees.reach(await now())
    expect(news.at(-1)?.to).toBe(last)
  })

  test('reads changes once for concurrent requests, and not at all while no subscriber needs them', async () => {
    const { donnees } = store.changes
    const end = donnees.subscribe(subscriber(false))
    await donnees.reach(await now())
    await commit(other, 1)
    await waitForChanges({ store, database: made.url })
    const before = reads()
    expect(donnees.reach(await now())).toBeUndefined()
    expect([reads() - before, news.at(-1)?.lines]).toEqual([0, undefined])
    end()
    donnees.subscribe(subscriber())
    await commit(other, 2)
    await waitForChanges({ store, database: made.url })
    const version = await now()
    await Promise.all(Array.from({ length: 20 }, () => donnees.reach(version)))
    expect(reads() - before).toBe(1)
    expect(news.at(-1)?.lines).toMatchObject([solve(2)])
    expectNoGap()
  })

  test('reports that a version went back, without lines, and continues from there', async () => {
    await store.changes.donnees.reach(await now())
    const kept = await now()
    await commit(store, 1)
    store.changes.donnees.subscribe(subscriber(), { isEager: true })
    await store.changes.donnees.reach(await now())
    const lost = await now()
    expect(news).toMatchObject([{ from: kept, to: lost, lines: [solve(1)] }])
    await other.write({}, async (db) => {
      await db.exec('delete from journal where curseur > ?', kept)
      await db.exec('update etat set version_donnees = ?', kept)
    })
    await vi.waitFor(() => expect(news.at(-1)).toEqual({ from: lost, to: kept, lines: undefined }), PATIENCE)
    await commit(other, 2)
    await vi.waitFor(() => expect(news.at(-1)).toMatchObject({ from: kept, lines: [solve(2)] }), PATIENCE)
    expectNoGap()
  })

  test('reports many changes at once without lines', async () => {
    const { donnees } = store.changes
    donnees.subscribe(subscriber())
    await donnees.reach(await now())
    await commit(store, ...Array.from({ length: 3_000 }, (_, i) => i + 1))
    await donnees.reach(await now())
    expect(news.at(-1)).toMatchObject({ to: await now(), lines: undefined })
    expectNoGap()
  })

  test('reports which credentials ended, separately from the data', async () => {
    const { comptes, donnees } = store.changes
    const ended: (readonly string[] | undefined)[] = []
    comptes.subscribe({ isInterested: true, hear: ({ lines }) => void ended.push(lines) })
    await comptes.reach((await store.versions()).comptes)
    const before = donnees.version
    for (const change of [['a', 'b'], ['c'], true] as const) {
      await other.write({ comptes: change }, async () => undefined)
      await waitForChanges({ store, database: made.url })
      await comptes.reach((await store.versions()).comptes)
    }
    expect(ended.slice(-3)).toEqual([['a', 'b'], ['c'], undefined])
    expect(donnees.version).toBe(before)
  })
})
