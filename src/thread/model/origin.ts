/** Inheritance of a copy from its thread: as it is, or as it was at a checkpoint. Pure. */

import type { CheckpointPlace } from '../../../proto/gen/storage/v1/row.ts'
import type { Origin } from './command.ts'
import type { ThreadState } from './thread-state.ts'

/** The thread as a copy inherits it; call this when all of that is on disk. */
export function originOf({ row }: ThreadState, storedBytes: number): Origin {
  const { threadId, epoch, movedBack, interruptsJson, metadataJson, configJson } = row
  return { threadId, branch: row.branch!, epoch, through: row.seq, head: row.head ?? null,
    movedBack, status: row.resting, interruptsJson, metadataJson, configJson, storedBytes,
    shown: { historyStart: row.historyStart, historyEnds: row.historyEnds,
      checkpointPatches: row.checkpointPatches, errorJson: row.errorJson,
      ...row.waits && { waits: true }, ...row.waitingAt && { waitingAt: row.waitingAt } } }
}

/** The thread as it was at a checkpoint in row `epoch` and `place.seq`, before its next step. */
export function originAt(origin: Origin, { place, epoch, isLast, waiting }: OriginPlace): Origin {
  const { id: checkpointId, seq } = place
  const earlier = (origin.shown?.historyEnds?.ends ?? []).filter((end) => end.seq < seq)
  const ends = isLast ? earlier : [...earlier, { checkpointId, seq }]
  const { waitingAt: _, waits: _waits, errorJson: _error, ...shown } = origin.shown ?? {}
  return { ...origin, epoch, through: seq, head: place, movedBack: false,
    status: waiting ? 'interrupted' : 'idle', interruptsJson: '{}',
    shown: { ...shown, historyEnds: ends.length === 0 ? undefined : { ends },
      ...waiting && { waits: true } } }
}

/** Place in the log of its origin at which a copy is made. */
export interface OriginPlace {
  readonly place: CheckpointPlace
  /** Epoch of the checkpoint's row. */
  readonly epoch: number
  /** Nothing follows it in its row. */
  readonly isLast: boolean
  /** Tasks come next. */
  readonly waiting: boolean
}
