import type { Db } from '../store/store.js'
import type { HistogrammeRow } from './contract.js'
import type { Ranking } from './rank.js'

const MAX_TRANCHES = 30
/** Sorts before the date of every author with a score. */
const BEFORE_ALL = Number.MIN_SAFE_INTEGER

/** How many authors of a ranking have how many points: one place is sought for each range, however many authors there are. */
export async function findHistogramme(db: Db, ranking: Ranking): Promise<HistogrammeRow> {
  const nb_auteurs = await ranking.count(db)
  const [first] = await ranking.page(db, 0, 1)
  const score_max = first?.score ?? 0
  const largeur = widthFor(score_max)
  const bounds = first ? Array.from({ length: Math.floor(score_max / largeur) + 1 }, (_, i) => i * largeur) : []
  const above = await Promise.all(
    bounds.map((de) => ranking.rank(db, ranking.keyOf({ score: de + largeur - 1, date: BEFORE_ALL }))),
  )
  const tranches = bounds.map((de, i) => {
    const atLeast = i === 0 ? nb_auteurs : (above[i - 1] as number)
    return { de, a: de + largeur - 1, nb: atLeast - (above[i] as number) }
  })
  return { nb_auteurs, score_max, tranches }
}

/** The smallest of 1, 2, 5, 10, 20, 50, … that needs at most `MAX_TRANCHES` ranges. */
function widthFor(scoreMax: number): number {
  for (let power = 1; ; power *= 10) {
    for (const width of [power, 2 * power, 5 * power]) if (Math.floor(scoreMax / width) < MAX_TRANCHES) return width
  }
}
