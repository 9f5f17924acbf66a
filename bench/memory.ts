import { readFileSync } from 'node:fs'

/** The most memory that a process has held so far, where the system tells it: only Linux has /proc. */
export function peakBytes(pid: number): number | undefined {
  return statusBytes(pid, 'VmHWM')
}

/** What a process and those that it started hold in memory now, the pages of mapped files included. */
export function residentBytes(pid: number): number | undefined {
  return sumBytes(pid, 'VmRSS')
}

/** What they hold of memory that belongs to no file, so that the system cannot take it back. */
export function anonymousBytes(pid: number): number | undefined {
  return sumBytes(pid, 'RssAnon')
}

function sumBytes(pid: number, field: Field): number | undefined {
  const own = statusBytes(pid, field)
  if (own === undefined) return undefined
  const children = textOf(`/proc/${pid}/task/${pid}/children`)?.split(' ').filter(Boolean).map(Number) ?? []
  return children.reduce((sum, child) => sum + (sumBytes(child, field) ?? 0), own)
}

type Field = 'VmHWM' | 'VmRSS' | 'RssAnon'

function statusBytes(pid: number, field: Field): number | undefined {
  const found = new RegExp(`^${field}:\\s*(\\d+) kB`, 'm').exec(textOf(`/proc/${pid}/status`) ?? '')
  return found ? Number(found[1]) * 1024 : undefined
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
