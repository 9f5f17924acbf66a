import { BadAnswer } from './errors.js'

/** So many bad answers one after the other, or in one pass, are no fault of single records. */
const MAX_FAULTS_IN_A_ROW = 10
const MAX_FAULTS_IN_A_PASS = 100

/** Records that could not be read, though the pass goes on with the others. */
export interface Faults {
  readonly count: number
  /**
   * Reads a record and says whether that went well. A `BadAnswer` is told and left; the tenth in a row and the hundredth of
   * a pass are thrown, as all else is.
   */
  tolerate(read: () => Promise<void>): Promise<boolean>
}

export function makeFaults(tell: (message: string) => void): Faults {
  let count = 0
  let inARow = 0
  return {
    get count() {
      return count
    },
    async tolerate(read) {
      try {
        await read()
        inARow = 0
        return true
      } catch (error) {
        if (!(error instanceof BadAnswer)) throw error
        count++
        inARow++
        if (inARow >= MAX_FAULTS_IN_A_ROW || count >= MAX_FAULTS_IN_A_PASS) throw error
        tell(error.message)
        return false
      }
    },
  }
}
