/** Requests of the main thread to the writer thread, and the answers. */

import type { Branch, CheckpointPlace } from '../../../../proto/gen/storage/v1/row.ts'
import type { KeyRow } from '../../../access/index.ts'
import type { BillingQuery, BillingRow } from '../../../billing/index.ts'
import type { LogRange } from '../../../checkpoint/index.ts'
import type { ErrorCode } from '../../../errors.ts'
import type { LimitAdmit, LimitKey, TenantUse } from '../../../limits/index.ts'
import type { AssistantFilter, AssistantQuery, CronFilter, CronQuery, DueCron, DueThread, ItemName,
  ItemQuery, Namespace, NamespaceQuery, RunPlace, RunQuery, RunSearchQuery, RunText, ThreadFilter,
  ThreadQuery, UnfinishedThread } from '../../../search/index.ts'
import type { Position } from '../log/log-table.ts'
import type { EncodedItem } from '../search/item-search.ts'
import type { Documents } from '../search/search-slice.ts'
import type { RowPage, StoredRow } from '../search/stored-row.ts'
import type { EntryBatch, WireBatch } from './wire-batch.ts'

/** A file that both threads open. */
export interface StoreFile {
  readonly path: string
  /** Number of shards, in a store that is rebuilt at each start; otherwise undefined. */
  readonly shards: number | undefined
}

/**
 * Questions to the writer thread. Each is answered after all writes that were requested before it.
 */
export interface Reader {
  tail(branch: Branch): Position | undefined
  read(branch: Branch, range: LogRange): EntryBatch
  findCheckpoint(branch: Branch, checkpointId: string): CheckpointPlace | undefined
  /** Undefined if the search takes too long here. Ask the search thread then. */
  searchThreads(query: ThreadQuery): { page: RowPage<StoredRow>; total: number } | undefined
  countThreads(filter: ThreadFilter): number | undefined
  use(tenant: string): TenantUse
  dueThreads(after: Pick<DueThread, 'atMs' | 'no'>, limit: number): DueThread[]
  /** Answered when all words that are noted are indexed, with the newest note. */
  wordsNoted(): number
  unfinishedThreads(): UnfinishedThread[]
  unfinishedThreadsOf(shard: number): UnfinishedThread[]
  loadedShards(): readonly number[]
  thread(tenant: string, threadId: string): StoredRow | undefined
  run(tenant: string, threadId: string, runId: string): Uint8Array | undefined
  runs(query: RunQuery): RowPage<Uint8Array>
  assistant(tenant: string, assistantId: string): StoredRow | undefined
  /** Undefined if the search takes too long here. Ask the search thread then. */
  searchAssistants(query: AssistantQuery): { page: RowPage<StoredRow>; total: number } | undefined
  /** Rows by their numbers, for a page that has many bytes. */
  threadRows(numbers: readonly number[]): StoredRow[]
  assistantRows(numbers: readonly number[]): StoredRow[]
  runRows(numbers: readonly number[], texts: readonly RunText[] | undefined): Uint8Array[]
  countAssistants(filter: AssistantFilter): number | undefined
  cron(tenant: string, cronId: string): StoredRow | undefined
  /** Undefined if the search takes too long here. Ask the search thread then. */
  searchCrons(query: CronQuery): { page: RowPage<StoredRow>; total: number } | undefined
  countCrons(filter: CronFilter): number | undefined
  cronRows(numbers: readonly number[]): StoredRow[]
  dueCrons(after: Pick<DueCron, 'atMs' | 'no'>, limit: number, nowMs: number): DueCron[]
  item(tenant: string, id: string): Uint8Array | undefined
  endedItems(beforeMs: number, limit: number): ItemName[]
  /** Answers after everything before it, as all questions do. */
  nothing(): undefined
  key(id: string): KeyRow | undefined
  keys(tenant: string | undefined): KeyRow[]
  billed(query: BillingQuery): BillingRow[]
  admits(key: LimitKey, sinceMs: number): LimitAdmit[]
}

/** Name of a question to the writer thread. */
export type Question = keyof Reader

/** All requests of one turn of the main thread's event loop. Replies refer to their ids. */
export interface Requests {
  readonly writeIds: readonly number[]
  readonly writes: WireBatch
  readonly questions: readonly AskedQuestion[]
  /**
   * Batches with writes are numbered, on through all generations of the store; 0 if they are not.
   */
  readonly number: number
  /** The writes are on disk and acknowledged: they must be done. */
  readonly acknowledged: boolean
  /** True if nothing follows. */
  readonly close: boolean
}

/** A message to the writer thread: what it has not received yet, in order. */
export type Batches = readonly Requests[]

/** A question with its arguments. */
export interface AskedQuestion {
  readonly id: number
  readonly question: Question
  readonly values: readonly unknown[]
}

/** An error as it passes between threads. */
export interface WireError {
  readonly code: ErrorCode
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
  /** Words of SQLite, for the server's log. */
  readonly cause: unknown
}

/** Order to search through documents, with the id of its reply. */
export interface SearchOrder {
  readonly id: number
  readonly question: SearchQuestion
}

/** Subject of a search through documents. */
export type SearchQuestion =
  | { readonly kind: 'threads'; readonly query: ThreadQuery }
  | { readonly kind: 'assistants'; readonly query: AssistantQuery }
  | { readonly kind: 'crons'; readonly query: CronQuery }
  | { readonly kind: 'runs'; readonly query: RunSearchQuery }
  | { readonly kind: 'items'; readonly query: ItemQuery }
  | { readonly kind: 'namespaces'; readonly query: NamespaceQuery }

/** Result of a search. `covered` are the shards that were searched, if rows belong to shards. */
export interface SearchFound extends Documents {
  readonly items?: readonly EncodedItem[]
  readonly namespaces?: readonly Namespace[]
  /** Place from which the next search of runs continues. */
  readonly next?: RunPlace | undefined
  readonly covered: readonly number[]
}

/** Answer of the search thread. */
export type SearchReply =
  | { readonly id: number; readonly found: SearchFound }
  | { readonly id: number; readonly error: WireError }

/** Answer of the writer thread: a value or an error. */
export interface Reply {
  readonly id: number
  readonly value?: unknown
  readonly error?: WireError
}

/** One process that has the store open. The next one begins a new generation. */
export interface StoreGeneration {
  readonly epoch: number
  /** Tells its records in the write-ahead file from all others. */
  readonly salt: number
  /** Newest batch of which the database had something when the generation began. */
  readonly written: number
}

/** The first message of the writer thread. */
export type Greeting = StoreGeneration | { readonly error: WireError }
