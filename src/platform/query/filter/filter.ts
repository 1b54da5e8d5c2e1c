/** A filter: a condition on a span, as a tree of typed parts. */

import type { SearchPlace } from '../../spans/searched-text.ts'
import type { RangeField } from '../../spans/span-port.ts'

/** A field of the head that holds a text. `status` is derived from other fields. */
export type TextField = 'id' | 'name' | 'type' | 'status' | 'trace' | 'parent' | 'thread'
  | 'example' | 'project'

/** A field of the head that holds a number. Times and the latency are in microseconds. */
export type NumberField = RangeField | 'executionOrder'

/** Kind of a comparison. `neq` is the opposite of `eq`, also for a value that is absent. */
export type Comparison = 'eq' | 'gt' | 'gte' | 'lt' | 'lte'

/** A value that is neither an object nor a list. Null asks whether the value is absent. */
export type Scalar = string | number | boolean | null

/** Objects of a span that have keys and values. */
export type EntrySource = 'metadata' | 'inputs' | 'outputs' | 'feedback'

/** A condition on the value of an entry; for feedback, on its score or its value. */
export interface EntryTest {
  readonly member: 'value' | 'score'
  readonly op: Comparison
  /** Values of which one must meet the comparison. */
  readonly values: readonly Scalar[]
  /** True if no value may meet the comparison. */
  readonly negated: boolean
}

/**
 * A condition on a span. A comparison with an absent value is false.
 *
 * all, any, not  as said
 * text, number   a field of the head
 * error          the text of the error
 * root           the span is the root of its trace
 * present        the field has a value
 * tag            the span has the tag
 * entry          one entry has one of the keys (null: any), and meets all tests
 * contains       the metadata contain this object
 * search         each word is in a text of one of the places; words are in lower case
 */
export type Filter =
  | { readonly kind: 'all'; readonly of: readonly Filter[] }
  | { readonly kind: 'any'; readonly of: readonly Filter[] }
  | { readonly kind: 'not'; readonly of: Filter }
  | { readonly kind: 'text'; readonly field: TextField; readonly op: Comparison;
    readonly value: string }
  | { readonly kind: 'number'; readonly field: NumberField; readonly op: Comparison;
    readonly value: number }
  | { readonly kind: 'error'; readonly op: Comparison; readonly value: string }
  | { readonly kind: 'root' }
  | { readonly kind: 'present'; readonly field: TextField | NumberField | 'error' }
  | { readonly kind: 'tag'; readonly tag: string }
  | { readonly kind: 'entry'; readonly of: EntrySource; readonly keys: readonly string[] | null;
    readonly tests: readonly EntryTest[] }
  | { readonly kind: 'contains'; readonly value: Readonly<Record<string, unknown>> }
  | { readonly kind: 'search'; readonly places: readonly SearchPlace[];
    readonly words: readonly string[] }

/** The words of a text, in lower case, each once. */
export function wordsOf(text: string): readonly string[] {
  return [...new Set(text.toLowerCase().split(/\s+/))].filter((word) => word !== '')
}
