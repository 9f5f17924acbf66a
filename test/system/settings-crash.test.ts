import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateLines } from '../../bench/generate.js'
import { checkPortal } from '../../src/portal/check.js'
import { changeSetting } from '../../src/portal/settings.js'
import { readSetting } from '../../src/store/settings.js'
import type { Db } from '../../src/store/store.js'
import { engines, importInto, type MadeStore, makeStore } from '../harness.js'
import { MAIN } from '../palmares.js'

/** Enough authors for a SQLite store that is rebuilt beside the old tables. */
const AUTHORS = Number(process.env.REBUILD_AUTHORS ?? 12_000)
const KILLS = Number(process.env.REBUILD_KILLS ?? 6)

describe.each(engines)('a change of the tie-break that is killed, on %s,', (engine) => {
  let made: MadeStore
  /** What each setting looks like, in numbers that any unfinished change would alter. */
  const whole = new Map<string, string>()
  let milliseconds = 0

  beforeAll(async () => {
    made = await makeStore(engine)
    await importInto(made.store, `${[...generateLines(AUTHORS)].join('\n')}\n`)
    for (const departage of ['date', 'aucun'] as const) {
      const from = Date.now()
      await changeSetting(made.store, 'departage', departage)
      milliseconds = Math.max(milliseconds, Date.now() - from)
      whole.set(departage, await made.store.read(numbersOf))
    }
  })
  afterAll(() => made.close())

  test('leaves one ranking or the other, whole, and readers see nothing else meanwhile', async () => {
    const outcomes = { changed: 0, unchanged: 0 }
    for (let kill = 0; kill < KILLS; kill++) {
      const before = await made.store.read((db) => readSetting(db, 'departage'))
      const wanted = before === 'date' ? 'aucun' : 'date'
      const child = spawn(process.execPath, [MAIN, 'settings', 'set', 'departage', wanted, '--database', made.url], {
        stdio: 'ignore',
      })
      const closed = new Promise((resolve) => child.on('close', resolve))
      const end = Date.now() + 300 + ((kill + 1) / KILLS) * milliseconds * 1.2
      while (Date.now() < end && child.exitCode === null) {
        expect([...whole.values()]).toContain(await made.store.read(numbersOf))
        await sleep(100)
      }
      child.kill('SIGKILL')
      await closed
      const departage = await made.store.read((db) => readSetting(db, 'departage'))
      expect(await made.store.read(numbersOf)).toBe(whole.get(departage))
      outcomes[departage === wanted ? 'changed' : 'unchanged']++
    }
    expect((await checkPortal(made.store)).findings.flatMap(({ faults }) => faults)).toEqual([])
    // The next change goes through, and removes what the killed ones left.
    for (const departage of ['date', 'aucun'] as const) {
      await changeSetting(made.store, 'departage', departage)
      expect(await made.store.read(numbersOf)).toBe(whole.get(departage))
    }
    expect(outcomes.unchanged).toBeGreaterThan(0)
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
