/** Timestamps of plain writes: a later owner's are above an earlier one's, whatever clocks say. */

import { assert } from '../../../errors.ts'

const epochBits = 24n
const counterBits = 38n

/** Above the microseconds of any wall clock: a stray write without a rank outlives no touch. */
const floor = 1n << (epochBits + counterBits)

const lastEpoch = (1 << Number(epochBits)) - 1

/** Of the whole process: two stores in it never give the same rank. */
let counter = 0n

export class WriteTimestamp {
  /** Above all ranks of earlier epochs, and above all that this process gave for this epoch. */
  next(epoch: number): bigint {
    counter++
    assert(counter >> counterBits === 0n, 'a process makes fewer writes than ranks')
    const shifted = BigInt(epoch) << counterBits
    assert(epoch >= 0 && shifted < floor, 'an epoch fits into a rank')
    return floor + shifted + counter
  }

  /** Above the ranks of all owners: for the removal of what is gone for good. */
  last(): bigint {
    return this.next(lastEpoch)
  }
}
