import { spawn } from 'node:child_process'
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { generateLines } from '../../bench/generate.js'
import { checkPortal } from '../../src/portal/check.js'
import { ingest } from '../../src/portal/live/ingest.js'
import { changeGel } from '../../src/portal/settings.js'
import { EVERYTHING } from '../../src/store/journal.js'
import { openStore } from '../../src/store/open.js'
import { readSetting } from '../../src/store/settings.js'
import { type BulkLimits, bulk } from '../../src/store/sqlite/bulk.js'
import { type Driver, openDriver } from '../../src/store/sqlite/driver.js'
import type { BulkOptions, Db, Store } from '../../src/store/store.js'
import { portail } from '../fixtures.js'
import { addAccount, addKey, type DumpLine, exportFrom, importInto, makeFolder, rubriques } from '../harness.js'
import { until } from '../nodes.js'
import { palmares } from '../palmares.js'

const MEBIBYTE = 1024 * 1024

let folder: string
let file: string
let url: string
let store: Store
/** A connection of its own to the same file, which looks often. */
let viewer: Driver | undefined

beforeEach(async () => {
  folder = makeFolder()
  file = join(folder, 'portal.db')
  url = `sqlite:${file}`
  store = await openStore(url, { create: true })
})

afterEach(async () => {
  viewer?.close()
  viewer = undefined
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('a merge into new tables', () => {
  test('leaves the same portal, tables, indexes and triggers as a merge in place, even when repeated', async () => {
    const other = await openStore(`sqlite:${join(folder, 'other.db')}`, { create: true })
    for (const [auteurs, departage] of [[50], [20, 'date'], [60, 'date'], [60, 'aucun']] as const) {
      const dump = dumpOf(auteurs)
      const options = { replace: true, departage }
      const report = await importInto(aside(), dump, options)
      expect(report).toEqual(await importInto(other, dump, options))
      expect(await departageOf(store)).toBe(departage ?? 'aucun')
      expect(await exportFrom(store)).toEqual(await exportFrom(other))
      expect((await checkPortal(store)).findings.flatMap(({ faults }) => faults)).toEqual([])
    }
    expect(schemaOf(file)).toEqual(schemaOf(join(folder, 'other.db')))
    await other.close()
  })

  test('keeps concurrent changes of accounts: a new key, and the removal of an account with its author', async () => {
    await importInto(store, portail)
    for (const login of ['alice', 'bob'])
      await addAccount(store, { login, password: 'a long password', idAuteur: login === 'alice' ? 1 : 2 })
    await addKey(store, 'bob')
    let merges = 0
    const meanwhile = async () => {
      merges++
      await addKey(store, 'alice', { nom: 'meanwhile' })
    }
    await importInto(aside({ meanwhile }), [{ type: 'auteur', id_auteur: 2, supprime: true }])
    expect(merges).toBe(1)
    const [accounts, keys] = await store.read(async (db) => [
      await db.select('select login from comptes'),
      await db.select('select nom from cles_api'),
    ])
    expect([accounts, keys]).toEqual([[{ login: 'alice' }], [{ nom: 'meanwhile' }]])
  })

  test('is repeated in place if others wrote data meanwhile, and loses none of it', async () => {
    await importInto(store, portail)
    let merges = 0
    const meanwhile = async () => {
      if (++merges === 1) await addMeanwhile()
    }
    await importInto(aside({ meanwhile }), dumpOf(30))
    expect(merges).toBe(2)
    expect(await store.read(rubriques)).toContain('meanwhile')
    await expectIntact()
  })

  test('freezes late validations, and keeps those that live lines freeze meanwhile', async () => {
    const dump = dumpOf(30)
    await importInto(store, dump)
    await changeGel(store, '2020-01-01T00:00:00Z')
    const [one, other] = (await exportFrom(store)).filter(({ type }) => type === 'validation') as [DumpLine, DumpLine]
    await importInto(store, [
      { ...one, supprime: true },
      { ...other, supprime: true },
    ])
    let merges = 0
    const meanwhile = async () => {
      merges++
      const lines = [{ ...one, date: '2021-01-01T00:00:00Z' }, { ...other }]
      const results = await ingest(
        store,
        lines.map((line, i) => ({ number: i + 1, text: JSON.stringify(line) })),
      )
      expect(results.map(({ resultat }) => resultat)).toEqual(['gelee', 'gelee'])
    }
    const dated = { ...one, date: '2019-01-01T00:00:00Z' }
    await importInto(aside({ meanwhile }), [dated, { type: 'rubrique', id_rubrique: 999, nom: 'new' }])
    expect(merges).toBe(1)
    const lines = await exportFrom(store, { withGelees: true })
    expect(lines).toContainEqual(dated)
    expect(lines.filter(({ gelee }) => gelee)).toEqual([{ ...other, gelee: true }])
    await importInto(aside(), dump, { replace: true })
    expect((await exportFrom(store, { withGelees: true })).filter(({ gelee }) => gelee)).toEqual([
      { ...other, gelee: true },
    ])
    await changeGel(store, undefined)
    await expectIntact()
  })

  test('keeps the write-ahead log short, however much it writes', async () => {
    const watcher = spawn(process.execPath, ['-e', WATCH_LOG, `${file}-wal`])
    let seen = ''
    watcher.stdout.setEncoding('utf8').on('data', (text: string) => (seen += text))
    await until(() => seen !== '')
    await importInto(aside({ maxLogBytes: MEBIBYTE, cacheKib: 1024 }), dumpOf(20_000))
    watcher.stdin.end()
    await new Promise((resolve) => watcher.on('close', resolve))
    const mostBytes = Number(seen.trim().split('\n').at(-1))
    expect(mostBytes).toBeGreaterThan(MEBIBYTE)
    expect(mostBytes).toBeLessThan(4 * MEBIBYTE)
    expect(statSync(file).size).toBeGreaterThan(10 * MEBIBYTE)
    await expectIntact()
  })
})

describe('a large import by another process', () => {
  const text = dumpOf(30_000)
  let dump: string

  beforeEach(async () => {
    await importInto(store, portail)
    dump = join(folder, 'dump.ndjson')
    writeFileSync(dump, text)
  })

  test('is visible completely or not at all to readers, which continue meanwhile', async () => {
    const before = await countsOf(store)
    const importing = palmares(['import', dump, '--replace', '--database', url], { cwd: folder })
    let isOver = false
    void importing.then(() => (isOver = true))
    const seen = new Set<string>()
    while (!isOver) {
      seen.add(await countsOf(store))
      await sleep(20)
    }
    expect((await importing).status).toBe(0)
    expect([...seen, await countsOf(store)].filter((counts) => counts !== before)).toContain(await countsOf(store))
    expect(new Set([...seen, await countsOf(store)]).size).toBe(2)
    await expectIntact()
  })

  test('loses neither data nor accounts written while it fills its tables', async () => {
    await addAccount(store, { login: 'alice', password: 'a long password', idAuteur: 1 })
    const importing = palmares(['import', dump, '--database', url], { cwd: folder })
    await until(() => leftovers() > 0)
    await addKey(store, 'alice')
    await addMeanwhile()
    expect(await importing).toMatchObject({ status: 0 })
    expect(await store.read(rubriques)).toContain('meanwhile')
    expect(await store.read((db) => db.select('select nom from cles_api'))).toEqual([{ nom: 'test' }])
    await expectIntact()
  })

  test.each([
    ['while it reads', 0, 0],
    ['after it has created its tables', 1, 0],
    ['while it fills them', 1, 30],
  ])('an import killed %s leaves the portal unchanged, and the next import cleans up', async (_when, tables, delay) => {
    const before = await exportFrom(store)
    const child = spawn(process.execPath, ['dist/main.js', 'import', '-', '--database', url])
    const closed = new Promise((resolve) => child.on('close', resolve))
    // When this write ends, most of the pipe has been read. The last line is incomplete.
    await new Promise((resolve) => child.stdin.write(text.slice(0, -10), resolve))
    if (tables > 0) child.stdin.end(text.slice(-10))
    await until(() => leftovers() >= tables)
    await sleep(delay)
    child.kill('SIGKILL')
    await closed
    expect(leftovers() > 0).toBe(tables > 0)
    expect(await exportFrom(store)).toEqual(before)
    expect(await palmares(['check', '--database', url], { cwd: folder })).toMatchObject({ status: 0 })
    await importInto(store, [{ type: 'auteur', id_auteur: 99, nom: 'next' }])
    expect(await exportFrom(store)).toHaveLength(before.length + 1)
    await expectIntact()
  })
})

/** Prints the largest size of a file, whenever it grows, until standard input ends. */
const WATCH_LOG = `
  const { statSync } = require('node:fs')
  let most = -1
  setInterval(() => {
    const { size = 0 } = statSync(process.argv[1], { throwIfNoEntry: false }) ?? {}
    if (size > most) console.log((most = size))
  }, 1)
  process.stdin.on('end', () => process.exit()).resume()`

function dumpOf(auteurs: number): string {
  return `${[...generateLines(auteurs)].join('\n')}\n`
}

/** The store, whose bulks always merge into new tables. `meanwhile` runs during the merge. */
function aside({ meanwhile, ...limits }: Partial<BulkLimits> & { meanwhile?: () => Promise<void> } = {}): Store {
  const all = { isAside: () => true, maxLogBytes: MEBIBYTE, cacheKib: 1024, ...limits }
  const bulkAside: Store['bulk'] = ({ mergeData, ...options }: BulkOptions, stage, merge) => {
    const merging = async (db: Db) => {
      const isChanged = await mergeData!(db)
      await meanwhile?.()
      return isChanged
    }
    return bulk(file, { ...options, mergeData: merging }, stage, merge, all)
  }
  return new Proxy(store, { get: (target, name) => (name === 'bulk' ? bulkAside : Reflect.get(target, name, target)) })
}

function departageOf(store: Store): Promise<string> {
  return store.read((db) => readSetting(db, 'departage'))
}

/** The number of tables that imports left behind. */
function leftovers(): number {
  viewer ??= openDriver(file, { readOnly: true, busyTimeoutMilliseconds: 1_000 })
  return viewer.prepare("select name from sqlite_master where type = 'table' and name glob 'neuf_*'").all().length
}

/** The schema of a store, without the index names that imports generate. */
function schemaOf(path: string): unknown[] {
  const driver = openDriver(path, { readOnly: true, busyTimeoutMilliseconds: 1_000 })
  const rows = driver.prepare('select type, tbl_name, sql from sqlite_master').all() as object[]
  driver.close()
  return rows.map((row) => JSON.stringify(Object.values(row)).replace(/\\"|'|neuf_[0-9a-f]{8}_/g, '')).sort()
}

function countsOf(of: Store): Promise<string> {
  return of.read(async (db) =>
    JSON.stringify(
      await db.select(
        'select (select count(*) from auteurs), (select count(*) from validations), (select count(*) from noeuds)',
      ),
    ),
  )
}

/** Adds a category that no dump of these tests has. */
function addMeanwhile(): Promise<void> {
  return store.write({ donnees: EVERYTHING }, async (db) => {
    await db.exec("insert into rubriques (id_rubrique, nom) values (999, 'meanwhile')")
  })
}

async function expectIntact(): Promise<void> {
  expect((await checkPortal(store)).findings.flatMap(({ faults }) => faults)).toEqual([])
  expect(leftovers()).toBe(0)
}
