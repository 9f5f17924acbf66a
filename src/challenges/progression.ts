import { UNKNOWN_DATE } from '../instant.js'
import type { Db } from '../store/store.js'
import type { ProgressionRow } from './contract.js'
import { countBefore, countValidations, validationsFrom } from './queries.js'

const MAX_POINTS = 60

/**
 * How the solves of a challenge grew: each of them while they are few, else as many points as a curve needs, each of which is
 * sought in the counted order. Throws `resource_not_found`.
 */
export async function findProgression(db: Db, idChallenge: number): Promise<ProgressionRow> {
  const nb_validations = await countValidations(db, idChallenge)
  const dated = await countBefore(db, idChallenge, UNKNOWN_DATE)
  const points =
    dated > MAX_POINTS ? await samplePoints(db, idChallenge, dated) : await allPoints(db, idChallenge, dated)
  return { id_challenge: idChallenge, nb_validations, sans_date: nb_validations - dated, points }
}

async function allPoints(db: Db, idChallenge: number, dated: number): Promise<ProgressionRow['points']> {
  const rows = dated === 0 ? [] : await validationsFrom(db, idChallenge, 0, dated)
  return lastOfEachDate(rows.map(({ date }, i) => ({ date: date as number, nb: i + 1 })))
}

async function samplePoints(db: Db, idChallenge: number, dated: number): Promise<ProgressionRow['points']> {
  const [[first], [last]] = await Promise.all([
    validationsFrom(db, idChallenge, 0, 1),
    validationsFrom(db, idChallenge, dated - 1, 1),
  ])
  const from = first?.date as number
  const span = (last?.date as number) - from
  const dates = Array.from({ length: MAX_POINTS }, (_, i) => from + Math.round((span * i) / (MAX_POINTS - 1)))
  const counts = await Promise.all(dates.map((date) => countBefore(db, idChallenge, date + 1)))
  return lastOfEachDate(dates.map((date, i) => ({ date, nb: counts[i] as number })))
}

function lastOfEachDate(points: ProgressionRow['points']): ProgressionRow['points'] {
  return points.filter(({ date }, i) => date !== points[i + 1]?.date)
}
