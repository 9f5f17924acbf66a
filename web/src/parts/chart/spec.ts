export interface Series {
  label: string
  values: (number | null)[]
  /** A custom property of the style: `--chart-1`. */
  colour: string
}

/** What a chart shows. The drawing and the table behind it both come from this. */
export interface ChartSpec {
  kind: 'line' | 'steps' | 'columns' | 'rows'
  /** Ascending: seconds since 1970 of a line of time, else the index of a label. */
  x: number[]
  /** What stands for each x in the table. */
  labels: string[]
  /** What stands for it on the axis of columns and rows, where that is shorter. */
  ticks?: string[]
  series: Series[]
  /** The one column that is drawn in another colour. */
  highlight?: number | undefined
}
