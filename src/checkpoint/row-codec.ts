/** Log rows as bytes: the records that became true together, in their protobuf envelope. */

import { LogRow } from '../../proto/gen/storage/v1/log.ts'
import type { Checkpoint, Record as LogRecord, Writes } from '../../proto/gen/storage/v1/log.ts'
import { bytesInTurns, bytesOf } from './message-bytes.ts'

/** One record: its kind (`$case`) and its value. */
export type RecordOf = NonNullable<LogRecord['record']>

/** The body of a row. */
export function encodeRow(records: readonly RecordOf[]): Uint8Array {
  return bytesOf(LogRow, { records: records.map((record) => ({ record })) })
}

/**
 * The body of a row; a promise for a long one, of which each turn of the event loop writes a part.
 */
export function encodeRowInTurns(records: readonly RecordOf[]): Uint8Array | Promise<Uint8Array> {
  return bytesInTurns(LogRow, { records: records.map((record) => ({ record })) })
}

/** The records in the body of a row. Kinds that this version does not know are left out. */
export function decodeRow(body: Uint8Array): RecordOf[] {
  return LogRow.decode(body).records.flatMap(({ record }) => (record ? [record] : []))
}

export type { Checkpoint, Writes }
