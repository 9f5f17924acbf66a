export interface Series {
  label: string
  values: (number | null)[]
  /** A CSS custom property, such as `--chart-1`. */
  colour: string
}

/** The data of a chart; the drawing and its table are both made from it. */
export interface ChartSpec {
  kind: 'line' | 'steps' | 'columns' | 'rows'
  /** Ascending. Seconds since 1970 on a time axis, otherwise the index of a label. */
  x: number[]
  /** The text of each x in the table. */
  labels: string[]
  /** Shorter text of each x on the axis of columns and rows. */
  ticks?: string[]
  series: Series[]
  /** Index of the column to highlight. */
  highlight?: number | undefined
}
