/**
 * What a store keeps of traces. It runs in the threads of the platform, never on the main thread;
 * `test/contract/span-port-contract.ts` holds for both stores.
 */

import type { DocumentPort } from './document-port.ts'
import type { SqlPort } from './sql-port.ts'
import type { FeedbackPort } from './feedback-port.ts'
import type { RollUpPort } from './roll-up-port.ts'
import type { IndexedWord } from './words.ts'
import type { Block, BlockId, SpanHead, SpanPlace, SpanWrite, Term, Uuid } from './span.ts'

/** All that one request writes. */
export interface SpansOfRequest {
  readonly tenant: string
  readonly spans: readonly SpanWrite[]
  readonly blocks: readonly Block[]
  readonly files: readonly FilePart[]
  /** How long spans of each project live, in seconds. */
  readonly timeToLiveS: ReadonlyMap<Uuid, number>
}

/** An attachment of a span. */
export interface FilePart {
  /** The span. */
  readonly owner: Uuid
  readonly ownerTrace: Uuid
  readonly name: string
  /** Media type as the client gave it. */
  readonly type: string
  readonly data: Uint8Array
}

/** A field of a head that a store may compare by itself. Latency is in microseconds. */
export type RangeField = 'startUs' | 'endUs' | 'latencyUs' | 'promptTokens' | 'completionTokens'
  | 'totalTokens' | 'promptCost' | 'completionCost' | 'totalCost' | 'firstTokenUs'

/** A necessary condition. A span without the field does not meet it. */
export interface Range {
  readonly field: RangeField
  readonly op: '<' | '<=' | '>' | '>=' | '='
  readonly value: number
}

/** Which heads to read. What a store yields may be more than what meets the conditions. */
export interface Plan {
  readonly tenant: string
  readonly projects: readonly Uuid[]
  /** Starts from here on … */
  readonly fromUs: number
  /** … and before here. */
  readonly toUs: number
  /** By start, then id. */
  readonly order: 'newest' | 'oldest'
  readonly rootsOnly: boolean
  /**
   * All of these hold for each span that is wanted, and are worth an index in each that has them.
   * The rarest first, as far as the plan knows.
   */
  readonly terms: readonly Term[]
  /** Each span that is wanted has all of these words, in its name or in its payload. */
  readonly words?: readonly IndexedWord[]
  readonly ranges: readonly Range[]
  /** Wanted type and name; null for any. */
  readonly type: string | null
  readonly name: string | null
}

/** A position in the order of a scan: what comes after it is read. */
export interface ScanMark {
  readonly startUs: number
  readonly id: Uuid
}

/** Heads in the order of the plan, and how many were looked at for them. */
export interface ScannedHeads {
  readonly heads: readonly SpanHead[]
  readonly looked: number
}

/** What is removed. */
export type Removal =
  | { readonly kind: 'project'; readonly project: Uuid }
  | { readonly kind: 'traces'; readonly traces: readonly SpanPlace[] }
  /** Spans of a project that began before. */
  | { readonly kind: 'older'; readonly project: Uuid; readonly beforeUs: number }

/** The spans of all tenants. All methods throw HeddleError. */
export interface SpanPort {
  /**
   * Durable when it resolves: with the ids of spans that were left out, for they are removed. The
   * same operations may be written in any order and any number of times, and by several members at
   * once. If it throws `unavailable`, a part may be written.
   */
  write(request: SpansOfRequest): Promise<readonly Uuid[]>
  /** Slices of at most 500 heads. Ends early when the consumer does. */
  scan(plan: Plan, after?: ScanMark): AsyncIterable<ScannedHeads>
  /** The places of spans; those that are not known are missing. */
  locate(tenant: string, ids: readonly Uuid[]): Promise<ReadonlyMap<Uuid, SpanPlace>>
  /** The heads at these places, in any order; those that are gone are missing. */
  heads(places: readonly SpanPlace[]): Promise<readonly SpanHead[]>
  /** All heads of a trace by start, in slices of at most 500. */
  trace(place: SpanPlace): AsyncIterable<readonly SpanHead[]>
  /** The blocks with these ids; those that are gone are missing. */
  blocks(place: Pick<SpanPlace, 'tenant' | 'trace' | 'traceStartUs'>,
    ids: readonly BlockId[]): Promise<ReadonlyMap<BlockId, Uint8Array>>
  /** Names and types of the files of a span; with `name`, the data of that one too. */
  files(tenant: string, owner: Uuid, name?: string): Promise<readonly FilePart[]>
  /** Nobody finds them when it resolves, and no late operation revives a removed trace. */
  remove(tenant: string, what: Removal): Promise<void>
}

/** Why spans are removed that nobody asked to remove. */
export const removalReasons = ['age', 'disk', 'tenant'] as const

/** Spans that were removed: they lived long enough, or took the room of the disk or a tenant. */
export interface RemovedSpans {
  readonly reason: typeof removalReasons[number]
  readonly spans: number
}

/** Is called with what a store removed by itself. */
export type RemovalListener = (removed: RemovedSpans) => void

/** A store that removes spans by itself. In others they expire where nobody counts them. */
export interface RemovalPort {
  watchRemovals(listener: RemovalListener): void
}

/** All that a store keeps of the platform. */
export interface SpanStore
  extends SpanPort, FeedbackPort, RollUpPort, DocumentPort, Partial<SqlPort>, Partial<RemovalPort> {
  close(): Promise<void>
}

/**
 * What a module of a store exports, for a thread that opens it. `access` is `write` in the one
 * thread that writes and `read` in all others.
 */
export interface SpanStoreModule {
  openSpanStore(options: unknown, access: 'write' | 'read'): Promise<SpanStore>
}
