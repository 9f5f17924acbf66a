import { type ChildProcess, spawn } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { EVERYTHING } from '../../src/store/journal.js'
import { openStore } from '../../src/store/open.js'
import { openDriver } from '../../src/store/sqlite/driver.js'
import type { Store } from '../../src/store/store.js'
import { addRubrique, importInto, makeFolder, rubriques } from '../harness.js'
import { palmares } from '../palmares.js'

let folder: string
let file: string
let url: string
let store: Store
const children: ChildProcess[] = []

beforeEach(async () => {
  folder = makeFolder()
  file = join(folder, 'portal.db')
  url = `sqlite:${file}`
  store = await openStore(url, { create: true })
})

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

describe('read', () => {
  test('sees one version of the data, whatever another process writes meanwhile', async () => {
    await addRubrique(store, 'before')
    await store.read(async (db) => {
      expect(await rubriques(db)).toEqual(['before'])
      await otherProcess(`db.exec("insert into rubriques (id_rubrique, nom) values (77, 'other')")`)
      expect(await rubriques(db)).toEqual(['before'])
    })
    expect(await store.read(rubriques)).toEqual(['before', 'other'])
  })

  test('never waits for a writer: twenty reads are answered while another process has the write lock', async () => {
    const holder = await takeLock(['begin immediate'])
    const answers = await Promise.all(Array.from({ length: 20 }, () => store.read(rubriques)))
    expect(answers).toEqual(answers.map(() => []))
    await holder.release()
  })

  test('may not write', async () => {
    const writing = store.read((db) => db.exec("insert into rubriques (id_rubrique, nom) values (1, 'x')"))
    await expect(writing).rejects.toMatchObject({ fault: 'readonly' })
  })
})

test('a write waits for a writer in another process, and continues when that has finished', async () => {
  const holder = await takeLock(['begin immediate'])
  const writing = addRubrique(store, 'waited')
  await holder.release()
  await writing
  expect(await store.read(rubriques)).toEqual(['waited'])
})

test('versions includes the commit of another process at once, and each change adds one', async () => {
  const before = await store.versions()
  await otherProcess('db.exec("update etat set version_donnees = version_donnees + 1")')
  expect(await store.versions()).toEqual({ ...before, donnees: before.donnees + 1 })
  await store.write({ donnees: EVERYTHING, comptes: true }, async () => undefined)
  expect(await store.versions()).toEqual({ donnees: before.donnees + 2, comptes: before.comptes + 1 })
})

describe('backup', () => {
  test('the backup of a live store has one version of it, while another process keeps writing', async () => {
    await addRubrique(store, 'r')
    const writer = inOtherProcess(`
      for (let i = 2; ; i++) {
        db.exec('begin immediate')
        db.exec("insert into rubriques (id_rubrique, nom) values (" + i + ", 'r')")
        db.exec('update etat set version_donnees = version_donnees + 1')
        db.exec('commit')
        console.log(i)
      }`)
    await firstOutput(writer)
    for (let i = 0; i < 5; i++) {
      await store.backup(join(folder, `copy-${i}.db`))
      const copy = await openStore(`sqlite:${join(folder, `copy-${i}.db`)}`, { create: false })
      const count = (await copy.read(rubriques)).length
      expect((await copy.versions()).donnees).toBe(count + 1)
      expect(await copy.verify()).toEqual([])
      await copy.close()
    }
  })

  test('a backup is a store whose readers and writers do not wait for each other', async () => {
    const copyFile = join(folder, 'copy.db')
    await store.backup(copyFile)
    const copy = await openStore(`sqlite:${copyFile}`, { create: false })
    await copy.read(async (db) => {
      await rubriques(db)
      await copy.write({ donnees: EVERYTHING }, async () => undefined)
    })
    await copy.close()
    expect(statSync(copyFile).mode & 0o777).toBe(0o600)
  })

  test('a backup overwrites no file', async () => {
    writeFileSync(join(folder, 'mine'), 'precious')
    await expect(store.backup(join(folder, 'mine'))).rejects.toMatchObject({ fault: 'unreachable' })
    expect(statSync(join(folder, 'mine')).size).toBe(8)
  })
})

describe('a file that is not a store is refused and unchanged:', () => {
  const sqlite = (name: string, sql: string) => {
    const db = openDriver(join(folder, name), { busyTimeoutMilliseconds: 0 })
    db.exec(sql)
    db.close()
  }
  test.each<[string, string, (name: string) => void]>([
    ['garbage', 'foreign', (name) => writeFileSync(join(folder, name), 'x'.repeat(10_000))],
    ['two bytes', 'foreign', (name) => writeFileSync(join(folder, name), 'xx')],
    ['a dump', 'foreign', (name) => writeFileSync(join(folder, name), '{"type":"auteur","id_auteur":1,"nom":"a"}\n')],
    ['another SQLite database', 'foreign', (name) => sqlite(name, 'create table t (x)')],
    [
      'a database of another program with a version',
      'foreign',
      (name) => sqlite(name, 'create table t (x); pragma user_version = 1'),
    ],
    ['a newer schema', 'newer', (name) => copyWith(name, 'pragma user_version = 999')],
    ['a folder', 'unreachable', (name) => mkdirSync(join(folder, name))],
  ])('%s', async (_, fault, make) => {
    make('strange')
    const path = join(folder, 'strange')
    const before = statSync(path)
    for (const create of [true, false]) {
      await expect(openStore(`sqlite:${path}`, { create })).rejects.toMatchObject({ fault, message: oneLine(path) })
    }
    expect([statSync(path).size, statSync(path).mtimeMs]).toEqual([before.size, before.mtimeMs])
  })

  test('a missing file, unless creation is requested', async () => {
    const opening = openStore(`sqlite:${join(folder, 'none', 'none.db')}`, { create: false })
    await expect(opening).rejects.toMatchObject({ fault: 'missing' })
  })

  test('an empty file becomes a store if creation is requested, and is refused otherwise', async () => {
    writeFileSync(join(folder, 'empty.db'), '')
    const empty = `sqlite:${join(folder, 'empty.db')}`
    await expect(openStore(empty, { create: false })).rejects.toMatchObject({ fault: 'older' })
    await (await openStore(empty, { create: true })).close()
    await (await openStore(empty, { create: false })).close()
  })
})

describe('a file without WAL mode, such as a copy made by `vacuum into`', () => {
  test('gets WAL mode when it is opened, by a command or by serve: a write does not wait for a snapshot', async () => {
    for (const [name, create] of [
      ['copied.db', true],
      ['copied-too.db', false],
    ] as const) {
      copyWith(name, '')
      const serving = { log: console, connections: 1, timeoutSeconds: 1 }
      const copy = await openStore(`sqlite:${join(folder, name)}`, create ? { create, serving } : { create })
      try {
        const seen = await copy.read(async (db) => {
          const before = await rubriques(db)
          await addRubrique(copy, 'added')
          return [before, await rubriques(db)]
        })
        expect(seen).toEqual([[], []])
        expect(await copy.read(rubriques)).toEqual(['added'])
      } finally {
        await copy.close()
      }
    }
  })

  test('is refused with the reason if another process prevents the change', async () => {
    copyWith('in-use.db', '')
    const holder = await takeLock(['begin', 'select * from etat'], join(folder, 'in-use.db'))
    for (const args of [['export'], ['serve', '--port', '0']]) {
      const { status, stderr } = await palmares([...args, '--database', 'sqlite:in-use.db'], { cwd: folder })
      expect([status, stderr]).toEqual([
        1,
        expect.stringMatching(
          /^error: [^\n]*in-use\.db: [^\n]*not in WAL mode[^\n]*locked by another process[^\n]*\n$/,
        ),
      ])
    }
    await holder.release()
  })

  test.runIf(process.getuid?.() === 0)('is refused with the reason to a user who may not write it', async () => {
    chmodSync(folder, 0o755)
    copyWith('read-only.db', '')
    chmodSync(join(folder, 'read-only.db'), 0o644)
    const run = await palmares(['serve', '--port', '0', '--database', 'sqlite:read-only.db'], {
      cwd: folder,
      uid: 65_534,
    })
    expect(run).toMatchObject({
      ...{ status: 1, stderr: expect.stringMatching(/^error: [^\n]*not in WAL mode[^\n]*writable[^\n]*\n$/) },
    })
  })
})

describe('the operator gets one line, with status 1, about', () => {
  test('an overwritten page, from check', async () => {
    await importInto(
      store,
      Array.from({ length: 3_000 }, (_, i) => ({ type: 'auteur', id_auteur: i + 1, nom: `name ${i}`, score: i })),
    )
    await store.backup(join(folder, 'broken.db'))
    const size = statSync(join(folder, 'broken.db')).size
    for (const part of [0.3, 0.5, 0.7]) {
      copyFileSync(join(folder, 'broken.db'), join(folder, 'worse.db'))
      const descriptor = openSync(join(folder, 'worse.db'), 'r+')
      writeSync(descriptor, Buffer.alloc(8_192, 0xa5), 0, 8_192, Math.floor((size * part) / 4_096) * 4_096)
      closeSync(descriptor)
      const check = await palmares(['check', '--database', 'sqlite:worse.db'], { cwd: folder })
      expect(check).toMatchObject({
        status: 1,
        stderr: expect.stringMatching(
          /^(checking [^\n]*\n)*error: [^\n]*restore a (backup|copy made by `palmares backup`)[^\n]*\n$/,
        ),
      })
    }
  })

  test('a store that another process has locked exclusively', async () => {
    const locked = 'sqlite:locked.db'
    await palmares(['migrate', '--database', locked], { cwd: folder })
    const holder = await takeLock(
      ['pragma locking_mode = exclusive', 'begin exclusive', 'delete from noeuds'],
      join(folder, 'locked.db'),
    )
    for (const args of [['export'], ['check'], ['migrate']]) {
      const { status, stdout, stderr } = await palmares([...args, '--database', locked], { cwd: folder })
      expect([status, stdout]).toEqual([1, ''])
      expect(stderr).toMatch(/^error: [^\n]*: the store is locked by another process; [^\n]*\n$/)
    }
    await holder.release()
  })

  test.runIf(process.getuid?.() === 0)('a file or a folder that the user may not write', async () => {
    await importInto(store, [{ type: 'auteur', id_auteur: 1, nom: 'a' }])
    await store.close()
    chmodSync(folder, 0o755)
    chmodSync(file, 0o644)
    const nobody = { cwd: folder, uid: 65_534 }
    const line = /^error: [^\n]*portal\.db: [^\n]*(writable|may use it)[^\n]*\n$/
    const [making, ...runs] = await Promise.all([
      palmares(['migrate', '--database', 'sqlite:new/new.db'], nobody),
      ...[
        ['import', '-'],
        ['check', '--repair'],
        ['accounts', 'disable', 'x'],
      ].map((args) => palmares([...args, '--database', url], nobody)),
    ])
    for (const run of runs) expect(run).toEqual({ status: 1, stdout: '', stderr: expect.stringMatching(line) })
    expect(making).toEqual({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^error: [^\n]*cannot make the store/),
    })
    chmodSync(file, 0o600)
    const reading = await palmares(['export', '--database', url], nobody)
    expect(reading).toEqual({ status: 1, stdout: '', stderr: expect.stringMatching(line) })
    store = await openStore(url, { create: false })
  })
})

function copyWith(name: string, sql: string): void {
  const db = openDriver(file, { busyTimeoutMilliseconds: 0 })
  db.prepare('vacuum into ?').run(join(folder, name))
  db.close()
  const copy = openDriver(join(folder, name), { busyTimeoutMilliseconds: 0 })
  copy.exec(sql)
  copy.close()
}

function oneLine(path: string): unknown {
  return expect.stringMatching(new RegExp(`^${path}: [^\\n]+$`))
}

/** Runs a script on its own connection in its own process. */
function inOtherProcess(script: string, path = file): ChildProcess {
  const opening = `const { DatabaseSync } = require('@photostructure/sqlite')
    const db = new DatabaseSync(${JSON.stringify(path)}, { timeout: 5000 })`
  const child = spawn(process.execPath, ['-e', `${opening}\n${script}`], { stdio: ['pipe', 'pipe', 'inherit'] })
  children.push(child)
  return child
}

async function otherProcess(script: string): Promise<void> {
  const child = inOtherProcess(`${script}\ndb.close()`)
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0)
}

/** Another process takes a lock and keeps it until `release`. */
async function takeLock(script: string[], path = file): Promise<{ release(): Promise<void> }> {
  const statements = script.map((sql) => `db.exec(${JSON.stringify(sql)})`).join('\n')
  const child = inOtherProcess(
    `${statements}
    console.log('held')
    process.stdin.on('data', () => { db.exec('rollback'); db.close(); process.exit() })`,
    path,
  )
  await firstOutput(child)
  return {
    async release() {
      const closed = new Promise<void>((resolve) => child.on('close', () => resolve()))
      child.stdin!.write('go\n')
      await closed
    },
  }
}

function firstOutput(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.stdout!.once('data', () => resolve())
    child.once('close', (status) => reject(new Error(`it ended with ${status}`)))
  })
}
