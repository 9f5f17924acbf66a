/** The curves of the contract, restated by brute force from the records. */

export function histogramme(scores: readonly number[]): unknown {
  const score_max = Math.max(0, ...scores)
  const widths = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000].flatMap((power) => [power, 2 * power, 5 * power])
  const width = widths.find((each) => score_max < 30 * each) as number
  const tranches = []
  for (let de = 0; scores.length > 0 && de <= score_max; de += width) {
    const a = de + width - 1
    tranches.push({ de, a, nb: scores.filter((score) => score >= de && score <= a).length })
  }
  return { nb_auteurs: scores.length, score_max, tranches }
}

/** For a challenge, from the dates of its validations; null for an unknown date. */
export function progressionOfChallenge(id_challenge: number, dates: readonly (string | null)[]): unknown {
  const known = dates.filter((date) => date !== null).map((date) => Date.parse(date) / 1000)
  const [from, to] = [Math.min(...known), Math.max(...known)]
  const shown =
    known.length > 60 ? Array.from({ length: 60 }, (_, i) => from + Math.round(((to - from) * i) / 59)) : known
  const points = [...new Set(shown)]
    .toSorted((a, b) => a - b)
    .map((date) => ({ date: text(date), nb: known.filter((other) => other <= date).length }))
  return { id_challenge, nb_validations: dates.length, sans_date: dates.length - known.length, points }
}

/** For an author, from the total, and the dates and scores of the solves. */
export function progressionOfAuteur(
  id_auteur: number,
  score: number,
  solves: readonly { date: string | null; score: number }[],
): unknown {
  const sum = (some: typeof solves) => some.reduce((points, each) => points + each.score, 0)
  const base = score - sum(solves)
  const upTo = (date: string) => solves.filter((solve) => solve.date === null || solve.date <= date)
  const dates = [...new Set(solves.flatMap(({ date }) => (date === null ? [] : [date])))].toSorted()
  const shown =
    dates.length > 500 ? Array.from({ length: 500 }, (_, i) => Math.ceil(((i + 1) * dates.length) / 500)) : undefined
  return {
    id_auteur: String(id_auteur),
    score_initial: Math.max(0, base + sum(solves.filter(({ date }) => date === null))),
    score,
    points: (shown?.map((count) => dates[count - 1] as string) ?? dates).map((date) => ({
      date,
      score: Math.max(0, base + sum(upTo(date))),
    })),
  }
}

function text(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`
}
