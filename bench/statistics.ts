export interface Spread {
  median: number
  min: number
  max: number
}

export function spreadOf(values: number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const median = sorted.length % 2 > 0 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
  return { median, min: sorted[0] as number, max: sorted.at(-1) as number }
}

/** Ratios of two lists, value by value. */
export function ratiosOf(values: number[], bases: number[]): Spread {
  return spreadOf(values.map((value, i) => value / bases[i]!))
}

/** The percentile: the value below which this share of all values lies. */
export function quantile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
