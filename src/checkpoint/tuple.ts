/** A checkpoint as it is stored, and where to get one: what the engine's saver reads. */

import type { Writes } from '../../proto/gen/storage/v1/log.ts'
import type { Value } from '../../proto/gen/storage/v1/value.ts'

/** JSON text. Everything that need not look inside passes it on unparsed. */
export type JsonText = string

/** The checkpoints of one thread, for executions and questions. Reads see all appends before. */
export interface CheckpointSource {
  /**
   * A checkpoint; the newest of the namespace if `checkpointId` is null, undefined if there is
   * none.
   */
  tuple(ns: string, checkpointId: string | null): Promise<StoredTuple | undefined>
  /** A page, newest first. */
  list(query: TupleQuery): Promise<StoredTuple[]>
}

/** Conditions on a page of checkpoints. */
export interface TupleQuery {
  /** Namespace; null for every one. */
  readonly ns: string | null
  readonly checkpointId: string | null
  /** Only checkpoints older than this one; null for no bound. */
  readonly before: string | null
  readonly limit: number | null
  /** Every key must equal the checkpoint's metadata. */
  readonly filter: Readonly<Record<string, unknown>> | null
}

/** One checkpoint with its state and its pending writes, as stored. */
export interface StoredTuple {
  readonly ns: string
  readonly id: string
  readonly parentId: string
  /** False if a newer checkpoint of the namespace exists. The next one is then stored in full. */
  readonly newest: boolean
  /** The engine's checkpoint without channel values. */
  readonly skeleton: JsonText
  readonly metadata: JsonText
  readonly channels: readonly StoredChannel[]
  readonly writes: readonly Writes[]
  /** Bytes of changes since the last full checkpoint, and the bytes of that one. */
  readonly deltaBytes: number
  readonly fullBytes: number
}

/** One channel of a stored checkpoint. */
export interface StoredChannel {
  readonly channel: string
  /** A list keeps its elements apart, so that appending to it costs what is appended. */
  readonly content: { readonly list: readonly Value[] } | { readonly value: Value }
}
