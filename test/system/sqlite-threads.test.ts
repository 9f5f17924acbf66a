import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { EVERYTHING } from '../../src/store/journal.js'
import { openDriver } from '../../src/store/sqlite/driver.js'
import { type Db, StoreError } from '../../src/store/store.js'
import { addRubrique, type MadeStore, makeStore, rubriques } from '../harness.js'
import { PATIENCE } from '../patience.js'
import { makeScript } from '../script.js'
import { turnsDuring } from '../turns.js'

let made: MadeStore
const threads: Worker[] = []
const note = (thread: Worker) => threads.push(thread)

beforeEach(async () => {
  process.on('worker', note)
  made = await makeStore()
})

afterEach(async () => {
  process.off('worker', note)
  threads.splice(0)
  await made.close()
})

const isLong = { isLong: true }
/** Far more than the messages to a thread cause. */
const MANY_TURNS = 200
/** Takes a tenth of a second, and on no machine as long as the limit of a long read. */
const WORK =
  'with recursive c(i) as (select 1 union all select i + 1 from c where i < 500000) select count(*) as nb from c'

describe('the event loop is not blocked by', () => {
  test('a long read', async () => {
    const read = () => made.store.read((db) => db.select<{ nb: number }>(WORK), isLong)
    expect(await read()).toEqual([{ nb: 500_000 }])
    expect(await turnsDuring(read)).toBeGreaterThan(MANY_TURNS)
  })

  test('a large write', async () => {
    await made.store.write({}, async () => undefined)
    const write = () =>
      made.store.write({ donnees: EVERYTHING }, (db) =>
        db.exec(`with recursive c(i) as (select 1 union all select i + 1 from c where i < 300000)
          insert into rubriques (id_rubrique, nom) select i, 'n' from c`),
      )
    expect(await turnsDuring(write)).toBeGreaterThan(MANY_TURNS)
  })
})

describe('a long read', () => {
  test('sees one version of the data, whatever is written meanwhile, and may not write', async () => {
    await addRubrique(made.store, 'before')
    const seen = await made.store.read(async (db, { donnees }) => {
      const first = await rubriques(db)
      await addRubrique(made.store, 'after')
      return [donnees, first, await rubriques(db)]
    }, isLong)
    expect(seen).toEqual([(await made.store.versions()).donnees - 1, ['before'], ['before']])
    const writing = made.store.read((db) => db.exec("insert into rubriques (id_rubrique, nom) values (9, 'x')"), isLong)
    await expect(writing).rejects.toMatchObject({ name: 'StoreError', fault: 'readonly' })
    expect(await made.store.read(rubriques, isLong)).toEqual(['before', 'after'])
  })

  test('starts at most two threads, when they are first needed', async () => {
    await made.store.read(rubriques)
    expect(threads).toHaveLength(0)
    await Promise.all(Array.from({ length: 10 }, () => made.store.read(rubriques, isLong)))
    expect(threads).toHaveLength(2)
  })

  test('a long read past its time limit fails, and its thread serves the next one', async () => {
    let asked: unknown
    const reading = made.store.read(async (db) => {
      await sleep(2_100)
      asked = await rubriques(db).catch((error) => error)
    }, isLong)
    await expect(reading).rejects.toMatchObject({ name: 'StoreError', fault: 'slow' })
    await vi.waitFor(() => expect(asked).toMatchObject({ fault: 'slow' }), PATIENCE)
    expect(await made.store.read(rubriques, isLong)).toEqual([])
    expect(threads).toHaveLength(1)
  })

  test('a value that cannot be sent to the thread fails alone, and later queries get their own results', async () => {
    const answers = await made.store.read(async (db) => {
      const unsent = db.select('select ? as n', () => 0).catch((error: Error) => error.name)
      const sent = [1, 2, 3].map((n) => db.select<{ n: number }>('select ? as n', n))
      return Promise.all([unsent, ...sent])
    }, isLong)
    expect(answers).toEqual(['DataCloneError', [{ n: 1 }], [{ n: 2 }], [{ n: 3 }]])
  })

  test('a long read fails when its thread ends, and another thread takes its place', async () => {
    const reading = made.store.read(async (db) => {
      await rubriques(db)
      await threads[0]?.terminate()
      return rubriques(db)
    }, isLong)
    await expect(reading).rejects.toMatchObject({ name: 'StoreError', fault: 'unreachable' })
    expect(await made.store.read(rubriques, isLong)).toEqual([])
    expect(threads).toHaveLength(2)
  })
})

describe('a write in the writer thread', () => {
  test('a write that fails changes nothing, and keeps its error type', async () => {
    const before = await made.store.versions()
    const failing = (work: (db: Db) => Promise<unknown>) =>
      made.store.write({ donnees: EVERYTHING }, async (db) => {
        await db.exec("insert into rubriques (id_rubrique, nom) values (1, 'gone')")
        await work(db)
      })
    await expect(failing(() => Promise.reject(new TypeError('mine')))).rejects.toThrow(new TypeError('mine'))
    await expect(failing((db) => db.exec('insert into nowhere values (1)'))).rejects.toThrow('no such table')
    await expect(failing((db) => db.exec('insert into rubriques (nom) values (null)'))).rejects.toThrow('NOT NULL')
    expect([await made.store.read(rubriques), await made.store.versions()]).toEqual([[], before])
  })

  test('a write waits for a writer on another connection, and fails as busy if that takes too long', async () => {
    const other = openDriver(made.url.slice('sqlite:'.length), { busyTimeoutMilliseconds: 0 })
    other.exec('begin immediate')
    const writing = addRubrique(made.store, 'late').catch((error) => error)
    const error = await writing
    expect(error).toBeInstanceOf(StoreError)
    expect(error).toMatchObject({ fault: 'busy', message: expect.stringContaining('locked by another process') })
    const waiting = addRubrique(made.store, 'waited')
    await sleep(50)
    other.exec('rollback')
    other.close()
    await waiting
    expect(await made.store.read(rubriques)).toEqual(['waited'])
  })

  test('a write fails and is rolled back when its thread ends, and another thread takes its place', async () => {
    const writing = made.store.write({ donnees: EVERYTHING }, async (db) => {
      await db.exec("insert into rubriques (id_rubrique, nom) values (1, 'gone')")
      await threads[0]?.terminate()
      // A later statement of the same write must write nothing, least of all outside a transaction.
      await db.exec("insert into rubriques (id_rubrique, nom) values (2, 'gone')").catch(() => undefined)
    })
    await expect(writing).rejects.toMatchObject({ name: 'StoreError', fault: 'unreachable' })
    await addRubrique(made.store, 'next')
    expect(await made.store.read(rubriques)).toEqual(['next'])
  })

  test('a write is finished when the store closes, which then refuses others', async () => {
    const { store, close } = await makeStore()
    const writing = addRubrique(store, 'last').then(() => store.read(rubriques))
    const long = store.read((db) => db.select<{ nb: number }>(WORK), isLong)
    await writing
    await close()
    expect(await long).toEqual([{ nb: 500_000 }])
    await expect(addRubrique(store, 'after')).rejects.toMatchObject({ fault: 'unreachable' })
    await expect(store.read(rubriques, isLong)).rejects.toMatchObject({ fault: 'unreachable' })
  })
})

test('a process with store threads exits on its own, closed or not, and not before its results', async () => {
  for (const ending of ['await store.close()', '']) {
    const script = makeScript(`
      import { openStore } from './src/store/open.js'
      const serving = { log: console, connections: 1, timeoutSeconds: 1 }
      const store = await openStore(${JSON.stringify(made.url)}, { create: false, serving })
      await store.write({}, (db) => db.exec('update etat set id = 1'))
      const [row] = await store.read((db) => db.select(${JSON.stringify(WORK)}), { isLong: true })
      console.log(row.nb)
      ${ending}`)
    const child = spawn(process.execPath, [script.path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let output = ''
    child.stdout.on('data', (data) => {
      output += data
    })
    expect([await new Promise((resolve) => child.on('close', resolve)), output]).toEqual([0, '500000\n'])
    script.remove()
  }
})
