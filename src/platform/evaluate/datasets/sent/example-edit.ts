/** Edits of examples as callers ask for them: one edit for each example. */

import type { Uuid } from '../../../spans/span.ts'

/** Members of an example in an edit. Absent ones stay, or are empty in a new example. */
export interface ExampleInput {
  /** JSON in UTF-8. */
  readonly inputs?: Uint8Array
  /** Null for none. */
  readonly outputs?: Uint8Array | null
  readonly metadata?: Readonly<Record<string, unknown>>
  readonly splits?: readonly string[]
  readonly sourceRun?: Uuid
  /** In microseconds. */
  readonly createdUs?: number
  /** True: inputs and outputs are those of the run that it comes from. */
  readonly usesRun?: boolean
  /** Attachments of that run that are copied; true for all. */
  readonly runFiles?: readonly string[] | true
  readonly files?: readonly SentFile[]
  /** Attachments that stay; without it all do, unless `files` replace them. */
  readonly kept?: KeptFiles
}

/** An attachment in a request. */
export interface SentFile {
  readonly name: string
  readonly type: string
  readonly data: Uint8Array
}

/** Names of attachments that stay, and new names of others. The rest is removed. */
export interface KeptFiles {
  readonly rename: Readonly<Record<string, string>>
  readonly retain: readonly string[]
}

/** A change of a member of the metadata. */
export interface MetadataOperation {
  readonly key: string
  readonly operation: 'set' | 'add' | 'remove'
  readonly value?: unknown
  readonly values: readonly string[]
}

/** A change of one example. */
export type ExampleEdit =
  /** Sent again with the same content, it changes nothing. */
  | { readonly kind: 'create'; readonly id: Uuid; readonly said: ExampleInput }
  /** One that is there stays as it is, if it has the inputs, and the outputs that are said. */
  | { readonly kind: 'ensure'; readonly id: Uuid; readonly said: ExampleInput }
  | { readonly kind: 'update'; readonly id: Uuid; readonly said: ExampleInput }
  /** Those that do not exist are passed over. */
  | { readonly kind: 'metadata'; readonly id: Uuid;
    readonly operations: readonly MetadataOperation[] }
  /** Versions before still have it. */
  | { readonly kind: 'delete'; readonly id: Uuid }
  /** No version has it any more. */
  | { readonly kind: 'erase'; readonly id: Uuid }

/** Result of a change: the examples of a dataset that it touched, and the new version. */
export interface ExamplesChanged {
  readonly dataset: Uuid
  /** Of the examples that were created, changed or removed. */
  readonly ids: readonly Uuid[]
  /** The version that has the change; null if the dataset has none. */
  readonly version: string | null
}

/** The split of examples that name none. */
export const baseSplit = 'base'
