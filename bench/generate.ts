import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { randomFrom } from './random.js'

export const CHALLENGES = 300
const RUBRIQUES = 12
const ENVIRONMENTS = 20

/** A few scores for many challenges: sums of them tie heavily. */
const SCORES = [5, 5, 10, 10, 15, 15, 20, 25, 30, 35, 50, 70]
const LANGUAGES = ['fr', 'fr', 'fr', 'en', 'en', 'de', 'es']
const FIRST_DAY = Date.UTC(2022, 0, 1)
const SPAN_MILLISECONDS = 3 * 365 * 86_400_000
const LINES_PER_CHUNK = 500

/**
 * A portal as dump lines: categories, authors 1 to `authors`, challenges, validations, environments. The same size
 * always gives the same lines. Memory does not follow the size: each author's validations come from a seed of their own.
 */
export function* generateLines(authors: number): Generator<string> {
  for (let id = 1; id <= RUBRIQUES; id++)
    yield JSON.stringify({ type: 'rubrique', id_rubrique: id, nom: `Rubrique ${id}` })
  for (let id = 1; id <= authors; id++) yield authorLine(id)
  for (let id = 1; id <= CHALLENGES; id++) yield challengeLine(id, authors)
  for (let id = 1; id <= authors; id++) yield* validationLines(id)
  for (let id = 1; id <= ENVIRONMENTS; id++) yield environmentLine(id)
}

/** Writes the dump of a portal and says how many lines it has. */
export async function writeDump(file: string, authors: number): Promise<number> {
  let lines = 0
  const chunks = function* () {
    let chunk = ''
    for (const line of generateLines(authors)) {
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
function authorLine(id: number): string {
  const random = randomFrom(id)
  const nom = `${pick(SYLLABLES, random)}${pick(SYLLABLES, random)}${pick(SYLLABLES, random)}${id % 10_000}`
  const statut = id % 200 === 0 ? '5poubelle' : '6forum'
  return `{"type":"auteur","id_auteur":${id},"nom":"${nom}","statut":"${statut}","lang":"${pick(LANGUAGES, random)}"}`
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

/** Four validations at the median, with a long tail: a few authors have solved most of the portal. */
function* validationLines(idAuteur: number): Generator<string> {
  const random = randomFrom(idAuteur ^ 0x5f5f5f5f)
  const wanted = Math.min(CHALLENGES, Math.floor(4.5 * Math.exp(0.9 * normal(random))))
  const solved = new Set<number>()
  while (solved.size < wanted) {
    let id = 1 + Math.floor(CHALLENGES * random() ** 2)
    while (solved.has(id)) id = (id % CHALLENGES) + 1
    solved.add(id)
    const date = instant(FIRST_DAY + random() * SPAN_MILLISECONDS)
    yield `{"type":"validation","id_auteur":${idAuteur},"id_challenge":${id},"date":"${date}"}`
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

/** The easy challenges have the low ids, which are also solved the most. */
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
