import demo from './demo.json' with { type: 'json' }
import { demoJoueurs, type Joueur } from './demo-joueurs.js'
import { sansAccents } from './demo-noms.js'

/** One line of the demo dump. */
export type DemoLine = ReturnType<typeof demoPortal> extends Generator<infer Line> ? Line : never
type DemoChallenge = ReturnType<typeof demoChallenges>[number]

const DEBUT = Date.UTC(2024, 10, 1)
const FIN = Date.UTC(2026, 10, 1) - 1000
const JOUR = 86_400_000

/**
 * The demo portal as dump lines: rubriques, auteurs, challenges, validations (by date), environnements virtuels.
 * Nothing in it comes from a real portal. It reads neither the clock nor the system's randomness: each call gives the
 * same lines. No author has a base score, so that a score is the sum of what its author solved.
 */
export function* demoPortal() {
  const joueurs = demoJoueurs(hasard(1))
  const challenges = demoChallenges(joueurs, hasard(2))
  yield* demo.rubriques.map(({ nom }, i) => ({ type: 'rubrique' as const, id_rubrique: i + 1, nom }))
  yield* joueurs.map((joueur) => joueur.auteur)
  yield* challenges
  yield* demoValidations(joueurs, challenges, hasard(3))
  yield* demo.environnements.map((fiche, i) => ({
    type: 'environnement_virtuel' as const,
    id_environnement_virtuel: i + 1,
    ...fiche,
  }))
}

/** Of the texts of a challenge, the first is the original; the others are its translations. */
function demoChallenges(joueurs: Joueur[], alea: () => number) {
  const createurs = joueurs.filter(({ rang }) => rang < 90).sort((a, b) => a.rang - b.rang)
  const ids = createurs.map(({ auteur }) => auteur.id_auteur)
  const ouverture = Date.UTC(2022, 2, 1)
  const duree = Date.UTC(2026, 7, 1) - ouverture
  const groupes = demo.rubriques.flatMap(({ nom, challenges }, i) =>
    challenges.map((groupe) => ({ ...groupe, rubrique: nom, id_rubrique: i + 1 })),
  )
  const fiches = groupes.flatMap((groupe) => {
    const original = ouverture + duree * alea()
    // Two challenges try the edges of `auteurs`: nobody, and two people.
    const { nb_auteurs: nombre } = groupe
    const auteurs = nombre === 1 ? [ids[Math.floor(ids.length * alea() ** 2)]!] : ids.slice(0, nombre)
    return groupe.textes.map((texte, i) => {
      const publie = i === 0 ? original : original + (2 + 58 * alea()) * JOUR
      return { groupe, texte, publie, auteurs }
    })
  })
  fiches.sort((a, b) => a.publie - b.publie)
  return fiches.map(({ groupe, texte: { lang, titre, soustitre, descriptif }, publie, auteurs }, i) => ({
    type: 'challenge' as const,
    id_challenge: i + 1,
    id_rubrique: groupe.id_rubrique,
    titre,
    soustitre,
    descriptif,
    lang,
    score: groupe.score,
    difficulte: difficulte(groupe.score),
    // An original is published before its translations, so the first of the group is the original.
    id_trad: fiches.findIndex((fiche) => fiche.groupe === groupe) + 1,
    url_challenge: `${lang}/Challenges/${chemin(groupe.rubrique)}/${chemin(titre)}`,
    date_publication: date(publie),
    auteurs,
  }))
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

function demoValidations(joueurs: Joueur[], challenges: DemoChallenge[], alea: () => number) {
  const originaux = challenges.filter((c) => c.id_trad === c.id_challenge)
  const attraits = new Map(originaux.map((c) => [c, 0.5 + alea()]))
  const validations = joueurs.flatMap(({ auteur, force, cible, exact }) => {
    const ordre = ordreDeResolution(originaux, attraits, 14 + 40 * force ** 3, alea)
    const resolus = exact ? exactement(cible, ordre) : auMoins(cible, ordre)
    // Most of those who play at all came before the window or early in it: newcomers have the higher ids.
    const arrivee = DEBUT + (FIN - DEBUT) * Math.max(0, (1.3 * auteur.id_auteur) / joueurs.length - 0.4) * alea()
    return resolus.map((original) => {
      // One version of a challenge at most, so that nobody earns the same points twice.
      const version = challenges.find((c) => c.id_trad === original.id_trad && c.lang === auteur.lang) ?? original
      const depuis = Math.max(arrivee, Date.parse(version.date_publication))
      const instant = depuis + (FIN - depuis) * alea() ** (2.5 - original.score / 60)
      return {
        type: 'validation' as const,
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
