import { found } from '../errors.js'
import { UNKNOWN_DATE } from '../instant.js'
import { statement } from '../store/query.js'
import type { Db } from '../store/store.js'
import type { ProgressionRow } from './contract.js'

const MAX_POINTS = 500

/** How an author's score grew, by what each challenge is worth now. Throws `resource_not_found`. */
export async function findProgression(db: Db, idAuteur: number): Promise<ProgressionRow> {
  const id = { id: idAuteur }
  const [auteur, solved] = await Promise.all([db.get(selectBase, id), db.all(selectSolved, id)])
  const isDated = ({ date }: { date: number }) => date !== UNKNOWN_DATE
  let sum = solved
    .filter((row) => !isDated(row))
    .reduce((points, { score }) => points + score, found(auteur, 'author').base)
  const score_initial = Math.max(0, sum)
  const points = solved.filter(isDated).map(({ date, score }) => {
    sum += score
    return { date, score: Math.max(0, sum) }
  })
  const byDate = points.filter(({ date }, i) => date !== points[i + 1]?.date)
  return { id_auteur: idAuteur, score_initial, score: Math.max(0, sum), points: thinned(byDate) }
}

/** As many points as a curve needs at most, evenly chosen, the last among them. */
function thinned<T>(points: readonly T[]): T[] {
  if (points.length <= MAX_POINTS) return [...points]
  // One division of whole numbers: a step would miss the last point by what it is rounded.
  return Array.from(
    { length: MAX_POINTS },
    (_, i) => points[Math.ceil(((i + 1) * points.length) / MAX_POINTS) - 1] as T,
  )
}

const selectBase = statement<{ id: number }>({ auteurs: { id_auteur: 'id' } })((q, p) =>
  q.selectFrom('auteurs').select('base').where('id_auteur', '=', p.id),
)

const selectSolved = statement<{ id: number }>({ validations: { id_auteur: 'id' } })((q, p) =>
  q
    .selectFrom('validations')
    .innerJoin('challenges', 'challenges.id_challenge', 'validations.id_challenge')
    .select(['date', 'score'])
    .where('id_auteur', '=', p.id)
    .orderBy('date')
    .orderBy('challenges.id_challenge'),
)
