import { demoNoms } from './demo-noms.js'

const AUTEURS = 4000
const CACHES = 36
const CLASSES = AUTEURS - CACHES
// The demo account belongs to author 1, who has a good row without being a champion.
const RANG_DE_LA_DEMO = 240

// The lower ranking is built from the bottom up, because two rows of it are promised: the tie of 2,500th place starts
// at row 2499 exactly and ends on the page of 100 rows that starts at row 2450, whose first place is below 2451.
const LIGNE_DES_EX_AEQUO = 2499
const PALIERS = [
  { score: 35, auteurs: 53 },
  { score: 30, auteurs: 42 },
  { score: 25, auteurs: 51 },
  { score: 20, auteurs: 68 },
  { score: 15, auteurs: 97 },
  { score: 10, auteurs: 149 },
  { score: 5, auteurs: 214 },
]
const HAUT = LIGNE_DES_EX_AEQUO - PALIERS[0]!.auteurs
// Everybody above has more than the highest step.
const SEUIL = PALIERS[0]!.score + 5

/**
 * An author and what to expect of it: its zero-based row in the ranking, about (hidden authors come last), its
 * strength from 0 to 1, and the score to reach, exactly or at least.
 */
export interface Joueur {
  /** Its dump line; without a `score`, the author has no base. */
  auteur: { type: 'auteur'; id_auteur: number; nom: string; statut: string; lang: string }
  rang: number
  force: number
  cible: number
  exact: boolean
}

/** The 4,000 authors by id. The rows of the ranking are dealt out, so that an id says nothing about a score. */
export function demoJoueurs(alea: () => number): Joueur[] {
  const noms = demoNoms(AUTEURS, alea)
  const autres = [...Array(AUTEURS).keys()].filter((rang) => rang !== RANG_DE_LA_DEMO)
  const rangs = [RANG_DE_LA_DEMO, ...melange(autres, alea)]
  return rangs.map((rang, i) => {
    const statut = i === 0 ? '0minirezo' : statutDuRang(rang)
    const auteur = { type: 'auteur' as const, id_auteur: i + 1, nom: noms[i]!, statut, lang: langue(alea) }
    const force = Math.max(0, 1 - rang / HAUT)
    return { auteur, rang, force, cible: cible(rang, force, alea), exact: rang >= HAUT && rang < CLASSES }
  })
}

function cible(rang: number, force: number, alea: () => number): number {
  // A third of the hidden authors were hidden for scores too good to be true, the others for what they wrote.
  if (rang >= CLASSES) return rang % 3 === 0 ? 200 + 1500 * alea() : 0
  // Above the steps: many who play a little, a few who solve nearly everything, some of whom solve it all.
  if (rang < HAUT) return SEUIL + 100 * force + 1700 * force ** 12
  let reste = rang - HAUT
  const palier = PALIERS.find(({ auteurs }) => {
    reste -= auteurs
    return reste < 0
  })
  return palier?.score ?? 0
}

function statutDuRang(rang: number): string {
  if (rang >= CLASSES) return '5poubelle'
  if ([4, 17, 58].includes(rang)) return '0minirezo'
  if (rang < 90 && rang % 8 === 2) return '1comite'
  return rang > 3200 && rang % 20 === 0 ? 'nouveau' : '6forum'
}

function langue(alea: () => number): string {
  const tour = alea()
  if (tour < 0.82) return 'fr'
  return tour < 0.91 ? 'en' : tour < 0.96 ? 'es' : 'de'
}

function melange<T>(liste: T[], alea: () => number): T[] {
  for (let i = liste.length - 1; i > 0; i--) {
    const j = Math.floor(alea() * (i + 1))
    ;[liste[i], liste[j]] = [liste[j]!, liste[i]!]
  }
  return liste
}
