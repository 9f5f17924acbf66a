import { useMemo } from 'preact/hooks'
import { useAnswer } from '../../answers.js'
import { useLanguage } from '../../i18n/language.js'
import { Chart } from '../../parts/chart/Chart.js'
import type { ChartSpec } from '../../parts/chart/spec.js'
import { Loaded } from '../../parts/States.js'
import type { AuteurProgression } from '../../wire.js'

/** The player's score over time. */
export function Progression({ id }: { id: string }) {
  const asking = useAnswer('/auteurs/{id_auteur}/progression', { path: { id_auteur: id } })
  return (
    <Loaded asking={asking} skeleton={<div class="skeleton-chart tall" aria-busy="true" />}>
      {(progression) => <ProgressionChart progression={progression} />}
    </Loaded>
  )
}

function ProgressionChart({ progression }: { progression: AuteurProgression }) {
  const { words, number, day } = useLanguage()
  const { points, score, score_initial } = progression
  const spec = useMemo(
    (): ChartSpec => ({
      kind: 'steps',
      x: points.map(({ date }) => Date.parse(date) / 1000),
      labels: points.map(({ date }) => day(date)),
      series: [{ label: words.auteur.points, values: points.map((point) => point.score), colour: '--chart-1' }],
    }),
    [points, words, day],
  )
  if (points.length === 0) return <p class="faint">{words.auteur.noDates}</p>
  return (
    <Chart
      title={words.auteur.progression}
      summary={words.auteur.progressionSummary(number(score))}
      xName={words.chart.date}
      spec={spec}
      height={300}
    >
      {score_initial > 0 && words.auteur.initial(number(score_initial))}
    </Chart>
  )
}
