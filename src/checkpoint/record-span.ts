/** Selects the records of a row that concern a checkpoint. */

import type { Named } from './history.ts'
import type { Checkpoint, RecordOf } from './row-codec.ts'

/** The records up to the last that states a checkpoint; all of them if none does. */
export function recordsUpTo(records: readonly RecordOf[], id: string): readonly RecordOf[] {
  const last = records.findLastIndex((record) =>
    record.$case === 'checkpoint' && record.value.id === id
  )
  return last < 0 ? records : records.slice(0, last + 1)
}

/** The part of a record that tells which run wrote it. The rest of a long step may be large. */
export function partOf(record: RecordOf, of: Named): RecordOf | undefined {
  switch (record.$case) {
    case 'headMoved':
    case 'runStarted':
    case 'runEnded':
    case 'stateEdited':
      return record
    case 'writes':
      return belongs(record, of) ? record : undefined
    case 'checkpoint': {
      const value = { ...record.value, changes: [], skeletonJson: '', metadataJson: '' }
      return { $case: 'checkpoint', value }
    }
    default:
      return undefined
  }
}

/** True if a record is the checkpoint, or is a write on it. */
export function belongs(record: RecordOf, { ns, id }: Named): boolean {
  if (record.$case === 'checkpoint') return record.value.ns === ns && record.value.id === id
  return record.$case === 'writes' && record.value.ns === ns && record.value.checkpointId === id
}

/** True if a checkpoint ends the span of those before it in a namespace. */
export function ends(next: Checkpoint, of: { ns: string }): boolean {
  return next.ns === of.ns || next.ns === ''
}
