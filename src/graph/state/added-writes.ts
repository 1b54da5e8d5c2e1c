/** Finds out whether writes on a checkpoint change the values that the engine shows of it. */

import type { Writes } from '../../../proto/gen/storage/v1/log.ts'
import { leavesTaskOpen, nullTask } from './pending-writes.ts'

/**
 * True if the engine adds one of these to the values: always what a command wrote, and what tasks
 * wrote if the checkpoint was not named. Its reducers need the values then.
 */
export function addsToValues(stored: readonly Writes[], isNamed: boolean): boolean {
  return stored.some(({ taskId, writes }) =>
    (taskId === nullTask || !isNamed)
    && writes.some(({ channel }) => !leavesTaskOpen.has(channel))
  )
}
