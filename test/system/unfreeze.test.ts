import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { checkPortal } from '../../src/portal/check.js'
import { changeGel } from '../../src/portal/settings.js'
import { openStore } from '../../src/store/open.js'
import type { Store } from '../../src/store/store.js'
import { type DumpLine, engines, importInto, makeFolder, makePlace } from '../harness.js'
import { palmares, start } from '../palmares.js'

const GEL = '2026-01-31T12:00:00Z'
const [AUTEURS, CHALLENGES] = [400, 30]

const PORTAL: DumpLine[] = [
  { type: 'rubrique', id_rubrique: 1, nom: 'r' },
  ...Array.from({ length: AUTEURS }, (_, i) => ({ type: 'auteur', id_auteur: i + 1, nom: `n${i}` })),
  ...Array.from({ length: CHALLENGES }, (_, i) => ({
    ...{ type: 'challenge', id_challenge: i + 1, id_rubrique: 1 },
    ...{ titre: 'c', score: i },
  })),
  { type: 'validation', id_auteur: 1, id_challenge: 2, date: '2026-01-01T00:00:00Z' },
]
const LATE: DumpLine[] = Array.from({ length: AUTEURS * CHALLENGES - 1 }, (_, i) => ({
  ...{ type: 'validation', id_auteur: 1 + ((i + 2) % AUTEURS), id_challenge: 1 + Math.floor(i / AUTEURS) },
  date: `2026-01-31T${13 + (i % 10)}:00:00Z`,
}))

describe.each(engines)('the end of a freeze with many validations on %s', (engine) => {
  const folder = makeFolder()
  let place: { url: string; remove(): unknown }
  let store: Store
  beforeEach(async () => {
    place = await makePlace(engine)
    store = await openStore(place.url, { create: true })
    await importInto(store, PORTAL)
    await changeGel(store, GEL)
    await importInto(store, LATE)
  })
  afterEach(async () => {
    await store.close()
    await place.remove()
  })

  const counts = () =>
    store.read(async (db) => {
      const [row] = await db.select<Record<string, number>>(
        `select (select count(*) from validations) as shown, (select count(*) from validations_gelees) as frozen,
         (select count(*) from reglages where nom = 'gel') as settings, (select sum(nb_validations) from challenges) as counted`,
      )
      return Object.fromEntries(Object.entries(row!).map(([name, value]) => [name, Number(value)]))
    })
  const expectSound = async () =>
    expect((await checkPortal(store)).findings.flatMap(({ faults }) => faults)).toEqual([])

  test('a process that is killed during it leaves all of it or nothing, and the next one completes it', async () => {
    const before = await counts()
    const { frozen, shown } = before as { frozen: number; shown: number }
    const after = { shown: shown + frozen, frozen: 0, settings: 0, counted: shown + frozen }
    expect(frozen).toBeGreaterThan(10_000)
    let interrupted = 0
    // Each process gets more time, so that some are killed in the transaction, until one completes it.
    for (let milliseconds = 100; ; milliseconds *= 1.25) {
      const child = start(['settings', 'unset', 'gel', '--database', place.url], { cwd: folder })
      const ended = new Promise((resolve) => child.on('close', resolve))
      await Promise.race([ended, sleep(milliseconds)])
      child.kill('SIGKILL')
      await ended
      const found = await counts()
      if (child.exitCode === 0) break
      interrupted++
      expect([before, after]).toContainEqual(found)
      if (found.settings === 0) break
    }
    expect(interrupted).toBeGreaterThan(0)
    const last = await palmares(['settings', 'unset', 'gel', '--database', place.url], { cwd: folder })
    expect(last).toMatchObject({ status: 0, stderr: '' })
    expect(await counts()).toEqual(after)
    await expectSound()
  })

  test('it takes longer than a live batch may, in one change', async () => {
    const clock = performance.now.bind(performance)
    const { donnees } = await store.versions()
    const faster = vi.spyOn(performance, 'now').mockImplementation(() => clock() * 1_000)
    try {
      expect(await changeGel(store, undefined)).toMatchObject({ applied: LATE.length - 1, known: 0, refused: [] })
    } finally {
      faster.mockRestore()
    }
    const lines = await store.read((db) =>
      db.select<{ type: string; nb: number }>(
        'select type, count(*) as nb from journal where curseur > ? group by type order by type',
        donnees,
      ),
    )
    expect(lines.map(({ type, nb }) => [type, Number(nb)])).toEqual([
      ['classement', 1],
      ['portail', 1],
      ['validation', LATE.length - 1],
    ])
    await expectSound()
  })
})
