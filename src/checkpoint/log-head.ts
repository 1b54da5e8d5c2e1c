/** Head of a thread's log for a reader, and the parts of the log that are shown changed. */

import type { Branch, CheckpointPatch, CheckpointPlace, HistoryEnd,
  HistoryStart } from '../../proto/gen/storage/v1/row.ts'
import { objectIn } from '../json/index.ts'
import type { Checkpoint } from './row-codec.ts'

/** State of the thread that the reader must know at the moment of the call. */
export interface LogHead {
  readonly branch: Branch
  /** Seq of the newest row. */
  readonly seq: number
  /** Seq of the newest row that says anything about checkpoints. */
  readonly stepSeq: number
  readonly head: CheckpointPlace | null
  /** True if the head is not the newest checkpoint in the log. */
  readonly movedBack: boolean
  /** The oldest checkpoint of the root that is history, if older ones were cut off. */
  readonly start?: HistoryStart | undefined
  /** Checkpoints within a row at which parts of other threads end, if this is a copy. */
  readonly ends?: readonly HistoryEnd[] | undefined
  /** Metadata that was merged into that of checkpoints. */
  readonly patches?: readonly CheckpointPatch[] | undefined
}

/**
 * True if the checkpoint of the root in row `seq` is older than the history. The engine may still
 * read it: the oldest state that is left may need what its parent wrote.
 */
export function isCutOff({ start }: LogHead, ns: string,
  { id, seq }: { readonly id: string; readonly seq: number }): boolean {
  if (start === undefined || ns !== '') return false
  return seq < start.seq || (seq === start.seq && id !== start.checkpointId)
}

/** The checkpoint with its metadata as they are now. */
export function asPatched({ patches }: LogHead, checkpoint: Checkpoint): Checkpoint {
  const patch = patches?.find(({ checkpointId }) => checkpointId === checkpoint.id)
  if (patch === undefined) return checkpoint
  const metadata = { ...objectIn(checkpoint.metadataJson), ...objectIn(patch.metadataJson) }
  return { ...checkpoint, metadataJson: JSON.stringify(metadata) }
}
