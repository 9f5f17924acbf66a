import { useState } from 'preact/hooks'
import { useLanguage } from '../../i18n/language.js'
import { Table } from '../Table.js'
import type { ChartSpec, Series } from './spec.js'

const isKnownAt =
  (index: number) =>
  ({ values }: Series) =>
    values[index] !== null && values[index] !== undefined

interface ChartTableProps {
  title: string
  xName: string
  spec: ChartSpec
  isOpenFirst: boolean
}

/** The data of a chart as a table, rendered when the reader opens it. */
export function ChartTable({ title, xName, spec, isOpenFirst }: ChartTableProps) {
  const { words, number } = useLanguage()
  const [isOpen, setOpen] = useState(isOpenFirst)
  const columns = spec.series.map(({ label, values }) => ({
    head: label,
    isNumber: true,
    cell: (index: number) => {
      const value = values[index]
      return value === null || value === undefined ? '–' : number(value)
    },
  }))
  return (
    <details open={isOpenFirst} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{words.chart.table}</summary>
      {isOpen && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach a scrollable region
        <section class="scroller" aria-label={title} tabIndex={0}>
          <Table
            caption={title}
            columns={[{ head: xName, isName: true, cell: (index) => spec.labels[index] }, ...columns]}
            rows={spec.x.map((_, index) => index).filter((index) => spec.series.some(isKnownAt(index)))}
            keyOf={(index) => index}
          />
        </section>
      )}
    </details>
  )
}
