import { Presets, SingleBar } from 'cli-progress'
import Table from 'cli-table3'

/** The command was used rightly, but cannot be done: one line says why. */
export class CommandError extends Error {}

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
function harmless(text: string): string {
  return text.replace(/[^\P{Cc}\n]/gu, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Long work seen from outside: a bar on a terminal, a plain line now and then elsewhere. */
export interface Progress {
  /** What is done, and which part of the whole that is, from 0 to 1, where it is known; `rest` is said behind it. */
  update(step: string, done: number, part?: number, rest?: string): void
  stop(): void
}

const PLAIN_LINE_MILLISECONDS = 5_000

export function startProgress(unit: string): Progress {
  return process.stderr.isTTY ? terminalProgress(unit) : plainProgress(unit)
}

function terminalProgress(unit: string): Progress {
  const bar = new SingleBar(
    {
      format: `{step} {bar} {percentage} % · {done} ${unit}{rest} · {duration_formatted}`,
      hideCursor: true,
      clearOnComplete: true,
    },
    Presets.shades_classic,
  )
  bar.start(100, 0, { step: 'starting', done: 0, rest: '' })
  return {
    update: (step, done, part = 0, rest = '') => bar.update(Math.floor(part * 100), { step, done, rest }),
    stop: () => bar.stop(),
  }
}

function plainProgress(unit: string): Progress {
  let line = ''
  let lastStep = ''
  let lastTold = Date.now()
  const tellLast = () => {
    if (line !== '') tell(line)
    line = ''
    lastTold = Date.now()
  }
  return {
    update(step, done, _part, rest = '') {
      if (step !== lastStep) tellLast()
      lastStep = step
      line = `${step}: ${done} ${unit}${rest}`
      if (Date.now() - lastTold >= PLAIN_LINE_MILLISECONDS) tellLast()
    },
    stop: tellLast,
  }
}
