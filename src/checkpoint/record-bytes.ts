/** The size of a record, by the texts in it that may be long. */

import { changesBytes, writesBytes } from './channel-view.ts'
import type { RecordOf } from './row-codec.ts'

/** Approximate bytes of a record. Short fields do not count. */
export function recordBytes(record: RecordOf): number {
  switch (record.$case) {
    case 'checkpoint':
      return changesBytes(record.value.changes) +
        record.value.skeletonJson.length + record.value.metadataJson.length
    case 'writes':
      return writesBytes(record.value.writes)
    case 'emitted':
      return record.value.events.reduce((sum, { json }) => sum + json.length, 0)
    case 'runCreated':
      return record.value.kwargsJson.length + record.value.planJson.length
    default:
      return 0
  }
}
