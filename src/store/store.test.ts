import { rmSync } from 'node:fs'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeGate } from '../../test/gate.js'
import {
  addRubrique,
  engines,
  type MadeStore,
  makeFolder,
  makePlace,
  makeStore,
  rubriques,
} from '../../test/harness.js'
import { palmares } from '../../test/palmares.js'
import { EVERYTHING } from './journal.js'
import { migrations } from './migrations/index.js'
import { migrateStore, openStore } from './open.js'
import type { Db, Store } from './store.js'

describe.each(engines)('a store on %s:', (engine) => {
  let made: MadeStore
  let store: Store
  /** The same store, opened as another process would. */
  let other: Store

  beforeEach(async () => {
    made = await makeStore(engine)
    store = made.store
    other = await openStore(made.url, { create: false })
  })

  afterEach(async () => {
    await other.close()
    await made.close()
  })

  describe('a read', () => {
    test('sees one version of the data from its first query to its last, whatever is written meanwhile', async () => {
      await addRubrique(store, 'before')
      await store.read(async (db, version) => {
        expect(await rubriques(db)).toEqual(['before'])
        await addRubrique(store, 'after')
        await addRubrique(other, 'other')
        expect(await rubriques(db)).toEqual(['before'])
        expect((await store.versions()).donnees).toBeGreaterThan(version.donnees)
      })
      expect(await store.read(rubriques)).toEqual(['before', 'after', 'other'])
    })

    test('does not see an uncommitted or failed write, nor a new version', async () => {
      const before = await store.versions()
      const failing = store.write({ donnees: EVERYTHING, comptes: true }, async (db) => {
        await db.exec("insert into rubriques (id_rubrique, nom) values (1, 'x')")
        expect(await store.read(rubriques)).toEqual([])
        throw new Error('changed my mind')
      })
      await expect(failing).rejects.toThrow('changed my mind')
      expect([await store.read(rubriques), await store.versions()]).toEqual([[], before])
      expect([await other.read(rubriques), await other.versions()]).toEqual([[], before])
    })

    test('has the version of the data that it sees', async () => {
      for (let round = 0; round < 5; round++) {
        await addRubrique(round % 2 ? store : other, 'r')
        const [found, version] = await store.read(async (db, { donnees }) => [await rubriques(db), donnees] as const)
        expect(found).toHaveLength(round + 1)
        expect((await store.versions()).donnees).toBe(version)
      }
    })

    test('never waits for a writer: twenty reads at once are answered during a write', async () => {
      const writer = await blockWrites(other)
      const answers = await Promise.all(Array.from({ length: 20 }, () => store.read(rubriques)))
      expect(answers).toEqual(answers.map(() => []))
      await writer.release()
    })

    test('keeps nothing that it writes, whether the write is refused or rolled back', async () => {
      await store
        .read((db) => db.exec("insert into rubriques (id_rubrique, nom) values (1, 'x')"))
        .catch(() => undefined)
      expect(await store.read(rubriques)).toEqual([])
    })
  })

  describe('a write', () => {
    test('waits for another writer, and continues when that one has finished', async () => {
      const writer = await blockWrites(other)
      const writing = addRubrique(store, 'waited')
      await sleep(100)
      expect(await store.read(rubriques)).toEqual([])
      await writer.release()
      await writing
      expect(await store.read(rubriques)).toEqual(['waited'])
    })

    test('fails as busy after 5 s if another does not end, however many wait, and the next write works', async () => {
      const writer = await blockWrites(other)
      const before = await store.versions()
      const start = performance.now()
      const waits = await Promise.all(
        ['a', 'b', 'c'].map(async (nom) => {
          await expect(addRubrique(store, nom)).rejects.toMatchObject({ fault: 'busy' })
          return performance.now() - start
        }),
      )
      expect(Math.min(...waits)).toBeGreaterThan(4_500)
      // Opened as a command opens it: SQLite runs in this thread, where its plans can be read.
      expect(Math.max(...waits) - Math.min(...waits)).toBeLessThan(Math.min(...waits))
      expect([await store.read(rubriques), await store.versions()]).toEqual([[], before])
      await writer.release()
      await addRubrique(store, 'd')
      expect(await store.read(rubriques)).toEqual(['d'])
    })

    test('moves the versions it declares, and no others, for other processes too', async () => {
      const before = await store.versions()
      await store.write({}, async () => undefined)
      expect(await store.versions()).toEqual(before)
      await store.write({ comptes: true }, async () => undefined)
      const between = await store.versions()
      expect(between).toEqual({ donnees: before.donnees, comptes: expect.toSatisfy((it) => it > before.comptes) })
      await store.write({ donnees: EVERYTHING }, async () => undefined)
      const after = await store.versions()
      expect(after).toEqual({ donnees: expect.toSatisfy((it) => it > between.donnees), comptes: between.comptes })
      expect(await other.versions()).toEqual(after)
    })

    test('runs alone: each of twenty at once, from two processes, sees what those before it have written', async () => {
      const addNext = (some: Store) =>
        some.write({}, async (db) => {
          const [row] = await db.select<{ nb: number }>('select count(*) as nb from rubriques')
          await db.exec('insert into rubriques (id_rubrique, nom) values (?, ?)', row!.nb + 1, `${row!.nb + 1}`)
        })
      await Promise.all(Array.from({ length: 20 }, (_, i) => addNext(i % 2 ? store : other)))
      expect(await store.read(rubriques)).toEqual(Array.from({ length: 20 }, (_, i) => `${i + 1}`))
    })

    test('is visible, with its versions, to everything that starts after it in its process', async () => {
      for (let round = 1; round <= 20; round++) {
        const { donnees } = await store.versions()
        await addRubrique(store, 'r')
        expect((await store.versions()).donnees).toBeGreaterThan(donnees)
        expect(await store.read(rubriques)).toHaveLength(round)
      }
    })
  })

  describe('a bulk', () => {
    const insert = (db: Db, id: number) =>
      db.exec('insert into rubriques (id_rubrique, nom) values (?, ?)', id, `${id}`)
    const change = { donnees: EVERYTHING, comptes: false }
    const nothing = async () => undefined

    test('changes nothing if its stage or its merge fails, and the next one works', async () => {
      const before = await store.versions()
      const merge = async (db: Db) => {
        await insert(db, 1)
        throw new Error('changed my mind')
      }
      const stage = async (db: Db) => {
        await db.exec('create temporary table lot_essai (id bigint)')
        throw new Error('bad line')
      }
      await expect(store.bulk({ withAccounts: true }, nothing, merge)).rejects.toThrow('changed my mind')
      await expect(store.bulk({ withAccounts: true }, stage, merge)).rejects.toThrow('bad line')
      expect([await store.read(rubriques), await store.versions()]).toEqual([[], before])
      const good = async (db: Db) => {
        await insert(db, 2)
        return { change }
      }
      await store.bulk({ withAccounts: true }, (db) => stage(db).catch(() => undefined), good)
      expect(await store.read(rubriques)).toEqual(['2'])
    })

    test('is visible as a whole with its new version, or not at all, and no reader waits for it', async () => {
      const before = await store.versions()
      await store.bulk({ withAccounts: false }, nothing, async (db) => {
        for (const id of [1, 2, 3]) {
          await insert(db, id)
          for (const reader of [store, other]) {
            const seen = await reader.read(async (db, version) => ({ rubriques: await rubriques(db), ...version }))
            expect(seen).toMatchObject({ rubriques: [], ...before })
          }
        }
        return { change }
      })
      expect(await store.read(rubriques)).toEqual(['1', '2', '3'])
      expect((await store.versions()).donnees).toBeGreaterThan(before.donnees)
      expect((await store.versions()).comptes).toBe(before.comptes)
    })

    test('lets others write during its stage, and sees their writes in its merge', async () => {
      const found: string[] = []
      const stage = async (db: Db) => {
        await db.exec('create temporary table lot_essai (id bigint)')
        await addRubrique(other, 'meanwhile')
      }
      await store.bulk({ withAccounts: true }, stage, async (db) => {
        found.push(...(await rubriques(db)))
        return { change: {} }
      })
      expect(found).toEqual(['meanwhile'])
    })

    test('merges alone: each of four at once, from two processes, sees what those before it have merged', async () => {
      const addNext = async (db: Db) => {
        const nb = (await rubriques(db)).length
        await insert(db, nb + 1)
        return { change }
      }
      await Promise.all([store, other, store, other].map((some) => some.bulk({ withAccounts: true }, nothing, addNext)))
      expect(await store.read(rubriques)).toEqual(['1', '2', '3', '4'])
    })
  })

  test('generated ids are higher than all explicit ones', async () => {
    const cle = (db: Db, id: number | undefined, empreinte: string) => {
      const columns = `${id ? 'id_cle, ' : ''}id_compte, nom, prefixe, empreinte, portee, creation, expiration`
      const values = `${id ? `${id}, ` : ''}1, 'n', 'p', ?, '[]', 1, 1`
      return db.exec(`insert into cles_api (${columns}) values (${values})`, empreinte)
    }
    await store.write({}, async (db) => {
      await db.exec(
        "insert into auteurs (id_auteur, nom, nom_plie, statut, statut_cle, lang, lang_cle) values (1, 'a', 'a', '', '', '', '')",
      )
      await db.exec(
        "insert into comptes (id_compte, login, id_auteur, mot_de_passe, operateur, desactive, creation) values (1, 'a', 1, '', 0, 0, 1)",
      )
      await cle(db, 70, 'a')
      await db.passIds('cles_api', 'id_cle')
      await cle(db, undefined, 'b')
      await db.exec('delete from cles_api where id_cle >= 70')
      await db.passIds('cles_api', 'id_cle')
      await cle(db, undefined, 'c')
    })
    const found = await store.read((db) => db.select<{ id: number }>('select id_cle as id from cles_api'))
    expect(found).toEqual([{ id: expect.toSatisfy((id) => id > 71) }])
  })

  test('close finishes the reads in flight, refuses new ones, and does not block the event loop', async () => {
    const closing = await openStore(made.url, { create: false })
    const work = makeGate()
    const reads = Array.from({ length: 3 }, async () => {
      const begun = makeGate()
      const read = closing.read(async (db) => {
        begun.open()
        await work.opened
        return db.select('select id from etat')
      })
      await begun.opened
      return { read }
    })
    await Promise.all(reads)
    const closed = closing.close()
    await nextTurn()
    await expect(closing.read(async () => undefined)).rejects.toMatchObject({ fault: 'unreachable' })
    work.open()
    for (const { read } of await Promise.all(reads)) expect(await read).toEqual([{ id: 1 }])
    await closed
  })
})

describe.each(engines)('migrations on %s', (engine) => {
  let place: Awaited<ReturnType<typeof makePlace>>
  beforeEach(async () => {
    place = await makePlace(engine)
  })
  afterEach(() => place.remove())

  test('run once, however many processes start on a missing store at the same time', async () => {
    const cwd = makeFolder()
    const runs = await Promise.all([1, 2, 3, 4].map(() => palmares(['migrate', '--database', place.url], { cwd })))
    rmSync(cwd, { recursive: true })
    expect(runs.map(({ status, stderr }) => [status, stderr])).toEqual(runs.map(() => [0, '']))
    const ran = runs.flatMap(({ stdout }) => stdout.split('\n')).filter((line) => /^ran migration/.test(line))
    expect(ran).toHaveLength(migrations.length)
    const made = await openStore(place.url, { create: false })
    expect([await made.verify(), await made.verifySearch()]).toEqual([[], []])
    await made.close()
  })

  test('run only once; a missing store is an error unless creation is allowed', async () => {
    await expect(openStore(place.url, { create: false })).rejects.toMatchObject({ fault: 'missing' })
    expect(await migrateStore(place.url, { withoutTrigrams: false })).toEqual(migrations)
    expect(await migrateStore(place.url, { withoutTrigrams: false })).toEqual([])
    await (await openStore(place.url, { create: false })).close()
  })
})

/** A write that blocks others until it is released. */
async function blockWrites(store: Store): Promise<{ release(): Promise<void> }> {
  const [begun, end] = [makeGate(), makeGate()]
  const writing = store.write({}, async () => {
    begun.open()
    await end.opened
  })
  await begun.opened
  return {
    release() {
      end.open()
      return writing
    },
  }
}
