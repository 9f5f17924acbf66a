import { inject } from 'vitest'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Which part of its cases a large test runs, from 0 to 1: a fast run takes some of them, the system tests all. */
    share: number
  }
}

/** So many cases of a property, or so large a portal: the given number in the system tests, fewer in a fast run. */
export function shareOf(whole: number): number {
  return Math.max(1, Math.round(whole * inject('share')))
}
