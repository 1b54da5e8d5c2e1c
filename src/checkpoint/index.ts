/** Checkpoints and the log they live in: rows, changes, and reading state back. */

export type { LogEntry, LogPort, LogRange, NewRow, PurgeSubject, RowUpdate } from './log-port.ts'
export type { CheckpointSource, JsonText, StoredChannel, StoredTuple, TupleQuery }
  from './tuple.ts'
export { ChannelView, changesBytes, stepBytes } from './channel-view.ts'
export { recordBytes } from './record-bytes.ts'
export { CheckpointReader, toTuple } from './checkpoint-reader.ts'
export type { LogHead } from './checkpoint-reader.ts'
export { bytesInTurns, bytesOf } from './message-bytes.ts'
export { lateWritesOf, newestOf } from './place-name.ts'
export { rowsOf } from './log-rows.ts'
export { ReadBytes } from './read-bytes.ts'
export { decodeRow, encodeRow, encodeRowInTurns } from './row-codec.ts'
export type { RecordOf } from './row-codec.ts'
export { segmentsOf } from './segment.ts'
export type { Segment } from './segment.ts'
