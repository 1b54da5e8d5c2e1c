/** Conditions on the spans of a trace that is looked through. Pure. */

import type { SpanHead } from '../../api/platform/traces.ts'
import type { TimeRange } from './time-axis.ts'

/** Conditions on spans, all of which must hold; without any, each span is shown. */
export interface SpanLook {
  /** A part of the name, or a type. */
  readonly words?: string | undefined
  /** Ids of spans whose inputs or outputs have the words. */
  readonly inTexts?: ReadonlySet<string> | undefined
  readonly failed?: boolean | undefined
  /** The shortest time that a span may have taken, in microseconds. */
  readonly leastUs?: number | undefined
  /** Ids of the only spans that may be shown. */
  readonly only?: { has(id: string): boolean } | undefined
}

/** True if there is a condition. */
export const looksFor = ({ words = '', failed = false, leastUs = 0, only }: SpanLook): boolean =>
  words.trim() !== '' || failed || leastUs > 0 || only !== undefined

/** True if a span meets each condition. */
export function isLookedFor({ span, from, to }: TimeRange & { readonly span: SpanHead },
  { words = '', inTexts, failed = false, leastUs = 0, only }: SpanLook): boolean {
  const { id, name, run_type: type, status } = span
  const wanted = words.trim().toLowerCase()
  return (name.toLowerCase().includes(wanted) || type.toLowerCase() === wanted ||
    (inTexts?.has(id) ?? false)) &&
    (!failed || status === 'ERROR') && to - from >= leastUs &&
    (only?.has(id) ?? true)
}
