import { placesInTurn } from '../classement/rank.js'
import { UNKNOWN_DATE } from '../instant.js'
import type { TieBreak } from '../model/store-settings.js'
import { classement } from '../store/orders.js'
import { readSetting } from '../store/settings.js'
import type { Db } from '../store/store.js'
import { findTieDates, type TieDates } from './derive.js'

/** The places that a file publishes, by author and in the order of the file; undefined for a row without one. */
export type PublishedPlaces = ReadonlyMap<number, number | undefined>

/** How the places of a portal differ from those that a file publishes of the same authors. */
export interface ComparedPlaces {
  /** How the portal breaks ties. */
  departage: TieBreak
  /** Rows of the file with a place, and without one. */
  compared: number
  unplaced: number
  /** For each way of breaking ties, how many rows have another place in the file. */
  differing: Readonly<Record<TieBreak, number>>
  /** Whether the date of any score is known, so that dates may break ties. */
  hasDates: boolean
  /** The first rows that differ now; `place` is that of the portal. */
  first: { nom: string; published: number; place: number }[]
}

/** No row of the file has a place; or the portal ranks other authors too, so its places count them. */
export type IncomparablePlaces =
  | { why: 'no places'; nbRows: number }
  | { why: 'other authors'; nbRows: number; nbRanked: number }

const MAX_FIRST = 5

/** Compares the places of a portal, after the import of a file, with those that the file publishes. */
export async function comparePlaces(db: Db, published: PublishedPlaces): Promise<ComparedPlaces | IncomparablePlaces> {
  const nbRows = published.size
  if ([...published.values()].every((place) => place === undefined)) return { why: 'no places', nbRows }
  // The portal ranks all authors of the file, so if it ranks as many, they are the same.
  const nbRanked = await classement.count(db)
  if (nbRanked !== nbRows) return { why: 'other authors', nbRows, nbRanked }
  const departage = await readSetting(db, 'departage')
  const auteurs = await findTieDates(db)
  const compared = inOrderOf(published, auteurs)
  const differing = (tieBreak: TieBreak) => {
    const places = placesBy(auteurs, tieBreak === departage ? ({ date }) => date : DATES[tieBreak])
    return compared
      .map(({ auteur: { id_auteur, nom }, published }) => ({ nom, published, place: places.get(id_auteur) as number }))
      .filter(({ published, place }) => published !== place)
  }
  const [aucun, date] = [differing('aucun'), differing('date')]
  return {
    departage,
    compared: compared.length,
    unplaced: nbRows - compared.length,
    differing: { aucun: aucun.length, date: date.length },
    hasDates: auteurs.some(({ reached }) => reached !== UNKNOWN_DATE),
    first: { aucun, date }[departage].slice(0, MAX_FIRST),
  }
}

/** What breaks a tie. */
const DATES: Record<TieBreak, (auteur: TieDates) => number> = { aucun: () => 0, date: ({ reached }) => reached }

/** The authors with a published place, in the order of the file. */
function inOrderOf(
  published: PublishedPlaces,
  auteurs: readonly TieDates[],
): { auteur: TieDates; published: number }[] {
  const byId = new Map(auteurs.map((auteur) => [auteur.id_auteur, auteur]))
  return [...published].flatMap(([id, place]) => {
    const auteur = byId.get(id)
    return auteur && place !== undefined ? [{ auteur, published: place }] : []
  })
}

/** The place of each author if these dates broke ties. */
function placesBy(auteurs: readonly TieDates[], dateOf: (auteur: TieDates) => number): Map<number, number> {
  const scored = auteurs.map((auteur) => ({ ...auteur, date: dateOf(auteur) }))
  const place = placesInTurn()
  return new Map(scored.sort((a, b) => b.score - a.score || a.date - b.date).map((row) => [row.id_auteur, place(row)]))
}
