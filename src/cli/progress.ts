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

/** The shortest time between two lines of a stage, plain and drawn. */
const PLAIN_LINE_MILLISECONDS = 5_000
const REDRAW_MILLISECONDS = 50

export function startProgress(): Progress {
  const { isTTY } = process.stderr
  const begun = Date.now()
  const pause = isTTY ? REDRAW_MILLISECONDS : PLAIN_LINE_MILLISECONDS
  let reached = 0
  let last = { stage: '', at: 0 }
  return {
    update({ stage, part, count, rest }) {
      if (part !== undefined) reached = Math.max(reached, Math.min(99, Math.floor(part * 100)))
      const at = Date.now()
      if (stage === last.stage && at - last.at < pause) return
      last = { stage, at }
      const shown = { stage, count, rest, percent: part === undefined ? undefined : reached }
      if (isTTY) draw(lineOf(shown, Math.floor((at - begun) / 1_000), process.stderr.columns))
      else tell(plainLineOf(shown))
    },
    stop() {
      if (isTTY) draw('')
    },
  }
}

/** Replaces the line before. Nothing is wrapped, as a terminal may have become narrower since its width was read. */
function draw(line: string): void {
  process.stderr.write(`\r\x1b[?7l${line}\x1b[K\x1b[?7h`)
}

/** A step whose part of the whole is in percent, 0 to 99. */
export interface Shown extends Omit<Step, 'part'> {
  percent: number | undefined
}

function plainLineOf({ stage, percent, count, rest }: Shown): string {
  const facts = [count, rest, percent === undefined ? undefined : `${percent} %`].filter(Boolean)
  return facts.length === 0 ? stage : `${stage}: ${facts.join(', ')}`
}

const DEFAULT_COLUMNS = 80
const MIN_BAR = 5
const MAX_BAR = 40

/** A step in less than so many columns: stage and percent always, then as far as there is room the rest, a bar, the count and the time. */
export function lineOf({ stage, percent, count, rest }: Shown, seconds: number, columns = DEFAULT_COLUMNS): string {
  const percentText = percent === undefined ? '' : ` ${String(percent).padStart(2)} %`
  const name = cut(harmless(stage), columns - 1 - percentText.length)
  let room = columns - 1 - name.length - percentText.length
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
  return [`${name}${bar}${percentText}`, ...shownCount, ...shownRest, ...shownTime].join(SEPARATOR)
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
