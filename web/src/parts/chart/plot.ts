import uPlot from 'uplot'
import type { Language } from '../../i18n/language.js'
import type { ChartSpec } from './spec.js'
import { timeTick } from './ticks.js'

const HIGHLIGHT = '--chart-2'
const FONT = '12px system-ui, sans-serif'
const NARROW_PX = 480

export interface Plot {
  update(spec: ChartSpec): void
  destroy(): void
}

/** Draws the chart at the size of `element`. Calls `onPoint` with the index under the pointer. */
export function plot(
  element: HTMLElement,
  spec: ChartSpec,
  language: Language,
  onPoint: (index: number | undefined) => void,
): Plot {
  let shown = spec
  const size = () => ({ width: element.clientWidth, height: element.clientHeight })
  const chart = new uPlot(
    {
      ...size(),
      legend: { show: false },
      padding: [8, 8, 0, 0],
      cursor: {
        y: false,
        drag: { x: false, y: false },
        points: { show: spec.kind === 'line' || spec.kind === 'steps' },
      },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
      scales: scalesOf(spec),
      axes: axesOf(() => shown, language),
      series: [{}, ...seriesOf(spec)],
      hooks: { setCursor: [(self) => onPoint(self.cursor.idx ?? undefined)] },
    },
    dataOf(spec),
    element,
  )
  const sizes = new ResizeObserver(() => {
    const { width, height } = size()
    if (width > 0 && (width !== chart.width || height !== chart.height)) chart.setSize({ width, height })
  })
  sizes.observe(element)
  const scheme = matchMedia('(prefers-color-scheme: dark)')
  const repaint = () => chart.redraw()
  scheme.addEventListener('change', repaint)
  return {
    update(next) {
      shown = next
      chart.setData(dataOf(next))
    },
    destroy() {
      sizes.disconnect()
      scheme.removeEventListener('change', repaint)
      chart.destroy()
    },
  }
}

const isBars = ({ kind }: ChartSpec) => kind === 'columns' || kind === 'rows'

function scalesOf(spec: ChartSpec): uPlot.Scales {
  const fromZero: uPlot.Range.Function = (_self, _min, max) => [0, max > 0 ? max * 1.08 : 1]
  if (!isBars(spec)) return { x: { time: true }, y: { range: fromZero } }
  const whole: uPlot.Range.Function = (self) => [-0.5, (self.data[0]?.length ?? 1) - 0.5]
  const turned = spec.kind === 'rows'
  return {
    x: { time: false, range: whole, ...(turned ? { ori: 1, dir: -1 } : {}) },
    y: { range: fromZero, ...(turned ? { ori: 0 } : {}) },
  }
}

function axesOf(shown: () => ChartSpec, { locale, number }: Language): uPlot.Axis[] {
  const look: uPlot.Axis = {
    stroke: () => colour('--ink-2'),
    font: FONT,
    grid: { stroke: () => colour('--line'), width: 1 },
    ticks: { stroke: () => colour('--line'), width: 1, size: 4 },
  }
  const turned = shown().kind === 'rows'
  const values: uPlot.Axis = {
    ...look,
    side: turned ? 2 : 3,
    size: turned ? 32 : 52,
    space: turned ? 60 : 32,
    values: (_self, splits) => splits.map((value) => number(value)),
  }
  if (!isBars(shown())) {
    const times = (_self: uPlot, splits: number[], _axis: number, _space: number, step: number) =>
      splits.map((seconds) => timeTick(locale, seconds, step))
    return [{ ...look, size: 32, space: 76, values: times }, values]
  }
  const label = (self: uPlot, index: number) => {
    const { labels, ticks = labels } = shown()
    const text = ticks[index] ?? ''
    const most = turned ? (self.width < NARROW_PX ? 15 : 30) : 12
    return text.length > most ? `${text.slice(0, most - 1)}…` : text
  }
  const named: uPlot.Axis = {
    ...look,
    side: turned ? 3 : 2,
    size: turned ? (self) => (self.width < NARROW_PX ? 112 : 190) : 32,
    space: turned ? 12 : 56,
    grid: { show: false },
    values: (self, splits) => splits.map((index) => (Number.isInteger(index) ? label(self, index) : '')),
    ...(turned ? { splits: (self) => [...(self.data[0] ?? [])] } : { incrs: [1, 2, 5, 10] }),
  }
  return [named, values]
}

function seriesOf(spec: ChartSpec): uPlot.Series[] {
  const bars = uPlot.paths.bars?.({ size: [0.86, 48] })
  const steps = uPlot.paths.stepped?.({ align: 1 })
  const paths = isBars(spec) ? bars : spec.kind === 'steps' ? steps : undefined
  const names = spec.series.map((series) => series.colour)
  const colours = isBars(spec) ? [...names, HIGHLIGHT] : names
  return colours.map((name) => ({
    stroke: () => colour(name),
    width: isBars(spec) ? 0 : 2,
    points: { show: false },
    ...(isBars(spec) ? { fill: () => colour(name) } : {}),
    ...(paths ? { paths } : {}),
  }))
}

/** The highlighted column is a separate series, because a series has one colour. */
function dataOf({ x, series, highlight, ...spec }: ChartSpec): uPlot.AlignedData {
  const values = series.map((one) => one.values)
  if (spec.kind !== 'columns' && spec.kind !== 'rows') return [x, ...values]
  const [all = []] = values
  return [
    x,
    all.map((value, index) => (index === highlight ? null : value)),
    all.map((value, index) => (index === highlight ? value : null)),
  ]
}

function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name)
}
