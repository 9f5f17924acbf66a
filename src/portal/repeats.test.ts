import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type DumpLine, engines, exportFrom, importInto, type MadeStore, makeStore } from '../../test/harness.js'
import { shareOf } from '../../test/share.js'

const rubrique: DumpLine = { type: 'rubrique', id_rubrique: 1, nom: 'r' }
const auteur: DumpLine = { type: 'auteur', id_auteur: 1, nom: 'a' }
const challenge: DumpLine = { type: 'challenge', id_challenge: 1, id_rubrique: 1, titre: 'c', score: 7 }
const dates = { creation: '2025-01-01T00:00:00Z', expiration: '2035-01-01T00:00:00Z' }
const compte: DumpLine = {
  ...{ type: 'compte', login: 'alice', id_auteur: 1 },
  mot_de_passe: '$argon2id$v=19$m=19456,t=2,p=1$c29tZXNhbHQ$Y2hlY2tjaGVja2NoZWNrY2hlY2tjaGVja2NoZWNrYWx0',
  ...{ operateur: false, desactive: false, creation: '2025-01-01T00:00:00Z' },
  cles: [
    { id: 1, nom: 'key', prefixe: 'palm_abcdef', empreinte: '1'.padStart(64, '0'), portee: ['lecture'], ...dates },
  ],
}

let made: MadeStore

describe.each(engines)('on %s,', (engine) => {
  beforeEach(async () => {
    made = await makeStore(engine)
  })
  afterEach(() => made.close())

  test.each<[string, DumpLine]>([
    ['validation', { type: 'validation', id_auteur: 1, id_challenge: 1 }],
    ['challenge', { ...challenge, auteurs: [1] }],
    ['compte', compte],
  ])('many repeats of one %s count once', async (type, line) => {
    const needed = [rubrique, auteur, ...(type === 'challenge' ? [] : [challenge])]
    const repeats = shareOf(100_000)
    const lines = [...needed, ...Array<DumpLine>(repeats).fill(line)]
    expect(await importInto(made.store, lines, { withAccounts: true })).toMatchObject({ lines: lines.length })
    const exported = await exportFrom(made.store, { withAccounts: true })
    expect(exported.filter((each) => each.type === type)).toEqual([line])
    expect(exported[1]!.score).toBe(type === 'validation' ? 7 : 0)
  })
})
