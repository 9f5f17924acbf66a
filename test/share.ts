import { inject } from 'vitest'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Which part of its cases a large test runs, from 0 to 1: vitest.config.ts says it for each project. */
    share: number
  }
}

/** The number of cases of a property, or the size of a portal: the given number in `npm run test:deep`, less in other runs. */
export function shareOf(whole: number): number {
  return Math.max(1, Math.round(whole * inject('share')))
}
