import { type DemoTexte, demoTextes } from './demo-challenges.js'
import { ENVIRONNEMENTS } from './demo-environnements.js'
import { type DemoAuteur, demoJoueurs, type Joueur } from './demo-joueurs.js'
import { sansAccents } from './demo-words.js'

interface DemoRubrique {
  type: 'rubrique'
  id_rubrique: number
  nom: string
}

interface DemoChallenge {
  type: 'challenge'
  id_challenge: number
  id_rubrique: number
  titre: string
  soustitre: string
  descriptif: string
  lang: string
  score: number
  difficulte: string
  id_trad: number
  url_challenge: string
  date_publication: string
  auteurs: number[]
}

interface DemoValidation {
  type: 'validation'
  id_auteur: number
  id_challenge: number
  date: string
}

interface DemoEnvironnement {
  type: 'environnement_virtuel'
  id_environnement_virtuel: number
  nom: string
  os: string
  statut: string
  lang: string
  description_fr: string
  description_en: string
  time_to_root: number
}

/** One line of the demo dump; dates are UTC seconds, `time_to_root` is in seconds. */
export type DemoLine = DemoRubrique | DemoAuteur | DemoChallenge | DemoValidation | DemoEnvironnement

const DEBUT = Date.UTC(2024, 10, 1)
const FIN = Date.UTC(2026, 10, 1) - 1000
const JOUR = 86_400_000
// Two challenges that try the edges of `auteurs`: nobody, and two people. Neither has a translation.
const SANS_AUTEUR = 'Le compte des moutons'
const A_DEUX_AUTEURS = 'Compagnie des tramways'

/**
 * The demo portal as dump lines: rubriques, auteurs, challenges, validations (by date), environnements virtuels.
 * Nothing in it comes from a real portal. It reads neither the clock nor the system's randomness: each call gives the
 * same lines. No author has a base score, so that a score is the sum of what its author solved.
 */
export function* demoPortal(): Generator<DemoLine> {
  const textes = demoTextes()
  const rubriques = [...new Set(textes.map(([original]) => original!.rubrique))]
  const joueurs = demoJoueurs(hasard(1))
  const challenges = demoChallenges(textes, rubriques, joueurs, hasard(2))
  yield* rubriques.map((nom, i): DemoRubrique => ({ type: 'rubrique', id_rubrique: i + 1, nom }))
  yield* joueurs.map((joueur) => joueur.auteur)
  yield* challenges
  yield* demoValidations(joueurs, challenges, hasard(3))
  yield* ENVIRONNEMENTS.map(
    (fiche, i): DemoEnvironnement => ({ type: 'environnement_virtuel', id_environnement_virtuel: i + 1, ...fiche }),
  )
}

function demoChallenges(groupes: DemoTexte[][], rubriques: string[], joueurs: Joueur[], alea: () => number) {
  const createurs = joueurs.filter(({ rang }) => rang < 90).sort((a, b) => a.rang - b.rang)
  const ouverture = Date.UTC(2022, 2, 1)
  const duree = Date.UTC(2026, 7, 1) - ouverture
  const fiches = groupes.flatMap(([original, ...traductions], groupe) => {
    const publie = ouverture + duree * alea()
    const auteurs = auteursDe(original!, createurs, alea)
    const commun = { groupe, auteurs, score: original!.score }
    return [
      { ...commun, texte: original!, publie },
      ...traductions.map((texte) => ({ ...commun, texte, publie: publie + (2 + 58 * alea()) * JOUR })),
    ]
  })
  fiches.sort((a, b) => a.publie - b.publie)
  return fiches.map(
    ({ texte, groupe, score, publie, auteurs }, i): DemoChallenge => ({
      type: 'challenge',
      id_challenge: i + 1,
      id_rubrique: rubriques.indexOf(texte.rubrique) + 1,
      titre: texte.titre,
      soustitre: texte.soustitre,
      descriptif: texte.descriptif,
      lang: texte.lang,
      score,
      difficulte: difficulte(score),
      // An original is published before its translations, so the first of the group is the original.
      id_trad: fiches.findIndex((fiche) => fiche.groupe === groupe) + 1,
      url_challenge: `${texte.lang}/Challenges/${chemin(texte.rubrique)}/${chemin(texte.titre)}`,
      date_publication: date(publie),
      auteurs,
    }),
  )
}

function auteursDe({ titre }: DemoTexte, createurs: Joueur[], alea: () => number): number[] {
  const ids = createurs.map(({ auteur }) => auteur.id_auteur)
  if (titre === SANS_AUTEUR) return []
  if (titre === A_DEUX_AUTEURS) return ids.slice(0, 2)
  return [ids[Math.floor(ids.length * alea() ** 2)]!]
}

function difficulte(score: number): string {
  if (score <= 10) return 'Très facile'
  if (score <= 20) return 'Facile'
  if (score <= 35) return 'Moyen'
  return score <= 60 ? 'Difficile' : 'Très difficile'
}

function chemin(titre: string): string {
  return sansAccents(titre)
    .replace(/[^A-Za-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
}

function demoValidations(joueurs: Joueur[], challenges: DemoChallenge[], alea: () => number): DemoValidation[] {
  const originaux = challenges.filter((c) => c.id_trad === c.id_challenge)
  const attraits = new Map(originaux.map((c) => [c, 0.5 + alea()]))
  const validations = joueurs.flatMap(({ auteur, force, cible, exact }) => {
    const ordre = ordreDeResolution(originaux, attraits, 14 + 40 * force ** 3, alea)
    const resolus = exact ? exactement(cible, ordre) : auMoins(cible, ordre)
    // Most of those who play at all came before the window or early in it: newcomers have the higher ids.
    const arrivee = DEBUT + (FIN - DEBUT) * Math.max(0, (1.3 * auteur.id_auteur) / joueurs.length - 0.4) * alea()
    return resolus.map((original): DemoValidation => {
      // One version of a challenge at most, so that nobody earns the same points twice.
      const version = challenges.find((c) => c.id_trad === original.id_trad && c.lang === auteur.lang) ?? original
      const depuis = Math.max(arrivee, Date.parse(version.date_publication))
      const instant = depuis + (FIN - depuis) * alea() ** (2.5 - original.score / 60)
      return {
        type: 'validation',
        id_auteur: auteur.id_auteur,
        id_challenge: version.id_challenge,
        date: date(instant),
      }
    })
  })
  return validations.sort((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : 0))
}

/** A weighted shuffle: the higher the score, the later; the greater `audace`, in points, the less it matters. */
function ordreDeResolution(
  originaux: DemoChallenge[],
  attraits: Map<DemoChallenge, number>,
  audace: number,
  alea: () => number,
): DemoChallenge[] {
  const attente = new Map(
    originaux.map((c) => [c, -Math.log(1 - alea()) / (attraits.get(c)! * Math.exp(-c.score / audace))]),
  )
  return [...originaux].sort((a, b) => attente.get(a)! - attente.get(b)!)
}

function auMoins(cible: number, ordre: DemoChallenge[]): DemoChallenge[] {
  let somme = 0
  return ordre.filter((c) => {
    const pris = somme < cible
    if (pris) somme += c.score
    return pris
  })
}

/** Exact up to 50 points: as long as 5 are missing, one of the ten challenges of 5 points is left to take. */
function exactement(cible: number, ordre: DemoChallenge[]): DemoChallenge[] {
  let reste = cible
  return ordre.filter((c) => {
    const pris = c.score <= reste
    if (pris) reste -= c.score
    return pris
  })
}

function date(instant: number): string {
  return `${new Date(instant).toISOString().slice(0, 19)}Z`
}

/** mulberry32: numbers from 0 to below 1, the same ones for the same seed. */
function hasard(graine: number): () => number {
  let etat = graine
  return () => {
    etat = (etat + 0x6d2b79f5) | 0
    let t = Math.imul(etat ^ (etat >>> 15), etat | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}
