import fc from 'fast-check'
import type { DumpLine } from './harness.js'

/**
 * A small portal with one of each difficulty: ties, a hidden author who leads by score, unknown fields, names that search
 * folds, and text that JSON must escape.
 */
export const portail: readonly DumpLine[] = [
  { type: 'rubrique', id_rubrique: 2, nom: 'Stéganographie' },
  { type: 'rubrique', id_rubrique: 1, nom: 'Réseau & câbles' },
  { type: 'rubrique', id_rubrique: 7, nom: 'Vide' },

  { type: 'auteur', id_auteur: 1, nom: 'alice', statut: '6forum', lang: 'fr', score: 120 },
  { type: 'auteur', id_auteur: 2, nom: 'Élodie 😀', statut: '6forum', lang: 'fr' },
  { type: 'auteur', id_auteur: 3, nom: 'O\'Brien "50%_"', statut: '6FORUM', lang: 'EN', score: 120 },
  { type: 'auteur', id_auteur: 4, nom: 'Σίσυφος', statut: '1comite', lang: 'el', score: 70 },
  { type: 'auteur', id_auteur: 5, nom: '<b>Zoé & Cie</b>', lang: 'en', score: 30, groupe: 'Lycée B' },
  { type: 'auteur', id_auteur: 6, nom: 'élodie la cachée', statut: '5Poubelle', lang: 'fr', score: 500 },
  { type: 'auteur', id_auteur: 7, nom: 'DEL\u007f\u0080', statut: '6forum', score: 70 },
  { type: 'auteur', id_auteur: 8, nom: 'a%b', score: 70 },
  { type: 'auteur', id_auteur: 9, nom: 'a_b\\c/d', groupe: 'LYCÉE B' },
  { type: 'auteur', id_auteur: 10, nom: 'E\u0301LODIE', statut: '6forum', lang: 'fr' },
  { type: 'auteur', id_auteur: 12, nom: 'ﬁn du monde', statut: '1comite', lang: 'de', score: 30, groupe: 'lycée b' },
  { type: 'auteur', id_auteur: 40, nom: '日本語', score: 0 },

  {
    type: 'challenge',
    id_challenge: 1,
    id_rubrique: 1,
    titre: "L'entrée",
    soustitre: 'Où est le drapeau ?',
    descriptif: '<p>Entrez&nbsp;: <a href="/x">là</a>\n</p>',
    lang: 'fr',
    score: 10,
    difficulte: 'Très facile',
    id_trad: 1,
    url_challenge: '/fr/Challenges/Reseau/Entree',
    date_publication: '2025-01-31T13:00:00+01:00',
    auteurs: [4, 2],
  },
  {
    type: 'challenge',
    id_challenge: 2,
    id_rubrique: 1,
    titre: 'The entrance',
    soustitre: 'Where is the flag?',
    descriptif: '<p>Enter.</p>',
    lang: 'en',
    score: 10,
    difficulte: 'Très facile',
    id_trad: 1,
    url_challenge: 'en/Challenges/Network/Entrance',
    date_publication: '2025-02-01T00:00:00.999Z',
    auteurs: [2],
  },
  {
    type: 'challenge',
    id_challenge: 3,
    id_rubrique: 2,
    titre: '100 % _coton_ "pur"',
    soustitre: 'entrée des artistes',
    lang: 'FR',
    score: 25,
    url_challenge: 'https://ailleurs.example/defi?x=1&y=2',
    auteurs: [1, 4, 6],
  },
  { type: 'challenge', id_challenge: 4, id_rubrique: 2, titre: 'Nu', score: 0 },
  { type: 'challenge', id_challenge: 5, id_rubrique: 2, titre: 'Œuf 😀\u007f', score: 25, lang: 'es', auteurs: [2] },
  { type: 'challenge', id_challenge: 90, id_rubrique: 1, titre: 'Der Eingang', lang: 'de', score: 10, id_trad: 1 },

  { type: 'validation', id_auteur: 6, id_challenge: 1, date: '2025-03-01T08:00:00Z' },
  { type: 'validation', id_auteur: 9, id_challenge: 1, date: '2025-03-02T08:00:00Z' },
  { type: 'validation', id_auteur: 2, id_challenge: 1, date: '2025-03-02T08:00:00Z' },
  { type: 'validation', id_auteur: 10, id_challenge: 1 },
  { type: 'validation', id_auteur: 8, id_challenge: 1, date: null },
  { type: 'validation', id_auteur: 2, id_challenge: 3, date: '2025-03-03T09:30:59.9Z' },
  { type: 'validation', id_auteur: 2, id_challenge: 5 },
  { type: 'validation', id_auteur: 2, id_challenge: 2, date: '2025-03-02T08:00:00Z' },
  { type: 'validation', id_auteur: 10, id_challenge: 5, date: null },

  {
    type: 'environnement_virtuel',
    id_environnement_virtuel: 3,
    nom: 'Forêt',
    os: 'Windows',
    statut: 'actif',
    lang: 'fr',
    description_fr: '<p>Une forêt.</p>',
    description_en: 'A "forest".',
    time_to_root: 3600,
  },
  { type: 'environnement_virtuel', id_environnement_virtuel: 1, nom: 'Clairière', os: 'Linux' },
  { type: 'environnement_virtuel', id_environnement_virtuel: 20, nom: 'FORET 2', time_to_root: 0 },
]

/** How many records of each kind a random portal has, and its seed. */
export interface PortalShape {
  seed: number
  auteurs: number
  challenges: number
  validations: number
  /** The number of distinct explicit scores; a small one makes many ties. */
  scores: number
}

/** Portals for property tests, which shrink to smaller ones. Author 1 always exists and is never hidden. */
export const anyPortal: fc.Arbitrary<DumpLine[]> = fc
  .record({
    seed: fc.integer({ min: 0, max: 0x7fffffff }),
    auteurs: fc.integer({ min: 1, max: 90 }),
    challenges: fc.integer({ min: 1, max: 40 }),
    validations: fc.integer({ min: 0, max: 250 }),
    scores: fc.integer({ min: 1, max: 12 }),
  })
  .map(randomPortal)

/** The same shape always returns the same portal. */
export function randomPortal({ seed, auteurs, challenges, validations, scores }: PortalShape): DumpLine[] {
  const random = new Random(seed)
  const lines: DumpLine[] = []
  const nbRubriques = 1 + random.below(4)
  for (let id = 1; id <= nbRubriques; id++) lines.push({ type: 'rubrique', id_rubrique: id, nom: randomName(random) })
  const idsAuteurs = random.ids(auteurs)
  for (const [index, id_auteur] of idsAuteurs.entries()) {
    const statut = index === 0 ? '6forum' : random.pick(STATUTS)
    const named = { type: 'auteur', id_auteur, nom: randomName(random), statut, lang: random.pick(LANGS) }
    const groupe = GROUPES[id_auteur % GROUPES.length]
    const auteur: DumpLine = groupe === '' ? named : { ...named, groupe }
    if (id_auteur % 4 === 0) auteur.date_score = randomDate(random)
    lines.push(random.below(3) === 0 ? auteur : { ...auteur, score: 5 * random.below(scores) })
  }
  const idsChallenges = random.ids(challenges)
  for (const id_challenge of idsChallenges) lines.push(randomChallenge(random, id_challenge, nbRubriques, idsAuteurs))
  const solved = new Set<string>()
  for (let nb = 0; nb < validations; nb++) {
    const [id_auteur, id_challenge] = [random.pick(idsAuteurs), random.pick(idsChallenges)]
    if (solved.has(`${id_auteur} ${id_challenge}`)) continue
    solved.add(`${id_auteur} ${id_challenge}`)
    lines.push({ type: 'validation', id_auteur, id_challenge, date: random.below(6) === 0 ? null : randomDate(random) })
  }
  for (const id_environnement_virtuel of random.ids(random.below(30))) {
    const os = random.pick(['Linux', 'LINUX', 'Windows', ''])
    lines.push({ type: 'environnement_virtuel', id_environnement_virtuel, nom: randomName(random), os })
  }
  return random.shuffle(lines)
}

function randomChallenge(random: Random, id_challenge: number, nbRubriques: number, auteurs: number[]): DumpLine {
  const written = Array.from({ length: random.below(3) }, () => random.pick(auteurs))
  const line: DumpLine = {
    type: 'challenge',
    id_challenge,
    id_rubrique: 1 + random.below(nbRubriques),
    titre: randomName(random),
    soustitre: random.below(3) === 0 ? '' : randomName(random),
    lang: random.pick(LANGS),
    score: 5 * random.below(6),
    auteurs: written,
  }
  if (random.below(2) === 0) line.id_trad = 1 + random.below(8)
  if (random.below(2) === 0) line.url_challenge = random.pick(['/a/b', 'fr/c', 'http://ailleurs.example/', ''])
  if (random.below(2) === 0) line.date_publication = randomDate(random)
  return line
}

const GROUPES = ['', 'Nord', 'NORD', 'sud-est', '', 'Été', 'ete', '東/京'] as const
const STATUTS = ['6forum', '6FORUM', '1comite', '5poubelle', '5Poubelle', '']
const LANGS = ['fr', 'FR', 'en', 'Zh-Hant', '']
/** Letters that search folds, drops or expands, or that are special in SQL, an index or JSON. */
const LETTERS = [...'aàÁeéÉèiİınñNoöœŒsßΣσςﬁ%_"\'\\*^&<> -日本😀𝒜'].concat(['e\u0301', '\u0300', '\u007f', 'Å', '½'])

function randomName(random: Random): string {
  return Array.from({ length: 1 + random.below(7) }, () => random.pick(LETTERS)).join('')
}

/** From a few days, so that dates repeat. */
function randomDate(random: Random): string {
  return new Date(Date.UTC(2024, random.below(3), 1 + random.below(9), random.below(2))).toISOString()
}

/** Mulberry32: small, seeded, good enough for test data. */
class Random {
  constructor(private state: number) {}

  below(bound: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T
  }

  /** Ascending ids from 1 on, with gaps. */
  ids(count: number): number[] {
    let last = 0
    return Array.from({ length: count }, (_, index) => {
      last += index === 0 || this.below(4) > 0 ? 1 : 1 + this.below(20)
      return last
    })
  }

  shuffle<T>(values: T[]): T[] {
    for (let index = values.length - 1; index > 0; index--) {
      const other = this.below(index + 1)
      const [a, b] = [values[index] as T, values[other] as T]
      values[index] = b
      values[other] = a
    }
    return values
  }
}
