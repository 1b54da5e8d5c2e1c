/** Log rows as bytes: the records that became true together, in their protobuf envelope. */

import { LogRow } from '../../proto/gen/storage/v1/log.ts'
import type { Checkpoint, Record as LogRecord, Writes } from '../../proto/gen/storage/v1/log.ts'
import { bytesInTurns, bytesOf } from './message-bytes.ts'

/** One record: its kind (`$case`) and its value. */
export type RecordOf = NonNullable<LogRecord['record']>

export function encodeRow(records: readonly RecordOf[]): Uint8Array {
  return bytesOf(LogRow, { records: records.map((record) => ({ record })) })
}

/** The same; a promise for a long row. */
export function encodeRowInTurns(records: readonly RecordOf[]): Uint8Array | Promise<Uint8Array> {
  return bytesInTurns(LogRow, { records: records.map((record) => ({ record })) })
}

export function decodeRow(body: Uint8Array): RecordOf[] {
  return LogRow.decode(body).records.flatMap(({ record }) => (record ? [record] : []))
}

export type { Checkpoint, Writes }
