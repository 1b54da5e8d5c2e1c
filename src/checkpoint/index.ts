/** Checkpoints and the log they live in: rows, changes, and reading state back. */

export { changesBytes, ChannelView, stepBytes } from './channel-view.ts'
export { CheckpointReader, toTuple } from './checkpoint-reader.ts'
export type { LogHead } from './log-head.ts'
export type { BranchSubject, LogEntry, LogPort, LogRange, NewRow, PurgeSubject,
  RowUpdate } from './log-port.ts'
export { rowsOf } from './log-rows.ts'
export { bytesInTurns, bytesOf } from './message-bytes.ts'
export { lateWritesOf, newestOf } from './place-name.ts'
export { ReadBytes } from './read-bytes.ts'
export { recordBytes } from './record-bytes.ts'
export { decodeRow, encodeRow, encodeRowInTurns } from './row-codec.ts'
export type { RecordOf } from './row-codec.ts'
export { segmentsOf } from './segment.ts'
export type { Segment } from './segment.ts'
export type { CheckpointSource, JsonText, StoredChannel, StoredTuple, TupleQuery } from './tuple.ts'
