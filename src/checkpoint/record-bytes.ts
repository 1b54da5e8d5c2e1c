/** The size of a record, by the texts in it that may be long. */

import { changesBytes, writesBytes } from './channel-view.ts'
import type { RecordOf, Writes } from './row-codec.ts'

/** Approximate bytes of a record. Short fields do not count. */
export function recordBytes(record: RecordOf): number {
  switch (record.$case) {
    case 'checkpoint':
      return changesBytes(record.value.changes) +
        record.value.skeletonJson.length + record.value.metadataJson.length
    case 'writes':
      return taskBytes(record.value)
    case 'emitted':
      return record.value.events.reduce((sum, { json }) => sum + json.length, 0)
    case 'runCreated':
      return record.value.kwargsJson.length + record.value.planJson.length
    case 'runEnded':
      return record.value.untrackedJson?.length ?? 0
    default:
      return 0
  }
}

/** Approximate bytes of what a task wrote, and of the receipt of an effect of it. */
export function taskBytes({ writes, effect }: Writes): number {
  const receipt = effect?.note?.$case === 'settled' ? effect.note.value.resultJson.length : 0
  return writesBytes(writes) + receipt
}
