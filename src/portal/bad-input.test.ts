import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DumpLine, engines, exportFrom, importInto, makeStore } from '../../test/harness.js'
import type { Store } from '../store/store.js'
import { ImportError, importDump } from './import.js'
import { MAX_LINE_BYTES } from './lines.js'

let store: Store
let close: () => Promise<void>
let before: unknown

describe.each(engines)('a dump for %s', (engine) => {
  beforeAll(async () => {
    const made = await makeStore(engine)
    store = made.store
    close = made.close
    await importInto(store, [...portal, compte], { withAccounts: true })
    before = await everything()
  })

  afterAll(() => close())

  describe('an invalid line', () => {
    test('a truncated last line is reported with its number, and nothing of the dump is kept', async () => {
      const whole = [auteur({ id_auteur: 8 }), auteur({ id_auteur: 9 })].map((line) => JSON.stringify(line)).join('\n')
      for (const cut of [1, 10, 30]) {
        expect(await faultsOf(whole.slice(0, -cut))).toEqual([
          'line 2: the line is not JSON; it may have been cut short',
        ])
      }
    })

    test.each([
      ['not JSON', 'hello', /not JSON/],
      ['single quotes', "{'type':'auteur'}", /not JSON/],
      ['two objects on one line', '{"type":"auteur"}{"type":"auteur"}', /not JSON/],
      ['a raw control character in a text', '{"type":"auteur","id_auteur":1,"nom":"a\u0000b"}', /not JSON/],
      ['a list', '[1,2]', /must be an object/],
      ['a number', '3', /must be an object/],
      ['null', 'null', /must be an object/],
      [
        'no type',
        '{"id_auteur":1}',
        /type must be one of rubrique, auteur, challenge, validation, environnement_virtuel/,
      ],
      ['an unknown type', '{"type":"joueur"}', /type must be one of/],
      ['a type that is no text', '{"type":["auteur"],"id_auteur":9,"nom":"x"}', /type must be one of/],
      ['the name of a method as type', '{"type":"constructor"}', /type must be one of/],
      [
        'a prototype in place of fields',
        '{"__proto__":{"type":"auteur","id_auteur":9,"nom":"x"}}',
        /type must be one of/,
      ],
    ])('%s is reported with its line number', async (_, line, fault) => {
      const faults = await faultsOf(`${JSON.stringify(auteur({ id_auteur: 9 }))}\n\n${line}\n`)
      expect(faults).toEqual([expect.stringMatching(/^line 3: /)])
      expect(faults[0]).toMatch(fault)
    })

    test('bytes that are not UTF-8 are a fault: a stray byte, a truncated sequence, an overlong form, a surrogate', async () => {
      for (const bytes of ['ff', 'c3', 'c080', 'eda080', 'e9']) {
        const line = Buffer.concat([
          Buffer.from('{"type":"auteur","id_auteur":9,"nom":"'),
          Buffer.from(bytes, 'hex'),
          Buffer.from('"}'),
        ])
        expect(await faultsOf(Buffer.concat([Buffer.from('\n'), line, Buffer.from('\n')]))).toEqual([
          'line 2: the line is not UTF-8',
        ])
      }
    })

    test('a character split between two chunks of the stream is decoded', async () => {
      const bytes = Buffer.from(`${JSON.stringify(auteur({ nom: 'Élodie 🚩 한' }))}\n`)
      const { close: closeOther, store: other } = await makeStore(engine)
      await importDump(other, Readable.from([...bytes].map((byte) => Buffer.from([byte]))), options)
      expect(await exportFrom(other)).toEqual([auteur({ nom: 'Élodie 🚩 한', score: 0 })])
      await closeOther()
    })

    test('a line of 100 MB is reported with its number, and is never buffered whole', async () => {
      const chunk = Buffer.alloc(65_536, 'a')
      const growth = { bytes: 0 }
      async function* bytes() {
        const start = process.memoryUsage().rss
        yield Buffer.from(`${JSON.stringify(auteur({ id_auteur: 9 }))}\n{"type":"auteur","id_auteur":10,"nom":"`)
        for (let i = 0; i < 1_600; i++) {
          yield chunk
          growth.bytes = Math.max(growth.bytes, process.memoryUsage().rss - start)
        }
        yield Buffer.from(`"}\n{"type":"auteur"}\n`)
      }
      const error = await importDump(store, bytes(), options).catch((thrown: unknown) => thrown)
      expect((error as ImportError).faults.shown).toEqual([
        `line 2: the line is longer than ${MAX_LINE_BYTES} bytes`,
        'line 3: id_auteur is missing',
      ])
      expect(growth.bytes).toBeLessThan(60_000_000)
      expect(await everything()).toEqual(before)
    })

    test('a line of the maximum length is read, and one byte more is a fault', async () => {
      const line = (bytes: number) => {
        const start = `${JSON.stringify(auteur({ id_auteur: 9 })).slice(0, -1)},"x":"`
        return `${start}${'a'.repeat(bytes - start.length - 2)}"}\n{"type":"?"}\n`
      }
      expect(await faultsOf(line(MAX_LINE_BYTES))).toEqual([expect.stringMatching(/^line 2: type/)])
      expect(await faultsOf(line(MAX_LINE_BYTES + 1))).toEqual([
        expect.stringMatching(/^line 1: the line is longer/),
        expect.stringMatching(/^line 2: type/),
      ])
    })

    test('JSON of any depth is a fault or an unknown field, never a crash', async () => {
      const deep = '['.repeat(1_000_000) + ']'.repeat(1_000_000)
      expect(await faultsOf(deep)).toEqual(['line 1: the line must be an object'])
      const field = (name: string, value: string) => `{"type":"auteur","id_auteur":9,"nom":"x","${name}":${value}}`
      expect(await faultsOf(field('lang', deep))).toEqual(['line 1: lang must be a text, not a list'])
      expect(await faultsOf(`${field('x', deep)}\n?`)).toEqual([expect.stringMatching(/^line 2/)])
      expect(await faultsOf(field('lang', '['.repeat(1_000_000)))).toEqual([expect.stringMatching(/not JSON/)])
    })
  })

  describe('a missing or wrong field is reported with its name and what it accepts', () => {
    const long = 'x'.repeat(1_001)
    test.each<[DumpLine, string]>([
      [auteur({ nom: undefined }), 'nom is missing'],
      [auteur({ nom: null }), 'nom is missing'],
      [auteur({ nom: '' }), 'nom must not be empty'],
      [auteur({ nom: 3 }), 'nom must be a text, not a number'],
      [auteur({ nom: ['x'] }), 'nom must be a text, not a list'],
      [auteur({ nom: 'a\0b' }), 'nom must not contain NUL'],
      [auteur({ nom: long }), 'nom must have at most 1000 characters'],
      [auteur({ statut: true }), 'statut must be a text, not a boolean'],
      [auteur({ lang: {} }), 'lang must be a text, not an object'],
      [auteur({ lang: 'f\0' }), 'lang must not contain NUL'],
      [auteur({ id_auteur: undefined }), 'id_auteur is missing'],
      [auteur({ id_auteur: '1' }), 'id_auteur must be a number, not a text'],
      [auteur({ id_auteur: 0 }), 'id_auteur must be an integer from 1 to 9007199254740991'],
      [auteur({ id_auteur: -1 }), 'id_auteur must be an integer from 1 to 9007199254740991'],
      [auteur({ id_auteur: 1.5 }), 'id_auteur must be an integer from 1 to 9007199254740991'],
      [auteur({ score: -1 }), 'score must be an integer from 0 to 9007199254740991'],
      [auteur({ score: '5' }), 'score must be a number, not a text'],
      [auteur({ score: 1e300 }), 'score must be an integer from 0 to 9007199254740991'],
      [challenge({ score: 1e12 + 1 }), 'score must be an integer from 0 to 1000000000000'],
      [challenge({ titre: undefined }), 'titre is missing'],
      [challenge({ score: undefined }), 'score is missing'],
      [challenge({ score: null }), 'score is missing'],
      [challenge({ score: 0.5 }), 'score must be an integer from 0 to 1000000000000'],
      [challenge({ id_rubrique: undefined }), 'id_rubrique is missing'],
      [challenge({ id_trad: 'fr' }), 'id_trad must be a number, not a text'],
      [challenge({ auteurs: 1 }), 'auteurs must be a list of ids, not a number'],
      [challenge({ auteurs: ['1'] }), 'auteurs must be a number, not a text'],
      [challenge({ auteurs: [null] }), 'auteurs is missing'],
      [challenge({ descriptif: 1 }), 'descriptif must be a text, not a number'],
      [challenge({ date_publication: 1_700_000_000 }), date('date_publication')],
      [challenge({ date_publication: '2025-02-29T00:00:00Z' }), date('date_publication')],
      [challenge({ date_publication: '2025-01-01' }), date('date_publication')],
      [challenge({ date_publication: '' }), date('date_publication')],
      [validation({ date: '2025-01-01T00:00:00' }), date('date')],
      [validation({ date: '2025-01-01T24:00:00Z' }), date('date')],
      [validation({ date: '9999-12-31T23:59:59-00:01' }), date('date')],
      [validation({ id_challenge: undefined }), 'id_challenge is missing'],
      [environnement({ time_to_root: -3 }), 'time_to_root must be an integer from 0 to 9007199254740991'],
      [environnement({ description_en: [] }), 'description_en must be a text, not a list'],
      [environnement({ nom: undefined }), 'nom is missing'],
      [{ type: 'rubrique', id_rubrique: 9 }, 'nom is missing'],
      [{ type: 'rubrique', supprime: true }, 'id_rubrique is missing'],
      [{ type: 'validation', id_auteur: 1, supprime: true }, 'id_challenge is missing'],
      [auteur({ supprime: 1 }), 'supprime must be true or false'],
      [auteur({ supprime: 'true' }), 'supprime must be true or false'],
      [auteur({ supprime: null }), 'supprime must be true or false'],
    ])('%j: %s', async (line, fault) => {
      expect(await faultsOf([auteur({ id_auteur: 9 }), line])).toEqual([`line 2: ${fault}`])
    })

    test('an unpaired surrogate, written as an escape, is refused in every text', async () => {
      for (const half of ['\\ud83d', '\\ude80', '\\ude80\\ud83d', 'a\\udfffb']) {
        for (const name of ['nom', 'statut', 'lang']) {
          const line = `{"type":"auteur","id_auteur":9,"nom":"x","${name}":"${half}"}`
          expect(await faultsOf(line)).toEqual([`line 1: ${name} must not contain half of a surrogate pair`])
        }
      }
    })

    test('numbers past the largest exact one of JSON are refused, not rounded', async () => {
      for (const number of ['9007199254740992', '9007199254740993', '1e400', '123456789012345678901234567890']) {
        const line = `{"type":"auteur","id_auteur":${number},"nom":"x"}`
        expect(await faultsOf(line)).toEqual(['line 1: id_auteur must be an integer from 1 to 9007199254740991'])
      }
    })

    test.each([
      ...['javascript:alert(1)', 'JavaScript:alert(1)', 'java\tscript:alert(1)', 'data:text/html,x', 'ftp://host/x'],
      ...[
        '//host/x',
        '///host',
        '\\\\host',
        '/\\host',
        'fr\\c',
        ' fr/c',
        'fr/c\n',
        '\u007f',
        'http://',
        'https://[',
        'x:y',
      ],
    ])('url_challenge %j is refused', async (url) => {
      expect(await faultsOf([challenge({ url_challenge: url })])).toEqual([
        expect.stringMatching(/^line 1: url_challenge must/),
      ])
    })

    test('url_challenge accepts a path, with or without a leading slash, and an http or https address', async () => {
      const { close: closeOther, store: other } = await makeStore(engine)
      for (const url of ['fr/Challenges/x', '/fr/x', 'x?a=b:c#d', 'é/ü', 'https://other.example/x', 'HTTP://h/']) {
        await importInto(other, [...portal, challenge({ id_challenge: 9, url_challenge: url })])
        expect((await exportFrom(other)).find((line) => line.id_challenge === 9)).toMatchObject({ url_challenge: url })
      }
      await closeOther()
    })
  })

  describe('accounts', () => {
    test('are refused without --with-accounts, even to remove them', async () => {
      for (const line of [compte, { type: 'compte', login: 'alice', supprime: true }]) {
        expect(await faultsOf([auteur({}), line], false)).toEqual([
          'line 2: a compte is imported only with --with-accounts',
        ])
      }
    })

    test.each([
      ['no hash', 'password'],
      ['bcrypt', '$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy'],
      ['argon2i', argon2id('m=19456,t=2,p=1').replace('argon2id', 'argon2i')],
      ['argon2d', argon2id('m=19456,t=2,p=1').replace('argon2id', 'argon2d')],
      ['an older version', argon2id('m=19456,t=2,p=1').replace('v=19', 'v=16')],
      ['4 GiB of memory', argon2id('m=4194304,t=2,p=1')],
      ['one KiB past the bound', argon2id('m=262145,t=2,p=1')],
      ['11 passes', argon2id('m=19456,t=11,p=1')],
      ['no pass', argon2id('m=19456,t=0,p=1')],
      ['9 lanes', argon2id('m=19456,t=2,p=9')],
      ['no lane', argon2id('m=19456,t=2,p=0')],
      ['less memory than its lanes need', argon2id('m=63,t=2,p=8')],
      ['no salt', argon2id('m=19456,t=2,p=1').replace('$c29tZXNhbHQ$', '$$')],
      ['a newline at its end', `${argon2id('m=19456,t=2,p=1')}\n`],
    ])('an account with %s in place of a valid argon2id hash is refused', async (_, mot_de_passe) => {
      const faults = await faultsOf([{ ...compte, mot_de_passe }])
      expect(faults).toEqual([
        'line 1: mot_de_passe must be an argon2id hash of at most 256 MiB, 10 passes and 8 lanes',
      ])
      expect(faults.join()).not.toContain(mot_de_passe)
    })

    test('an account with a hash at the limits is accepted', async () => {
      const { close: closeOther, store: other } = await makeStore(engine)
      for (const hash of ['m=262144,t=10,p=8', 'm=8,t=1,p=1']) {
        await importInto(other, [...portal, { ...compte, mot_de_passe: argon2id(hash) }], { withAccounts: true })
      }
      await closeOther()
    })

    test.each<[DumpLine, RegExp]>([
      [{ empreinte: 'A'.repeat(64) }, /cles \[0\]\.empreinte must be a SHA-256 in lower-case hex/],
      [{ empreinte: undefined }, /cles \[0\]\.empreinte must be/],
      [{ portee: ['racine'] }, /cles \[0\]\.portee must be a list of lecture, ecriture, export/],
      [{ portee: 'lecture' }, /cles \[0\]\.portee must be a list/],
      [{ expiration: undefined }, /cles \[0\]\.expiration must be a date/],
      [{ nom: '' }, /cles \[0\]\.nom must not be empty/],
      [{ id: 0 }, /cles \[0\]\.id must be an integer/],
    ])('an account with a key that has %j is refused', async (fields, fault) => {
      expect((await faultsOf([{ ...compte, cles: [{ ...cle, ...fields }] }]))[0]).toMatch(fault)
    })

    test('an account whose keys are not a list of objects, or whose flags are not booleans, is refused', async () => {
      for (const fields of [{ cles: {} }, { cles: [3] }, { cles: [null] }, { operateur: 1 }, { desactive: 'no' }]) {
        expect(await faultsOf([{ ...compte, ...fields }])).toHaveLength(1)
      }
    })
  })

  test('the first 20 kinds of faults are listed in order of the lines, all are counted, and the message has both', async () => {
    const lines = [
      ...Array.from({ length: 50 }, (_, i) => (i % 2 ? auteur({ id_auteur: i }) : auteur({ nom: i }))),
      ...Array.from({ length: 25 }, (_, i) => ({ ...compte, cles: [...Array(i).fill(cle), 3] })),
    ]
    const error = (await importInto(store, lines, { withAccounts: true }).catch(
      (thrown: unknown) => thrown,
    )) as ImportError
    expect(error.faults.count).toBe(50)
    expect(error.faults.shown).toEqual([
      'lines 1, 3, 5, 7, 9 and 20 more: nom must be a text, not a number',
      ...Array.from({ length: 19 }, (_, i) => `line ${51 + i}: cles [${i}]. must be an object`),
    ])
    expect(error.message.split('\n')).toEqual([...error.faults.shown, 'and 6 more'])
    expect(await everything()).toEqual(before)
  })

  test('missing references are listed up to 20, with their total', async () => {
    const lines = Array.from({ length: 100 }, (_, i) => validation({ id_auteur: 1_000 + i }))
    const error = (await importInto(store, lines).catch((thrown: unknown) => thrown)) as ImportError
    expect([error.faults.count, error.faults.shown.length]).toEqual([100, 20])
    expect(error.faults.shown[19]).toBe('line 20: id_auteur names 1019, which auteurs does not have')
    expect(await everything()).toEqual(before)
  })

  test('a stream that breaks off is an error and changes nothing', async () => {
    async function* bytes() {
      yield Buffer.from(`${JSON.stringify(auteur({ id_auteur: 9 }))}\n`)
      throw new Error('the cable was pulled')
    }
    await expect(importDump(store, bytes(), options)).rejects.toThrow('the cable was pulled')
    expect(await everything()).toEqual(before)
    await importInto(store, portal)
  })
})

const options = { replace: false, withAccounts: true }

const cle = {
  ...{ id: 7, nom: 'bot', prefixe: 'palm_abcdef', empreinte: 'a'.repeat(64), portee: ['lecture'] },
  ...{ creation: '2025-01-01T00:00:00Z', expiration: '2035-01-01T00:00:00Z' },
}

const compte: DumpLine = {
  ...{ type: 'compte', login: 'alice', id_auteur: 1, mot_de_passe: argon2id('m=19456,t=2,p=1') },
  ...{ operateur: false, desactive: false, creation: '2025-01-01T00:00:00Z', cles: [cle] },
}

const portal = [{ type: 'rubrique', id_rubrique: 1, nom: 'r' }, auteur({}), challenge({}), validation({})]

function argon2id(parameters: string): string {
  return `$argon2id$v=19$${parameters}$c29tZXNhbHQ$Y2hlY2tjaGVja2NoZWNrY2hlY2tjaGVja2NoZWNrYWx0`
}

function auteur(fields: DumpLine): DumpLine {
  return { type: 'auteur', id_auteur: 1, nom: 'a', ...fields }
}

function challenge(fields: DumpLine): DumpLine {
  return { type: 'challenge', id_challenge: 1, id_rubrique: 1, titre: 'c', score: 5, ...fields }
}

function validation(fields: DumpLine): DumpLine {
  return { type: 'validation', id_auteur: 1, id_challenge: 1, ...fields }
}

function environnement(fields: DumpLine): DumpLine {
  return { type: 'environnement_virtuel', id_environnement_virtuel: 1, nom: 'e', ...fields }
}

function date(name: string): string {
  return `${name} must be a date and time such as 2026-01-31T12:00:00Z`
}

async function everything(): Promise<unknown> {
  return [await exportFrom(store, { withAccounts: true }), await store.versions()]
}

/** Imports lines that must be refused and returns the faults. The store must be unchanged. */
async function faultsOf(dump: DumpLine[] | string | Buffer, withAccounts = true): Promise<string[]> {
  const bytes = Array.isArray(dump)
    ? Buffer.from(dump.map((line) => `${JSON.stringify(line)}\n`).join(''))
    : Buffer.from(dump)
  const error = await importDump(store, Readable.from([bytes]), { ...options, withAccounts }).catch(
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof ImportError)) throw error ?? new Error('it was not refused')
  expect(error.faults.count).toBe(error.faults.shown.length)
  expect(await everything()).toEqual(before)
  return error.faults.shown
}
