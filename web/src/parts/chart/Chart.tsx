import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useLanguage } from '../../i18n/language.js'
import { ChartTable } from './ChartTable.js'
import type { Plot } from './plot.js'
import type { ChartSpec } from './spec.js'

interface ChartProps {
  title: string
  /** Text alternative, for screen readers. */
  summary: string
  /** Heading of the x column in the table. */
  xName: string
  spec: ChartSpec
  /** Pixels. */
  height: number
  /** A note below the chart. */
  children?: ComponentChildren
}

/** A chart with its data table. The chart library is loaded with the first chart; if that fails, the table is open. */
export function Chart({ title, summary, xName, spec, height, children }: ChartProps) {
  const language = useLanguage()
  const element = useRef<HTMLDivElement>(null)
  const drawn = useRef<Plot | undefined>(undefined)
  const latest = useRef(spec)
  const [point, setPoint] = useState<number>()
  const [cannotDraw, setCannotDraw] = useState(false)
  latest.current = spec

  useEffect(() => {
    let isGone = false
    void import('./plot.js').then(
      ({ plot }) => {
        if (!isGone && element.current) drawn.current = plot(element.current, latest.current, language, setPoint)
      },
      () => setCannotDraw(true),
    )
    return () => {
      isGone = true
      drawn.current?.destroy()
      drawn.current = undefined
    }
  }, [language])

  useEffect(() => drawn.current?.update(spec), [spec])

  return (
    <figure class="chart card">
      <figcaption>
        <span class="chart-title">{title}</span>
        <ChartLegend spec={spec} />
        <span class="chart-point" aria-hidden="true">
          {point !== undefined && pointText(spec, point, language.number)}
        </span>
      </figcaption>
      {!cannotDraw && (
        <div
          ref={element}
          class="chart-canvas"
          style={{ height: `${height}px` }}
          role="img"
          aria-label={`${title}. ${summary}`}
        />
      )}
      {children && <p class="chart-note">{children}</p>}
      <ChartTable key={String(cannotDraw)} title={title} xName={xName} spec={spec} isOpenFirst={cannotDraw} />
    </figure>
  )
}

function ChartLegend({ spec }: { spec: ChartSpec }) {
  if (spec.series.length < 2) return null
  return (
    <span class="chart-legend">
      {spec.series.map(({ label, colour }) => (
        <span key={label}>
          <span class="chart-key" style={{ background: `var(${colour})` }} /> {label}
        </span>
      ))}
    </span>
  )
}

function pointText({ labels, series }: ChartSpec, index: number, number: (value: number) => string): string {
  const values = series.map(({ label, values }) => {
    const value = values[index]
    const shown = value === null || value === undefined ? '–' : number(value)
    return series.length > 1 ? `${label} ${shown}` : shown
  })
  return `${labels[index] ?? ''} : ${values.join(', ')}`
}
