import { BadAnswer } from './errors.js'

/** More bad answers, in a row or in all, are no longer a matter of single records. */
const MAX_FAULTS_IN_A_ROW = 10
const MAX_FAULTS_IN_A_PASS = 100

export type Faults = ReturnType<typeof makeFaults>

/** Records that could not be read, though the pass continues with the others. */
export function makeFaults(warn: (message: string) => void) {
  let count = 0
  let inARow = 0
  return {
    get count() {
      return count
    },
    /**
     * Reads a record and returns whether that succeeded. A `BadAnswer` is a warning; the tenth in a row and the hundredth of a
     * pass are thrown, as is any other error.
     */
    async tolerate(read: () => Promise<void>): Promise<boolean> {
      try {
        await read()
        inARow = 0
        return true
      } catch (error) {
        if (!(error instanceof BadAnswer)) throw error
        count++
        inARow++
        if (inARow >= MAX_FAULTS_IN_A_ROW || count >= MAX_FAULTS_IN_A_PASS) throw error
        warn(error.message)
        return false
      }
    },
  }
}
