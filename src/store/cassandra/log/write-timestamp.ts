/**
 * Timestamps of plain writes. Those of a later owner are above those of an earlier one, whatever
 * clocks say.
 */

import { assert } from '../../../errors.ts'

const epochBits = 24n
const counterBits = 38n

/**
 * Least timestamp, above the microseconds of any wall clock: a stray write without one of ours
 * loses.
 */
const floor = 1n << (epochBits + counterBits)

const lastEpoch = (1 << Number(epochBits)) - 1

/** Counts for the whole process, so that two stores in it never make the same timestamp. */
let counter = 0n

/** Makes timestamps, from the epoch of the writer and a counter. */
export class WriteTimestamp {
  /**
   * A timestamp above those of earlier epochs, and above those that this process made for this one.
   */
  next(epoch: number): bigint {
    counter++
    assert(counter >> counterBits === 0n, 'a process makes fewer writes than ranks')
    const shifted = BigInt(epoch) << counterBits
    assert(epoch >= 0 && shifted < floor, 'an epoch fits into a rank')
    return floor + shifted + counter
  }

  /** A timestamp above those of all owners, to remove what is deleted for good. */
  last(): bigint {
    return this.next(lastEpoch)
  }
}
