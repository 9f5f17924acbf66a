import { useMemo } from 'preact/hooks'
import { useAnswer } from '../../answers.js'
import { useLanguage } from '../../i18n/language.js'
import { Chart } from '../../parts/chart/Chart.js'
import type { ChartSpec } from '../../parts/chart/spec.js'
import { Loaded } from '../../parts/States.js'
import type { Solved } from '../../wire.js'

const ROW_PX = 26
const AXIS_PX = 44

/** The player's solves per category, most solved first. */
export function Categories({ validations }: { validations: Solved[] }) {
  const { words, number } = useLanguage()
  const asking = useAnswer('/rubriques', {})
  const rubriques = asking.answer
  const spec = useMemo((): ChartSpec => {
    const names = new Map(rubriques?.map(({ id_rubrique, nom }) => [id_rubrique, nom]))
    const counts = [...countByCategory(validations)].sort(([, a], [, b]) => b - a)
    return {
      kind: 'rows',
      x: counts.map((_, index) => index),
      labels: counts.map(([id]) => names.get(id) ?? words.auteur.categoryNumber(id)),
      series: [{ label: words.auteur.solves, values: counts.map(([, count]) => count), colour: '--chart-1' }],
    }
  }, [validations, rubriques, words])
  return (
    <Loaded asking={asking} skeleton={<div class="skeleton-chart tall" aria-busy="true" />}>
      {() => (
        <Chart
          title={words.auteur.byCategory}
          summary={words.auteur.byCategorySummary(number(spec.x.length))}
          xName={words.auteur.category}
          spec={spec}
          height={spec.x.length * ROW_PX + AXIS_PX}
        />
      )}
    </Loaded>
  )
}

function countByCategory(validations: Solved[]): Map<number, number> {
  const counts = new Map<number, number>()
  for (const { id_rubrique } of validations) counts.set(id_rubrique, (counts.get(id_rubrique) ?? 0) + 1)
  return counts
}
