/** Changes records by what was read of them, again while others change them. */

import { HeddleError } from '../../../errors.ts'

/** Tries of a change that other changes may overtake. */
const triesMax = 20

/** Reads and changes a record, anew while another change was faster. Throws `stale` after many. */
export async function changeFresh<Result>(change: () => Promise<Result>): Promise<Result> {
  for (let tries = 1;; tries++) {
    try {
      return await change()
    } catch (error) {
      if (HeddleError.from(error).code !== 'stale' || tries === triesMax) throw error
    }
  }
}
