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
  process.stderr.write(`${text}\n`)
}

export function printJson(value: unknown): void {
  print(JSON.stringify(value, null, 2))
}

export function printTable(head: string[], rows: (string | number)[][]): void {
  const table = new Table({ head, style: { head: [], border: [], compact: true } })
  table.push(...rows)
  print(table.toString())
}

/** Long work seen from outside: a bar on a terminal, a plain line now and then elsewhere. */
export interface Progress {
  /** `done` of `total`; a total of 0 is not known. */
  update(step: string, done: number, total: number): void
  stop(): void
}

const PLAIN_LINE_MILLISECONDS = 5_000

export function startProgress(unit: string): Progress {
  return process.stderr.isTTY ? terminalProgress(unit) : plainProgress(unit)
}

function terminalProgress(unit: string): Progress {
  const bar = new SingleBar(
    {
      format: `{step} {bar} {percentage} % · {done} ${unit} · {duration_formatted}`,
      hideCursor: true,
      clearOnComplete: true,
    },
    Presets.shades_classic,
  )
  bar.start(100, 0, { step: 'starting', done: 0 })
  return {
    update(step, done, total) {
      bar.update(total > 0 ? Math.min(100, Math.floor((done / total) * 100)) : 0, { step, done })
    },
    stop: () => bar.stop(),
  }
}

function plainProgress(unit: string): Progress {
  let last = Date.now()
  let lastStep = ''
  return {
    update(step, done) {
      const isNewStep = step !== lastStep && lastStep !== ''
      if (!isNewStep && Date.now() - last < PLAIN_LINE_MILLISECONDS) {
        lastStep = step
        return
      }
      tell(`${step}: ${done} ${unit}`)
      last = Date.now()
      lastStep = step
    },
    stop: () => undefined,
  }
}
