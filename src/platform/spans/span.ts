/**
 * A span: the parts that lists, filters, trees and statistics read, and the operations that fill
 * them.
 */

import type { TokenKinds } from './token-kinds.ts'

/** An id of 16 bytes, as lower-case text with dashes. */
export type Uuid = string

/** Id of a block: a 62-bit hash of its content. */
export type BlockId = bigint

/**
 * A 64-bit hash of `key:value`, as an inverted index has it. `src/platform/spans/term.ts` makes
 * them.
 */
export type Term = bigint

/** Place of a span. Its operations and its readers can both compute it. */
export interface SpanPlace {
  readonly tenant: string
  /** Id of the tracing project. */
  readonly project: Uuid
  /** Start in microseconds since 1970: the time in the last segment of the dotted order. */
  readonly startUs: number
  readonly id: Uuid
  readonly trace: Uuid
  /** Start of the trace: the time in the first segment of the dotted order. */
  readonly traceStartUs: number
}

/**
 * Fields that an operation sets in a span. Null sets nothing: the value of another operation stays.
 */
export interface SpanFields {
  readonly dottedOrder: string | null
  readonly parent: Uuid | null
  /** True for the root of its trace. */
  readonly root: boolean | null
  readonly name: string | null
  /** `chain`, `llm`, `tool` and so on, in lower case. */
  readonly type: string | null
  readonly endUs: number | null
  readonly firstTokenUs: number | null
  /** True if it failed. */
  readonly failed: boolean | null
  readonly promptTokens: number | null
  readonly completionTokens: number | null
  readonly totalTokens: number | null
  /** Costs are in US dollars. */
  readonly promptCost: number | null
  readonly completionCost: number | null
  readonly totalCost: number | null
  /** Parts of the tokens and costs. */
  readonly kinds: TokenKinds | null
  /** Id of the conversation that it belongs to. */
  readonly thread: string | null
  /** Example of a dataset with which it was run. */
  readonly example: Uuid | null
}

/** One operation of a request on one span, as the stores keep it. */
export interface SpanWrite {
  readonly place: SpanPlace
  /** A patch wins over a post, whatever comes first. Of several patches the last to arrive wins. */
  readonly kind: 'post' | 'patch'
  readonly arrivedUs: number
  readonly fields: SpanFields
  /**
   * Terms, which are added to those of other operations. The first `indexed` ones are worth an
   * index.
   */
  readonly terms: readonly Term[]
  readonly indexed: number
  /** The block with the payload of this operation; null if it has none. */
  readonly block: BlockId | null
  /**
   * True if nothing named the project: the first operation that specifies it moves the span there.
   */
  readonly isGuess?: boolean
  /** Seconds for which the span is kept; by default, as long as its project specifies. */
  readonly timeToLiveS?: number
}

/** The payload of the operations that one request has on one trace. Written once. */
export interface Block {
  readonly id: BlockId
  readonly trace: Uuid
  readonly traceStartUs: number
  readonly data: Uint8Array
}

/** A mark that feedback leaves on its span, for filters and statistics. */
export interface FeedbackMark {
  readonly id: Uuid
  readonly key: string
  readonly score: number | null
  /** A text, or the JSON of another value; null if there is none. */
  readonly value: string | null
}

/** A span with the fields of all its operations together. */
export interface SpanHead extends SpanPlace, SpanFields {
  /** Time at which the last operation with a value arrived. Retention counts from it. */
  readonly arrivedUs: number
  readonly terms: readonly Term[]
  /** Blocks of its payload, in the order in which they arrived. */
  readonly blocks: readonly BlockId[]
  readonly feedback: readonly FeedbackMark[]
  /** True if no operation so far specified the project of the span. */
  readonly isGuess?: boolean
}

/** Fields of an operation that sets none. */
export const noFields: SpanFields = {
  dottedOrder: null,
  parent: null,
  root: null,
  name: null,
  type: null,
  endUs: null,
  firstTokenUs: null,
  failed: null,
  promptTokens: null,
  completionTokens: null,
  totalTokens: null,
  promptCost: null,
  completionCost: null,
  totalCost: null,
  kinds: null,
  thread: null,
  example: null,
}
