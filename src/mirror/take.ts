import { parseInstant } from '../instant.js'
import { readGel } from '../store/settings.js'
import type { Line } from './batch.js'
import type { Pass } from './context.js'
import { findAuteur, findLogins, type Known } from './copy.js'
import {
  type AuteurRead,
  type ChallengeRead,
  type Fields,
  idFieldOf,
  kindOfNoun,
  type Noun,
  type PlainNoun,
  type Rubrique,
} from './source.js'

/*
 * Each function turns one answer into lines of the dump. It returns the derived values that the copy will have, which
 * `readingsOf` finds in the copy; undefined if not all of the answer could be taken. Lines are put all at once and only then
 * marked as known, so that an answer with a fault leaves nothing behind.
 */

/** Adds the category and the authors of a challenge, too, if the copy lacks them. */
export function takeChallenge(pass: Pass, id: number, read: ChallengeRead, path: string): string {
  const { batch, known, followed, source, touched } = pass
  const auteurs = [...new Map(read.auteurs.map((each) => [each.id_auteur, each])).values()].filter(
    ({ id_auteur }) => !followed || followed.has(id_auteur),
  )
  const added = auteurs.filter(({ id_auteur }) => !known.auteurs.has(id_auteur))
  // If the portal lists its categories, the list decides their names.
  const isListed = source.rubriques && known.rubriques.has(read.rubrique.id_rubrique)
  const rubriques = isListed ? [] : newNames(known, [namedRubrique(known, read.rubrique)])
  const ids = auteurs.map(({ id_auteur }) => id_auteur)
  const lines: Line[] = [
    ...rubriques.map((each) => ({ type: 'rubrique', ...each })),
    ...added.map(({ id_auteur, nom }) => ({ type: 'auteur', id_auteur, nom })),
    { type: 'challenge', id_challenge: id, ...read.fields, auteurs: ids },
  ]
  batch.put(lines, path)
  for (const { id_rubrique, nom } of rubriques) known.rubriques.set(id_rubrique, nom)
  for (const { id_auteur } of added) {
    known.auteurs.add(id_auteur)
    touched.added.add(id_auteur)
  }
  const before = known.challenges.get(id)
  if (before !== undefined && before !== read.fields.score) touched.hasNewScore = true
  known.challenges.set(id, read.fields.score)
  return String(ids.length)
}

/** A category must have a name: the one in the copy, else its number, until the portal names it. */
function namedRubrique(known: Known, { id_rubrique, nom }: Rubrique): Rubrique {
  return { id_rubrique, nom: nom || known.rubriques.get(id_rubrique) || `rubrique ${id_rubrique}` }
}

/** Records the names in a list of categories. */
export function takeRubriques({ batch, known }: Pass, rubriques: readonly Rubrique[], path: string): void {
  const renamed = newNames(known, rubriques)
  const lines = renamed.map((each) => ({ type: 'rubrique', ...each }))
  batch.put(lines, path)
  for (const { id_rubrique, nom } of renamed) known.rubriques.set(id_rubrique, nom)
}

function newNames(known: Known, rubriques: readonly Rubrique[]): Rubrique[] {
  return rubriques.filter(({ id_rubrique, nom }) => known.rubriques.get(id_rubrique) !== nom)
}

/** Keeps an author's total; removes solves that the portal no longer lists. */
export async function takeAuteur(pass: Pass, id: number, read: AuteurRead, path: string): Promise<string | undefined> {
  const { store, batch, known, touched } = pass
  const [before, gel] = await store.read(async (db) => [await findAuteur(db, id), await readGel(db)])
  const listed = new Map(read.validations.map(({ id_challenge, date }) => [id_challenge, date]))
  // What the copy freezes counts for the total at once and again at the end of the freeze, unless it is read again then.
  const isLate = (date: string | null) => gel !== undefined && (date === null || Number(parseInstant(date)) > gel)
  const isWhole = [...listed].every(([id_challenge, date]) => known.challenges.has(id_challenge) && !isLate(date))
  const lines: Line[] = [{ type: 'auteur', id_auteur: id, ...read.fields }]
  let points = 0
  for (const [id_challenge, date] of listed) {
    const score = known.challenges.get(id_challenge)
    if (score === undefined) continue
    points += score
    if (before?.validations.get(id_challenge) !== date) {
      lines.push({ type: 'validation', id_auteur: id, id_challenge, date })
    }
  }
  for (const id_challenge of before?.validations.keys() ?? []) {
    if (!listed.has(id_challenge)) lines.push({ type: 'validation', id_auteur: id, id_challenge, supprime: true })
  }
  batch.put(lines, path)
  if (!known.auteurs.has(id)) touched.added.add(id)
  known.auteurs.add(id)
  // Only a score may be null here.
  const is = before?.auteur
  const isSame = Object.entries(read.fields).every(([name, value]) => (value ?? is?.score) === is?.[name])
  if (!isSame) touched.changed.add(id)
  return isWhole ? String(points) : undefined
}

export function takePlain({ batch, known }: Pass, noun: PlainNoun, id: number, fields: Fields, path: string): string {
  batch.put([{ ...lineOf(noun, id), ...fields }], path)
  known[noun].add(id)
  return '0'
}

/** The type and the id of a record, as every line has them. */
function lineOf(noun: Noun, id: number): Line {
  return { type: kindOfNoun(noun).type, [idFieldOf(noun)]: id }
}

/**
 * Removes a record whose address answers 404, and what depends on it. An author who has an account here stays, because another
 * portal must not decide who may sign in to this one.
 */
export async function removeRecord(pass: Pass, noun: Noun, id: number, path: string): Promise<void> {
  const { store, batch, known, followed, onWarning } = pass
  const login = noun === 'auteurs' && (await store.read((db) => findLogins(db, id))).get(id)
  if (login) {
    onWarning(`${path}: the portal no longer has this author; ${keptFor(login)}`)
    return batch.gone(path)
  }
  // A challenge that waits in the batch may name this author, who must still be there when it is written. Meanwhile another
  // connection may put one more.
  while (noun === 'auteurs' && batch.holds('challenge')) await batch.flush()
  if (known[noun].delete(id)) batch.put([{ ...lineOf(noun, id), supprime: true }], path)
  if (noun === 'auteurs' && followed) onWarning(`the portal has no author ${id}, whom --authors names`)
  batch.gone(path)
}

/** Why an author stays, and how to remove them. */
export function keptFor(login: string): string {
  return `kept because account ${login} uses this author; to remove the account: palmares accounts remove ${login}`
}
