import { useMemo } from 'preact/hooks'
import { useLanguage } from '../../i18n/language.js'
import { Chart } from '../../parts/chart/Chart.js'
import type { ChartSpec } from '../../parts/chart/spec.js'
import type { ChallengeProgression } from '../../wire.js'

/** The number of solves over time. */
export function Curve({ progression }: { progression: ChallengeProgression }) {
  const { words, number, day } = useLanguage()
  const { points, nb_validations, sans_date } = progression
  const spec = useMemo(
    (): ChartSpec => ({
      kind: 'steps',
      x: points.map(({ date }) => Date.parse(date) / 1000),
      labels: points.map(({ date }) => day(date)),
      series: [{ label: words.challenge.solves, values: points.map(({ nb }) => nb), colour: '--chart-1' }],
    }),
    [points, words, day],
  )
  if (points.length === 0) return null
  return (
    <Chart
      title={words.challenge.curve}
      summary={words.challenge.curveSummary(number(nb_validations))}
      xName={words.chart.date}
      spec={spec}
      height={220}
    >
      {sans_date > 0 && words.challenge.undated(sans_date, number(sans_date))}
    </Chart>
  )
}
