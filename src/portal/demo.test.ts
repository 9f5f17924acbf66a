import { expect, test } from 'vitest'
import { engines, exportFrom, importInto, makeStore } from '../../test/harness.js'
import { checkPortal } from './check.js'
import { type DemoLine, demoPortal } from './demo.js'

const lines = [...demoPortal()]
const rubriques = linesOf('rubrique')
const auteurs = linesOf('auteur')
const challenges = linesOf('challenge')
const validations = linesOf('validation')
const environnements = linesOf('environnement_virtuel')
const byId = new Map(challenges.map((c) => [c.id_challenge, c]))
const classement = places()
const dump = lines.map((line) => ({ ...line }))

test('each call gives the same lines', () => {
  expect([...demoPortal()]).toEqual(lines)
})

test('the lines come type by type, with ids from 1, in the documented numbers', () => {
  const types = lines.map((line) => line.type).filter((type, i, all) => type !== all[i - 1])
  expect(types).toEqual(['rubrique', 'auteur', 'challenge', 'validation', 'environnement_virtuel'])
  expect([rubriques.length, auteurs.length, challenges.length, environnements.length]).toEqual([10, 4000, 101, 7])
  expect(validations.length).toBeGreaterThan(25_000)
  expect(validations.length).toBeLessThan(35_000)
  expect(auteurs.every(({ id_auteur }, i) => id_auteur === i + 1)).toBe(true)
  expect(challenges.every(({ id_challenge }, i) => id_challenge === i + 1)).toBe(true)
})

test('author names are distinct, whatever the letter case', () => {
  expect(new Set(auteurs.map(({ nom }) => nom.toLowerCase())).size).toBe(4000)
})

test('every reference resolves, and a translation has the score and the authors of its original', () => {
  for (const c of challenges) {
    const original = byId.get(c.id_trad)!
    expect(original).toMatchObject({ id_trad: c.id_trad, score: c.score, auteurs: c.auteurs })
    expect(rubriques[c.id_rubrique - 1]).toBeDefined()
    expect(c.auteurs.every((id) => auteurs[id - 1])).toBe(true)
  }
  expect(validations.every((v) => auteurs[v.id_auteur - 1] && byId.has(v.id_challenge))).toBe(true)
  expect(new Set(challenges.map((c) => c.url_challenge)).size).toBe(challenges.length)
})

test('one challenge has two authors and one has none', () => {
  const counts = challenges.map((c) => c.auteurs.length).filter((n) => n !== 1)
  expect(counts.sort()).toEqual([0, 2])
})

test('every challenge text is complete, and its score is a multiple of 5 from 5 to 95', () => {
  for (const c of challenges) {
    expect(c.descriptif).toMatch(/^<p>.+<\/p>$/)
    expect(c.url_challenge).toMatch(/^(fr|en|es|de)\/Challenges\/[A-Za-z0-9-]+\/[A-Za-z0-9-]+$/)
    expect(c.score % 5 === 0 && c.score >= 5 && c.score <= 95).toBe(true)
  }
})

test('a validation is dated in the two-year window, in whole seconds, not before the publication', () => {
  for (const { date, id_challenge } of validations) {
    if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(date)) expect.fail(date)
    if (date < '2024-11-01T00:00:00Z' || date > '2026-10-31T23:59:59Z') expect.fail(date)
    if (date < byId.get(id_challenge)!.date_publication) expect.fail(`${date} for challenge ${id_challenge}`)
  }
})

test('nobody solves a challenge twice, not even in two languages', () => {
  const keys = validations.map((v) => `${v.id_auteur} ${byId.get(v.id_challenge)!.id_trad}`)
  expect(new Set(keys).size).toBe(validations.length)
})

test('the harder a challenge, the fewer solve it', () => {
  const averages = ['Très facile', 'Facile', 'Moyen', 'Difficile', 'Très difficile'].map((difficulte) => {
    const originals = challenges.filter((c) => c.difficulte === difficulte && c.id_trad === c.id_challenge)
    return validations.filter((v) => byId.get(v.id_challenge)!.difficulte === difficulte).length / originals.length
  })
  expect(averages).toEqual([...averages].sort((a, b) => b - a))
})

test('the page of 100 rows at row 2450 starts at or below place 2451 and goes past 2500, a shared place', () => {
  const page = classement.slice(2450, 2550).map(({ place }) => place)
  expect(page[0]).toBe(2447)
  expect(page.filter((place) => place === 2500).length).toBeGreaterThan(1)
  expect(page.at(-1)).toBeGreaterThan(2500)
})

test('most ranked authors share their place, and author 1 has a good one', () => {
  // The ranking is sorted, so an author is alone in a place if neither neighbour shares it.
  const alone = classement.filter((r, i) => [i - 1, i + 1].every((j) => classement[j]?.place !== r.place))
  expect(alone.length).toBeLessThan(classement.length / 10)
  expect(classement.find(({ id_auteur }) => id_auteur === 1)!.place).toBeLessThan(400)
})

test.each(engines)(
  '%s imports it, finds no fault in it, and changes nothing when it is imported again',
  async (engine) => {
    const { store, close } = await makeStore(engine)
    await importInto(store, dump)
    const before = await store.versions()
    await importInto(store, dump)
    expect(await store.versions()).toEqual(before)
    expect(await exportFrom(store)).toHaveLength(lines.length)
    expect((await checkPortal(store)).findings.flatMap(({ faults }) => faults)).toEqual([])
    const ranked = await store.read((db) =>
      db.select(
        'select id_auteur, score from auteurs where cle_classement is not null order by cle_classement, id_auteur',
      ),
    )
    expect(ranked).toEqual(classement.map(({ id_auteur, score }) => ({ id_auteur, score })))
    await close()
  },
)

function linesOf<T extends DemoLine['type']>(type: T) {
  return lines.filter((line): line is Extract<DemoLine, { type: T }> => line.type === type)
}

function places(): { id_auteur: number; score: number; place: number }[] {
  const scores = new Map<number, number>()
  for (const v of validations) {
    scores.set(v.id_auteur, (scores.get(v.id_auteur) ?? 0) + byId.get(v.id_challenge)!.score)
  }
  const rows = auteurs
    .filter(({ statut }) => statut !== '5poubelle')
    .map(({ id_auteur }) => ({ id_auteur, score: scores.get(id_auteur) ?? 0 }))
    .sort((a, b) => b.score - a.score || a.id_auteur - b.id_auteur)
  return rows.map((r) => ({ ...r, place: 1 + rows.filter(({ score }) => score > r.score).length }))
}
