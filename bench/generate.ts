import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { randomFrom } from './random.js'

export const CHALLENGES = 300
const RUBRIQUES = 12
const ENVIRONMENTS = 20

/** Few distinct scores, so that totals often tie. */
const SCORES = [5, 5, 10, 10, 15, 15, 20, 25, 30, 35, 50, 70]
const LANGUAGES = ['fr', 'fr', 'fr', 'en', 'en', 'de', 'es']
/** Dates are spread over three years. */
export const FIRST_DAY = Date.UTC(2022, 0, 1)
export const SPAN_MILLISECONDS = 3 * 365 * 86_400_000
const LINES_PER_CHUNK = 500

/** In later editions, one author in this many has another name and one more validation. */
const CHANGED_AUTHORS = 100

/**
 * Search texts. About twenty authors have `rare`, one in twenty has `common`, a third have `third`, and none has `none`. Its
 * trigrams are common, though: a quarter of the authors have each half of them, and a tenth have all, but never in sequence.
 */
export const NEEDLES = { rare: 'quetzal', common: 'jongleur', third: 'voyageur', none: 'tramontane' } as const
const HALVES = ['tramont', 'montane'] as const
const RARE_AUTHORS = 20

/**
 * A portal as dump lines: categories, authors 1 to `authors`, challenges, validations, environments. The same size and
 * edition always produce the same lines. Memory use does not depend on the size: each author's validations have their own seed.
 */
export function* generateLines(authors: number, edition = 0): Generator<string> {
  for (let id = 1; id <= RUBRIQUES; id++)
    yield JSON.stringify({ type: 'rubrique', id_rubrique: id, nom: `Rubrique ${id}` })
  for (let id = 1; id <= authors; id++) yield authorLine(id, authors, edition)
  for (let id = 1; id <= CHALLENGES; id++) yield challengeLine(id, authors)
  for (let id = 1; id <= authors; id++) yield* validationLines(id, edition)
  for (let id = 1; id <= ENVIRONMENTS; id++) yield environmentLine(id)
}

/** Writes the dump of a portal and returns the number of lines. */
export async function writeDump(file: string, authors: number, edition = 0): Promise<number> {
  let lines = 0
  const chunks = function* () {
    let chunk = ''
    for (const line of generateLines(authors, edition)) {
      chunk += `${line}\n`
      if (++lines % LINES_PER_CHUNK > 0) continue
      yield Buffer.from(chunk)
      chunk = ''
    }
    yield Buffer.from(chunk)
  }
  await pipeline(Readable.from(chunks()), createWriteStream(file))
  return lines
}

/** One author in two hundred is hidden from the ranking; a third of the names have an accent to escape. */
function authorLine(id: number, authors: number, edition: number): string {
  const random = randomFrom(id)
  const name = `${pick(SYLLABLES, random)}${pick(SYLLABLES, random)}${pick(SYLLABLES, random)}${id % 10_000}`
  const nom = `${name}${markOf(id, authors)}${isChanged(id, edition) ? ` ${edition}` : ''}`
  const statut = isHidden(id) ? '5poubelle' : '6forum'
  return `{"type":"auteur","id_auteur":${id},"nom":"${nom}","statut":"${statut}","lang":"${pick(LANGUAGES, random)}"}`
}

/** Whether an author is hidden from the ranking. */
export function isHidden(idAuteur: number): boolean {
  return idAuteur % 200 === 0
}

function isChanged(idAuteur: number, edition: number): boolean {
  return edition > 0 && idAuteur % CHANGED_AUTHORS === 0
}

/** The part of a name that searches find; neighbouring authors have different ones. */
function markOf(id: number, authors: number): string {
  if (id % Math.floor(authors / RARE_AUTHORS) === 1) return ` ${NEEDLES.rare}`
  const share = (id * 37) % 60
  if (share < 20) return ` ${NEEDLES.third}`
  if (share < 23) return ` ${NEEDLES.common}`
  if (share < 32) return ` ${HALVES[0]}`
  if (share < 41) return ` ${HALVES[1]}`
  if (share < 47) return ` ${HALVES[1]} ${HALVES[0]}`
  return ''
}

function challengeLine(id: number, authors: number): string {
  const random = randomFrom(-id)
  const titre = `${pick(WORDS, random)} ${pick(WORDS, random)} ${id}`
  const line = {
    type: 'challenge',
    id_challenge: id,
    id_rubrique: 1 + (id % RUBRIQUES),
    titre,
    soustitre: `${pick(WORDS, random)} à ${pick(WORDS, random)}`,
    descriptif: `<p>${Array.from({ length: 60 }, () => pick(WORDS, random)).join(' ')}</p>`,
    lang: pick(LANGUAGES, random),
    score: scoreOf(id),
    difficulte: 'Moyen',
    id_trad: id,
    url_challenge: `fr/Challenges/${id}`,
    date_publication: instant(FIRST_DAY),
    auteurs: [1 + Math.floor(random() * authors)],
  }
  return JSON.stringify(line)
}

/** The validations of an author; one more in an edition that changes it. */
function* validationLines(idAuteur: number, edition: number): Generator<string> {
  let left = wantedOf(idAuteur)
  for (const { idChallenge, milliseconds } of solvesOf(idAuteur)) {
    if (left-- === 0 && !isChanged(idAuteur, edition)) return
    const date = instant(milliseconds)
    yield `{"type":"validation","id_auteur":${idAuteur},"id_challenge":${idChallenge},"date":"${date}"}`
    if (left < 0) return
  }
}

/** The challenges that an author has solved. */
export function solvedBy(idAuteur: number): Set<number> {
  const solves = solvesOf(idAuteur)
  return new Set(Array.from({ length: wantedOf(idAuteur) }, () => (solves.next().value as Solve).idChallenge))
}

interface Solve {
  idChallenge: number
  milliseconds: number
}

/** Median: four validations, with a long tail. A few authors have solved most of the portal. */
function wantedOf(idAuteur: number): number {
  return Math.min(CHALLENGES, Math.floor(4.5 * Math.exp(0.9 * normal(randomFrom(idAuteur ^ 0x3c3c3c3c)))))
}

/** The challenges in the order in which an author solves them, until none is left. */
function* solvesOf(idAuteur: number): Generator<Solve, void> {
  const random = randomFrom(idAuteur ^ 0x5f5f5f5f)
  const solved = new Set<number>()
  while (solved.size < CHALLENGES) {
    let idChallenge = 1 + Math.floor(CHALLENGES * random() ** 2)
    while (solved.has(idChallenge)) idChallenge = (idChallenge % CHALLENGES) + 1
    solved.add(idChallenge)
    yield { idChallenge, milliseconds: FIRST_DAY + random() * SPAN_MILLISECONDS }
  }
}

function environmentLine(id: number): string {
  const line = {
    type: 'environnement_virtuel',
    id_environnement_virtuel: id,
    nom: `Machine ${id}`,
    os: id % 3 === 0 ? 'Windows' : 'Linux',
    statut: 'ok',
    lang: 'fr',
    description_fr: '<p>Une machine.</p>',
    description_en: '<p>A machine.</p>',
    time_to_root: 3600 * id,
  }
  return JSON.stringify(line)
}

/** Low ids are easy challenges, which have the most solves. */
function scoreOf(idChallenge: number): number {
  return SCORES[Math.floor(((idChallenge - 1) * SCORES.length) / CHALLENGES)] as number
}

/** Box and Muller's normal deviate. */
function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

function instant(milliseconds: number): string {
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`
}

function pick<T>(list: readonly T[], random: () => number): T {
  return list[Math.floor(random() * list.length)] as T
}

const SYLLABLES = 'ba be bri ché dan do ël fa gor hé ka lu mi na or pa qui ra sté ta ul vi wa xo yn zé'.split(' ')
const WORDS =
  'ombre clé serrure jardin pont forêt signal miroir horloge encre route nuage pierre lampe vague chiffre'.split(' ')
