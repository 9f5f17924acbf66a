import demo from './demo.json' with { type: 'json' }
import { type Random, withoutAccents } from './demo-names.js'
import { demoPlayers, type Player } from './demo-players.js'

/** One line of the demo dump. */
export type DemoLine = ReturnType<typeof demoPortal> extends Generator<infer Line> ? Line : never
type DemoChallenge = ReturnType<typeof demoChallenges>[number]

const START = Date.UTC(2024, 10, 1)
const END = Date.UTC(2026, 10, 1) - 1000
const DAY_MILLISECONDS = 86_400_000

/**
 * The demo portal as dump lines: rubriques, auteurs, challenges, validations (by date), environnements virtuels.
 * Nothing in it comes from a real portal. It reads neither the clock nor the system's randomness: each call gives the
 * same lines. No author has a base score, so that a score is the sum of what its author solved.
 */
export function* demoPortal() {
  const players = demoPlayers(seeded(1))
  const challenges = demoChallenges(players, seeded(2))
  yield* demo.rubriques.map(({ nom }, i) => ({ type: 'rubrique' as const, id_rubrique: i + 1, nom }))
  yield* players.map((player) => player.auteur)
  yield* challenges
  yield* demoValidations(players, challenges, seeded(3))
  yield* demo.environnements_virtuels.map((fields, i) => ({
    type: 'environnement_virtuel' as const,
    id_environnement_virtuel: i + 1,
    ...fields,
  }))
}

/** Of the texts of a challenge, the first is the original; the others are its translations. */
function demoChallenges(players: Player[], random: Random) {
  const creators = players.filter(({ row }) => row < 90).sort((a, b) => a.row - b.row)
  const ids = creators.map(({ auteur }) => auteur.id_auteur)
  const opening = Date.UTC(2022, 2, 1)
  const duration = Date.UTC(2026, 7, 1) - opening
  const groups = demo.rubriques.flatMap(({ nom, challenges }, i) =>
    challenges.map((group) => ({ ...group, rubrique: nom, id_rubrique: i + 1 })),
  )
  const versions = groups.flatMap((group) => {
    const original = opening + duration * random()
    // Two challenges try the edges of `auteurs`: nobody, and two people.
    const { nb_auteurs: count } = group
    const auteurs = count === 1 ? [ids[Math.floor(ids.length * random() ** 2)]!] : ids.slice(0, count)
    return group.texts.map((text, i) => {
      const publishedAt = i === 0 ? original : original + (2 + 58 * random()) * DAY_MILLISECONDS
      return { group, text, publishedAt, auteurs }
    })
  })
  versions.sort((a, b) => a.publishedAt - b.publishedAt)
  return versions.map(({ group, text: { lang, titre, soustitre, descriptif }, publishedAt, auteurs }, i) => ({
    type: 'challenge' as const,
    id_challenge: i + 1,
    id_rubrique: group.id_rubrique,
    titre,
    soustitre,
    descriptif,
    lang,
    score: group.score,
    difficulte: difficulteOf(group.score),
    // An original is published before its translations, so the first of the group is the original.
    id_trad: versions.findIndex((version) => version.group === group) + 1,
    url_challenge: `${lang}/Challenges/${pathOf(group.rubrique)}/${pathOf(titre)}`,
    date_publication: dateOf(publishedAt),
    auteurs,
  }))
}

function difficulteOf(score: number): string {
  if (score <= 10) return 'Très facile'
  if (score <= 20) return 'Facile'
  if (score <= 35) return 'Moyen'
  return score <= 60 ? 'Difficile' : 'Très difficile'
}

function pathOf(titre: string): string {
  return withoutAccents(titre)
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
}

function demoValidations(players: Player[], challenges: DemoChallenge[], random: Random) {
  const originals = challenges.filter((c) => c.id_trad === c.id_challenge)
  const appeals = new Map(originals.map((c) => [c, 0.5 + random()]))
  const validations = players.flatMap(({ auteur, strength, target, isExact }) => {
    const order = solvingOrder(originals, appeals, 14 + 40 * strength ** 3, random)
    const solved = isExact ? exactly(target, order) : atLeast(target, order)
    // Most of those who play at all came before the window or early in it: newcomers have the higher ids.
    const arrival = START + (END - START) * Math.max(0, (1.3 * auteur.id_auteur) / players.length - 0.4) * random()
    return solved.map((original) => {
      // One version of a challenge at most, so that nobody earns the same points twice.
      const version = challenges.find((c) => c.id_trad === original.id_trad && c.lang === auteur.lang) ?? original
      const since = Math.max(arrival, Date.parse(version.date_publication))
      const instant = since + (END - since) * random() ** (2.5 - original.score / 60)
      return {
        type: 'validation' as const,
        id_auteur: auteur.id_auteur,
        id_challenge: version.id_challenge,
        date: dateOf(instant),
      }
    })
  })
  return validations.sort((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : 0))
}

/** A weighted shuffle: the higher the score, the later; the greater `boldness`, in points, the less it matters. */
function solvingOrder(
  originals: DemoChallenge[],
  appeals: Map<DemoChallenge, number>,
  boldness: number,
  random: Random,
): DemoChallenge[] {
  const delays = new Map(
    originals.map((c) => [c, -Math.log(1 - random()) / (appeals.get(c)! * Math.exp(-c.score / boldness))]),
  )
  return [...originals].sort((a, b) => delays.get(a)! - delays.get(b)!)
}

function atLeast(target: number, order: DemoChallenge[]): DemoChallenge[] {
  let sum = 0
  return order.filter((c) => {
    const isTaken = sum < target
    if (isTaken) sum += c.score
    return isTaken
  })
}

/** Exact up to 50 points: as long as 5 are missing, one of the ten challenges of 5 points is left to take. */
function exactly(target: number, order: DemoChallenge[]): DemoChallenge[] {
  let rest = target
  return order.filter((c) => {
    const isTaken = c.score <= rest
    if (isTaken) rest -= c.score
    return isTaken
  })
}

function dateOf(instant: number): string {
  return `${new Date(instant).toISOString().slice(0, 19)}Z`
}

/** mulberry32: numbers from 0 to below 1, the same ones for the same seed. */
function seeded(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}
