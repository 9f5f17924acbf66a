import type { WriteStream } from 'node:tty'
import { harmless, tell } from './output.js'

/** Where long work is. */
export interface Step {
  /** What is being done now. */
  stage: string
  /** How much of all the work is done, from 0 to 1, where it is known. */
  part?: number | undefined
  /** What is done within the stage, such as `120 of 300 records`. */
  count?: string | undefined
  /** What else is worth saying, such as the time left. */
  rest?: string | undefined
}

/** Long work seen from outside: one bar on a terminal, plain lines elsewhere. It only advances, and is never at 100 % before its end. */
export interface Progress {
  update(step: Step): void
  stop(): void
}

/** Within a stage, a plain line is written so often at most. */
const PLAIN_LINE_MILLISECONDS = 5_000
const REDRAW_MILLISECONDS = 50

export function startProgress(): Progress {
  const shown = process.stderr.isTTY ? showBar(process.stderr) : showLines()
  let last = 0
  return {
    update({ stage, part, count, rest }) {
      if (part !== undefined) last = Math.max(last, Math.min(99, Math.floor(part * 100)))
      shown.update({ stage, count, rest, percent: part === undefined ? undefined : last })
    },
    stop: shown.stop,
  }
}

/** A step whose part of the whole is told in percent, 0 to 99. */
export interface Shown extends Omit<Step, 'part'> {
  percent: number | undefined
}

/** The last step is drawn in one line, which goes when the work ends. */
function showBar(stream: WriteStream): { update(step: Shown): void; stop(): void } {
  const begun = Date.now()
  let drawn = { at: 0, stage: '' }
  return {
    update(step) {
      const now = Date.now()
      if (step.stage === drawn.stage && now - drawn.at < REDRAW_MILLISECONDS) return
      drawn = { at: now, stage: step.stage }
      stream.write(drawing(lineOf(step, Math.floor((now - begun) / 1_000), stream.columns)))
    },
    stop: () => void stream.write(drawing('')),
  }
}

/** Takes the place of the line before. Nothing is wrapped, as a terminal may have become narrower since its width was read. */
function drawing(line: string): string {
  return `\r\x1b[?7l${line}\x1b[K\x1b[?7h`
}

const DEFAULT_COLUMNS = 80
const MIN_BAR = 5
const MAX_BAR = 40

/** A step in less than so many columns: stage and percent always, then as far as there is room the rest, a bar, the count and the time. */
export function lineOf({ stage, percent, count, rest }: Shown, seconds: number, columns = DEFAULT_COLUMNS): string {
  const told = percent === undefined ? '' : ` ${String(percent).padStart(2)} %`
  const name = cut(harmless(stage), columns - 1 - told.length)
  let room = columns - 1 - name.length - told.length
  const fits = (text: string | undefined) => {
    const needed = text ? SEPARATOR.length + text.length : 0
    if (needed > room) return []
    room -= needed
    return text ? [text] : []
  }
  const shownRest = fits(rest)
  const hasBar = percent !== undefined && room > MIN_BAR
  if (hasBar) room -= MIN_BAR + 1
  const shownCount = fits(count)
  const shownTime = fits(timeOf(seconds))
  const bar = hasBar ? ` ${barOf(percent, Math.min(MAX_BAR, MIN_BAR + room))}` : ''
  return [`${name}${bar}${told}`, ...shownCount, ...shownRest, ...shownTime].join(SEPARATOR)
}

const SEPARATOR = ' · '

function barOf(percent: number, width: number): string {
  const full = Math.floor((percent / 100) * width)
  return '█'.repeat(full) + '░'.repeat(width - full)
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, Math.max(0, length - 1))}…`
}

export function timeOf(seconds: number): string {
  const minutes = Math.round(seconds / 60)
  return seconds < 90 ? `${Math.ceil(seconds)} s` : minutes < 90 ? `${minutes} min` : `${Math.round(minutes / 60)} h`
}

/** Each stage has a line when it begins, and more now and then while it lasts. */
function showLines(): { update(step: Shown): void; stop(): void } {
  let last = { stage: '', at: 0 }
  return {
    update(step) {
      const now = Date.now()
      if (step.stage === last.stage && now - last.at < PLAIN_LINE_MILLISECONDS) return
      last = { stage: step.stage, at: now }
      const { percent, count, rest } = step
      const facts = [count, rest, percent === undefined ? undefined : `${percent} %`].filter(Boolean)
      tell(facts.length === 0 ? step.stage : `${step.stage}: ${facts.join(', ')}`)
    },
    stop: () => undefined,
  }
}
