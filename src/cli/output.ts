import Table from 'cli-table3'

/** Results, on standard output. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** All that is not a result, on standard error. */
export function tell(text: string): void {
  process.stderr.write(`${harmless(text)}\n`)
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2))
}

export function printTable(head: string[], rows: (string | number)[][]): void {
  const table = new Table({ head, style: { head: [], border: [], compact: true } })
  table.push(...rows.map((row) => row.map((cell) => harmless(String(cell)))))
  print(table.toString())
}

/** Names come from dumps and clients: what a terminal would obey in them is shown as an escape. */
export function harmless(text: string): string {
  return text.replace(/[^\P{Cc}\n]/gu, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
