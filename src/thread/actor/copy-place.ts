/** Finds where in a thread's log an older state ends, for a copy of the thread as it was there. */

import { decodeRow } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import type { CopyPlace, Origin } from '../model/command.ts'
import { originAt } from '../model/origin.ts'

/** Throws `not_found` for a checkpoint that is not part of the root's history. */
export async function olderOrigin({ threadLog, ports: { log } }: ThreadContext, origin: Origin,
  { checkpointId, waiting }: CopyPlace): Promise<Origin> {
  await threadLog.requireCheckpoint('', checkpointId)
  const place = await log.findCheckpoint(origin.branch, checkpointId)
  const [row] = place ? await log.read(origin.branch, { from: place.seq, through: place.seq }) : []
  if (!place || !row) {
    throw new HeddleError('not_found', `Checkpoint ${checkpointId} not found on this thread.`)
  }
  const last = decodeRow(row.body).at(-1)
  const isLast = last?.$case === 'checkpoint' && last.value.id === checkpointId
  return originAt(origin, { place, epoch: row.epoch, isLast, waiting })
}
