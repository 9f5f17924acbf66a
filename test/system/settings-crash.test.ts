import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateLines } from '../../bench/generate.js'
import { checkPortal } from '../../src/portal/check.js'
import { changeSetting } from '../../src/portal/settings.js'
import { openStore } from '../../src/store/open.js'
import { readSetting } from '../../src/store/settings.js'
import type { Db, Store } from '../../src/store/store.js'
import { engines, importInto, makeFolder, makePlace } from '../harness.js'
import { start } from '../palmares.js'

/** Enough authors for a SQLite store that is rebuilt beside the old tables. */
const AUTHORS = Number(process.env.REBUILD_AUTHORS ?? 12_000)
/** Each process gets so many times the time of the one before, until one completes the change. */
const GROWTH = Number(process.env.REBUILD_GROWTH ?? 1.5)
const FIRST_MILLISECONDS = 300

describe.each(engines)('a change of the tie-break that is killed, on %s,', (engine) => {
  const folder = makeFolder()
  let place: { url: string; remove(): unknown }
  let store: Store
  /** What each setting looks like, in numbers that any unfinished change would alter. */
  const whole = new Map<string, string>()

  beforeAll(async () => {
    place = await makePlace(engine)
    // Opened as a command opens it: its statements have no time limit.
    store = await openStore(place.url, { create: true })
    await importInto(store, `${[...generateLines(AUTHORS)].join('\n')}\n`)
    for (const departage of ['date', 'aucun'] as const) {
      await changeSetting(store, 'departage', departage)
      whole.set(departage, await store.read(numbersOf))
    }
  })
  afterAll(async () => {
    await store.close()
    await place.remove()
  })

  test('leaves one ranking or the other, whole, and readers see nothing else meanwhile', async () => {
    let killed = 0
    for (let milliseconds = FIRST_MILLISECONDS; ; milliseconds *= GROWTH) {
      const child = start(['settings', 'set', 'departage', 'date', '--database', place.url], { cwd: folder })
      const closed = new Promise((resolve) => child.on('close', resolve))
      for (const end = Date.now() + milliseconds; Date.now() < end && child.exitCode === null; ) {
        expect([...whole.values()]).toContain(await store.read(numbersOf))
        await sleep(100)
      }
      child.kill('SIGKILL')
      await closed
      const departage = await store.read((db) => readSetting(db, 'departage'))
      expect(await store.read(numbersOf)).toBe(whole.get(departage))
      if (departage === 'date') break
      killed++
    }
    expect(killed).toBeGreaterThan(0)
    if (process.env.REBUILD_GROWTH) console.log(`${engine}: killed ${killed} times`)
    expect((await checkPortal(store)).findings.flatMap(({ faults }) => faults)).toEqual([])
    // The next change goes through, and removes what the killed ones left.
    await changeSetting(store, 'departage', 'aucun')
    expect(await store.read(numbersOf)).toBe(whole.get('aucun'))
  })
})

async function numbersOf(db: Db): Promise<string> {
  const departage = await readSetting(db, 'departage')
  const [auteurs] = await db.select('select sum(date_classement) as dates, count(*) as nb from auteurs')
  const [parts] = await db.select('select sum(date) as dates, count(*) as nb from classements')
  const [nodes] = await db.select(
    "select sum(case when id > 0 then date end) as dates, sum(id) as ids, sum(nb) as nb from noeuds where arbre like 'class%'",
  )
  return JSON.stringify([departage, auteurs, parts, nodes])
}
