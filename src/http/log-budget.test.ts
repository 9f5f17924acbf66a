import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { LogBudget } from './log-budget.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('each minute allows some lines of each kind and one report of the suppressed ones', () => {
  const reports: Record<string, number>[] = []
  const budget = new LogBudget(2, (suppressed) => reports.push(suppressed))
  const take = (kind: string, times: number) => Array.from({ length: times }, () => budget.take(kind))
  expect(take('a', 4)).toEqual([true, true, false, false])
  expect(take('b', 3)).toEqual([true, true, false])
  expect(take('c', 1)).toEqual([true])
  vi.advanceTimersByTime(60_000)
  expect(reports).toEqual([{ a: 2, b: 1 }])
  expect(take('a', 3)).toEqual([true, true, false])
  budget.close()
  expect(reports).toEqual([{ a: 2, b: 1 }, { a: 1 }])
  vi.advanceTimersByTime(600_000)
  budget.close()
  expect(reports).toHaveLength(2)
})

test('the total number of lines is limited, however many kinds there are', () => {
  let suppressed = 0
  const budget = new LogBudget(1, (report) => {
    for (const count of Object.values(report)) suppressed += count
  })
  const written = Array.from({ length: 1_000 }, (_, i) => budget.take(`kind ${i}`)).filter(Boolean).length
  budget.close()
  expect(written).toBeLessThan(250)
  expect(written + suppressed).toBe(1_000)
})
