/** A Markdown table with padded columns and right-aligned numbers. */
export function table(head: readonly string[], rows: readonly string[][], textColumns: readonly number[]): string[] {
  const all = [[...head], ...rows]
  const widths = head.map((_, column) => Math.max(3, ...all.map((row) => (row[column] as string).length)))
  const isText = (column: number) => textColumns.includes(column)
  const line = (row: string[]) =>
    `| ${row.map((cell, i) => (isText(i) ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join(' | ')} |`
  const rule = widths.map((width, i) => (isText(i) ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`))
  return [line([...head]), `| ${rule.join(' | ')} |`, ...rows.map(line)]
}

export function count(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

export function megabytes(bytes: number): string {
  return `${count(bytes / 1e6)} MB`
}
