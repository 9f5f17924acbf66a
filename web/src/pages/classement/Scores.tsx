import { useMemo } from 'preact/hooks'
import { useAddress } from '../../address.js'
import { useAnswer } from '../../answers.js'
import { useLanguage } from '../../i18n/language.js'
import { Chart } from '../../parts/chart/Chart.js'
import type { ChartSpec } from '../../parts/chart/spec.js'
import { Loaded } from '../../parts/States.js'
import type { Histogramme } from '../../wire.js'
import { partOf } from './part.js'

/** The score distribution, with the reader's own range highlighted. */
export function Scores({ ownScore }: { ownScore: number | undefined }) {
  const { query } = useAddress()
  const asking = useAnswer('/classement/histogramme', { query: partOf(query) })
  return (
    <Loaded asking={asking} skeleton={<div class="skeleton-chart" aria-busy="true" />}>
      {(histogramme) =>
        histogramme.nb_auteurs > 0 ? <ScoresChart histogramme={histogramme} ownScore={ownScore} /> : null
      }
    </Loaded>
  )
}

function ScoresChart({ histogramme, ownScore }: { histogramme: Histogramme; ownScore: number | undefined }) {
  const { words, number } = useLanguage()
  const { tranches, nb_auteurs, score_max } = histogramme
  const own = tranches.findIndex(({ de, a }) => ownScore !== undefined && ownScore >= de && ownScore <= a)
  const spec = useMemo(
    (): ChartSpec => ({
      kind: 'columns',
      x: tranches.map((_, index) => index),
      labels: tranches.map(({ de, a }) => (de === a ? number(de) : `${number(de)}–${number(a)}`)),
      ticks: tranches.map(({ de }) => number(de)),
      series: [{ label: words.classement.players, values: tranches.map(({ nb }) => nb), colour: '--chart-1' }],
      highlight: own < 0 ? undefined : own,
    }),
    [tranches, own, words, number],
  )
  const tranche = tranches[own]
  return (
    <Chart
      title={words.classement.histogram}
      summary={words.classement.histogramSummary(number(nb_auteurs), number(score_max))}
      xName={words.classement.points}
      spec={spec}
      height={180}
    >
      {tranche ? words.classement.yourRange(number(tranche.de), number(tranche.a)) : '\u00a0'}
    </Chart>
  )
}
