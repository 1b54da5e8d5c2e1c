/**
 * Storage of documents: bytes by key, below the record that they belong to. They hold data that are
 * too long or too many for the records of a catalog, such as the manifests of a prompt.
 *
 * It runs in the threads of the platform; `test/contract/document-port-contract.ts` holds for both
 * stores. A catalog decides which documents count: readers see them before it does.
 */

import type { Uuid } from './span.ts'

/** Kind of a document. Each kind has keys and bytes of its own. */
export type DocumentKind = 'commit' | 'example' | 'example_file' | 'queue_run' | 'rule_log'
  | 'ended_span' | 'share_token' | 'revision_chunk' | 'revision_manifest' | 'deployment_event'
  | 'build_source' | 'replay_verdict' | 'own_run' | 'life_change'

/** Place of documents: those of one kind that belong to one record. */
export interface DocumentPlace {
  readonly tenant: string
  readonly kind: DocumentKind
  /** The record, such as a prompt or a dataset. */
  readonly owner: Uuid
}

/** A document. Keys are 1 to 200 characters of ASCII, and are sorted by their codes. */
export interface Document {
  readonly key: string
  readonly body: Uint8Array
}

/** Choice of documents to list. */
export interface DocumentRange {
  /** Key after which the list begins … */
  readonly after?: string
  /** … and key before which it ends. */
  readonly before?: string
  /** True to begin with the last key. */
  readonly reverse?: boolean
  /** At most 1 000. */
  readonly limit: number
  /** Bytes after which the list ends early. It has at least one document. */
  readonly bytes?: number
}

/** The documents of all tenants. All methods throw HeddleError. */
export interface DocumentPort {
  /** All are durable when it resolves. A document replaces the one with its key. */
  putDocuments(place: DocumentPlace, documents: readonly Document[]): Promise<void>
  /** Those that exist, in any order. */
  getDocuments(place: DocumentPlace, keys: readonly string[]): Promise<readonly Document[]>
  /** A page in the order of keys. It is empty only if nothing is left. */
  listDocuments(place: DocumentPlace, range: DocumentRange): Promise<readonly Document[]>
  deleteDocuments(place: DocumentPlace, keys: readonly string[]): Promise<void>
  /** Removes all documents of a place. */
  dropDocuments(place: DocumentPlace): Promise<void>
}

/** Documents of a page at most, and their bytes. */
export const documentPage = { documents: 1_000, bytes: 8 * 1024 * 1024 } as const
