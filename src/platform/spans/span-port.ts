/**
 * Storage of traces. It runs in the threads of the platform, never on the main thread;
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
  /**
   * Seconds for which the spans of each project are kept. The last value of a project holds for all
   * of its spans. A project without one is not changed.
   */
  readonly timeToLiveS: ReadonlyMap<Uuid, number>
}

/** A span as the owner of files: another project may have a span of its id. */
export type FileOwner = Pick<SpanPlace, 'tenant' | 'project' | 'id'>

/** An attachment of a span. */
export interface FilePart {
  readonly project: Uuid
  /** Id of the span that it belongs to. */
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

/** Choice of heads to read. A store may yield more heads than those that meet the conditions. */
export interface Plan {
  readonly tenant: string
  readonly projects: readonly Uuid[]
  /** Start from which on spans are read … */
  readonly fromUs: number
  /** … and before which they are read. */
  readonly toUs: number
  /** Order by start, then by id. */
  readonly order: 'newest' | 'oldest'
  readonly rootsOnly: boolean
  /**
   * Terms that each wanted span has, and that are worth an index in it. The rarest come first, as
   * far as the plan knows.
   */
  readonly terms: readonly Term[]
  /** Words that each wanted span has, in its name or in its payload. */
  readonly words?: readonly IndexedWord[]
  readonly ranges: readonly Range[]
  /** Wanted type and name; null for any. */
  readonly type: string | null
  readonly name: string | null
}

/** The conditions of a plan that reads every span. */
export const everySpan = { rootsOnly: false, terms: [], ranges: [], type: null,
  name: null } as const

/** A position in the order of a scan. The heads after it are read. */
export interface ScanMark {
  readonly startUs: number
  readonly id: Uuid
}

/** Heads in the order of the plan, and the number that was looked at for them. */
export interface ScannedHeads {
  readonly heads: readonly SpanHead[]
  readonly looked: number
}

/** Choice of spans to remove. */
export type Removal =
  | { readonly kind: 'project'; readonly project: Uuid }
  | { readonly kind: 'traces'; readonly traces: readonly SpanPlace[] }
  /**
   * Removes feedback on spans that have not come, and tokens for it. Later feedback on such a span
   * is rejected until the span comes.
   */
  | { readonly kind: 'feedback'; readonly spans: readonly Uuid[] }
  /** Removes the spans of a project that began before a time. */
  | { readonly kind: 'older'; readonly project: Uuid; readonly beforeUs: number }

/** Outcome of a write. */
export interface WrittenSpans {
  /** Ids of spans that were left out because they are removed. */
  readonly removed: readonly Uuid[]
  /**
   * Places of spans in a project that an operation named, where operations without a project wait
   * no longer. The end of such a span may have come before its project was known. Each later write
   * of the span returns its place again, until `confirmMoves` is called with it.
   */
  readonly moved: readonly SpanPlace[]
}

/** The spans of all tenants. All methods throw HeddleError. */
export interface SpanPort {
  /**
   * Writes operations. Resolves when they are durable. The same operations may be written in any
   * order and any number of times, and by several members at once. If it throws `unavailable`, a
   * part may be written.
   */
  write(request: SpansOfRequest): Promise<WrittenSpans>
  /** Confirms that the ends of moved spans are noted for the rules of their projects. */
  confirmMoves(tenant: string, places: readonly SpanPlace[]): Promise<void>
  /** Slices of at most 500 heads. The scan ends early when its consumer does. */
  scan(plan: Plan, after?: ScanMark): AsyncIterable<ScannedHeads>
  /**
   * All places of spans, in any order: one in each project that has a span of such an id. Unknown
   * spans are missing. Rule: [all_places].
   */
  locate(tenant: string, ids: readonly Uuid[]): Promise<readonly SpanPlace[]>
  /** The heads at these places, in any order. Removed spans are missing. */
  heads(places: readonly SpanPlace[]): Promise<readonly SpanHead[]>
  /** All heads of a trace by start, in slices of at most 500. */
  trace(place: SpanPlace): AsyncIterable<readonly SpanHead[]>
  /** The blocks with these ids. Removed blocks are missing. */
  blocks(place: Pick<SpanPlace, 'tenant' | 'trace' | 'traceStartUs'>,
    ids: readonly BlockId[]): Promise<ReadonlyMap<BlockId, Uint8Array>>
  /** Names and types of the files of a span; with `name`, the data of that one too. */
  files(place: FileOwner, name?: string): Promise<readonly FilePart[]>
  /**
   * Changes the seconds for which all spans of a project are kept. When it resolves, the change is
   * durable. Spans that are stored get their new end of life in slices. In a store that deletes
   * spans itself, no span is deleted by its former end.
   */
  changeLife(tenant: string, project: Uuid, timeToLiveS: number): Promise<void>
  /**
   * Removes spans. When it resolves, they cannot be found, and no late operation revives a removed
   * trace.
   */
  remove(tenant: string, what: Removal): Promise<void>
  /** True if a project was removed. Its id is never used again: all of its spans are rejected. */
  isRemovedProject(tenant: string, project: Uuid): Promise<boolean>
}

/** Reasons for which a store removes spans by itself. */
export const removalReasons = ['age', 'disk', 'tenant'] as const

/** Spans that were removed: they lived long enough, or took the room of the disk or a tenant. */
export interface RemovedSpans {
  readonly reason: typeof removalReasons[number]
  readonly spans: number
}

/** Called with the spans that a store removed by itself. */
export type RemovalListener = (removed: RemovedSpans) => void

/** A store that removes spans by itself. In other stores they expire without being counted. */
export interface RemovalPort {
  watchRemovals(listener: RemovalListener): void
  /**
   * The time until which spans of a tenant may have been removed to free space, in milliseconds
   * since 1970; 0 if none were. It is durable together with the removal.
   */
  freedUntilMs(tenant: string): Promise<number>
}

/** All that a store keeps of the platform. */
export interface SpanStore
  extends SpanPort, FeedbackPort, RollUpPort, DocumentPort, Partial<SqlPort>, Partial<RemovalPort> {
  close(): Promise<void>
}

/**
 * Exports of a store's module, for a thread that opens it. `access` is `write` in the one thread
 * that writes and `read` in all others.
 */
export interface SpanStoreModule {
  openSpanStore(options: unknown, access: 'write' | 'read'): Promise<SpanStore>
}
