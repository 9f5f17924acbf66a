import { readFileSync } from 'node:fs'

/** Peak memory of a process so far. Only on Linux, which has /proc. */
export function peakBytes(pid: number): number | undefined {
  return statusBytes(pid, 'VmHWM')
}

/** Current resident memory of a process and its children, including mapped files. */
export function residentBytes(pid: number): number | undefined {
  return sumBytes(pid, 'VmRSS')
}

/** Their anonymous memory, which the system cannot reclaim. */
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
