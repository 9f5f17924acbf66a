import { expect, test } from 'vitest'
import { findCredentials } from '../src/auth/credentials-queries.js'
import { insertSession } from '../src/auth/sessions-queries.js'
import { nowSeconds } from '../src/instant.js'
import { checkPortal } from '../src/portal/check.js'
import { openStore } from '../src/store/open.js'
import type { Db, Store } from '../src/store/store.js'
import { randomPortal } from './fixtures.js'
import { ACCOUNT, addAccount, type DumpLine, engines, exportFrom, importInto, makePlace } from './harness.js'

const LINES = [
  // The first schema has no columns for groups and for the date of a score.
  ...randomPortal({ seed: 3, auteurs: 300, challenges: 40, validations: 2_000, scores: 9 }).map(withoutNewFields),
  { type: 'auteur', id_auteur: 7_000_001, nom: 'old' },
  { type: 'rubrique', id_rubrique: 7_000_001, nom: 'old' },
  { type: 'challenge', id_challenge: 7_000_001, id_rubrique: 7_000_001, titre: 'old', score: 5 },
  { type: 'validation', id_auteur: 7_000_001, id_challenge: 7_000_001, date: '0000-01-01T00:00:00Z' },
]

test.each(engines)(
  'a store of the first schema on %s is migrated to the current one with all its data',
  async (engine) => {
    const place = await makePlace(engine)
    const before = await withStore(place.url, async (store) => {
      await importInto(store, LINES)
      const contents = { lines: await exportFrom(store), parts: await store.read(partsOf) }
      await store.write({}, (db) => revertToFirstSchema(db))
      return contents
    })
    await withStore(place.url, async (store) => {
      expect((await checkPortal(store)).findings.flatMap(({ faults }) => faults)).toEqual([])
      expect(await exportFrom(store)).toEqual(before.lines)
      expect(await store.read(partsOf)).toEqual(before.parts)
    })
    await place.remove()
  },
)

test.runIf(engines.includes('postgres'))(
  'a server that migrates an older PostgreSQL store makes the search indexes that new tables need',
  async () => {
    const place = await makePlace('postgres')
    await withStore(place.url, async (store) => {
      await store.write({}, async (db) => {
        await revertToFirstSchema(db)
        await db.exec('drop index environnements_virtuels_recherche')
      })
    })
    await withStore(place.url, async (store) => expect(await store.verifySearch()).toEqual([]))
    await place.remove()
  },
)

function withoutNewFields({ groupe: _, date_score: _date, ...line }: DumpLine): DumpLine {
  return line as DumpLine
}

async function withStore<T>(url: string, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(url, { create: true })
  try {
    return await work(store)
  } finally {
    await store.close()
  }
}

function partsOf(db: Db): Promise<unknown[]> {
  return db.select('select classement, cle, id_auteur from classements order by 1, 2, 3')
}

test.each(engines)('a session from before sessions by key stays valid after the migration on %s', async (engine) => {
  const place = await makePlace(engine)
  const session = { empreinte: 'x', id_compte: 1, now: nowSeconds() }
  await withStore(place.url, async (store) => {
    await importInto(store, LINES)
    await addAccount(store, { ...ACCOUNT, idAuteur: 7_000_001 })
    await store.write({ comptes: true }, (db) => insertSession(db, session))
    await store.write({}, (db) => revertToFirstSchema(db))
  })
  await withStore(place.url, async (store) => {
    const [found] = await store.read((db) => findCredentials(db, ['x']))
    expect(found).toMatchObject({ id_auteur: 7_000_001, revocation: null, expiration: null, portee: null })
  })
  await place.remove()
})

/** Reverts the store to the schema of the first release. */
async function revertToFirstSchema(db: Db): Promise<void> {
  for (const sql of [
    'drop table validations_gelees',
    'drop table groupes',
    'drop index auteurs_groupes',
    'alter table auteurs drop column groupe_plie',
    'drop table reglages',
    `alter table etat add column statuts_masques text not null default '["5poubelle"]'`,
    'drop index auteurs_classement',
    'create index auteurs_classement on auteurs (cle_classement)',
    'alter table auteurs drop column date_score',
    'alter table auteurs drop column date_classement',
    'create table noeuds_1 as select arbre, niveau, cle, id, nb from noeuds',
    'drop table noeuds',
    `create table noeuds (arbre text not null, niveau bigint not null, cle bigint not null, id bigint not null, nb bigint not null,
      primary key (arbre, niveau, cle, id))`,
    "insert into noeuds select * from noeuds_1 where arbre not like 'classements/%'",
    'drop table noeuds_1',
    'drop index auteurs_groupe',
    'alter table auteurs drop column groupe',
    'alter table auteurs drop column groupe_cle',
    'drop table acces_finis',
    'drop table adresses_connues',
    'drop index sessions_vivantes',
    'drop index sessions_revocation',
    'drop index cles_api_vivantes',
    'drop index cles_api_expiration',
    'drop index cles_api_revocation',
    'drop table miroir',
    'drop table miroir_ressources',
    'drop index sessions_cle',
    'alter table sessions drop column id_cle',
    'drop table classements',
    'drop table journal',
    'alter table validations drop column mois',
    'alter table etat drop column journal_lignes',
    'alter table etat drop column dernier_import',
    'update etat set version_donnees = 5',
    db.engine === 'sqlite' ? 'pragma user_version = 1' : 'delete from palmares_schema where version > 1',
  ]) {
    await db.exec(sql)
  }
}
