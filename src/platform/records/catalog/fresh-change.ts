/** Changes of records that are made from what was read of them. */

import { HeddleError } from '../../../errors.ts'

/** How often a change is made anew because another one was faster. */
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
