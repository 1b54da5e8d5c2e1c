/** Finds the spans of a question that a rule is about. Runs in the query thread. */

import { HeddleError } from '../../../errors.ts'
import { conditionsOf } from '../../query/conditions.ts'
import { matching } from '../../query/matching.ts'
import type { ScanParts } from '../../query/matching.ts'
import { visibility } from '../../query/scan.ts'
import { spanTest } from '../../query/filter/test-span.ts'
import { traceFilter } from '../../query/trace-filter.ts'
import type { SpanHead, Uuid } from '../../spans/span.ts'
import { termOf } from '../../spans/term.ts'
import type { RunsQuestion } from '../../query/question.ts'
import { ruleMark } from './rule.ts'

/** Reads of what rules are about. */
export interface RuleReads {
  /** Those of `ids` that a rule is about: `MatchedSpan`s. */
  ruleSpans(question: RunsQuestion): Promise<Uint8Array>
}

/** A span that a rule is about. */
export interface MatchedSpan {
  readonly id: Uuid
  readonly trace: Uuid
  readonly project: Uuid
  /** A rule made it, so that no rule looks at it. */
  readonly marked: boolean
}

const mark = termOf.metadataKey(ruleMark)

/**
 * Those of the named spans that have ended and meet the filters: as JSON of `MatchedSpan`s, in the
 * order of the ids.
 */
export async function answerMatched(parts: ScanParts, question: RunsQuestion,
  signal?: AbortSignal): Promise<Uint8Array> {
  const { tenant, ids = [], projects, ...rest } = question
  const places = await parts.store.locate(tenant, [...new Set(ids)])
  const isVisible = visibility(question, parts.env.nowMs())
  const heads = (await parts.store.heads(places))
    .filter((head) => isVisible(head) && head.endUs !== null)
  const kept = await keptBy(parts, { ...rest, tenant, projects }, heads, signal)
  const found = new Map(kept.map((head) => [head.id, head]))
  const matched = ids.flatMap((id): MatchedSpan[] => {
    const head = found.get(id)
    return head === undefined
      ? []
      : [{ id, trace: head.trace, project: head.project, marked: head.terms.includes(mark) }]
  })
  return Buffer.from(JSON.stringify(matched))
}

async function keptBy(parts: ScanParts, question: RunsQuestion, heads: readonly SpanHead[],
  signal?: AbortSignal): Promise<readonly SpanHead[]> {
  try {
    const matched = await matching(heads, spanTest(conditionsOf(question)), parts.payloads, signal)
    const traces = await traceFilter(parts, question, undefined, signal)
    return traces === undefined ? matched : await traces.kept(matched)
  } catch (error) {
    // It was checked when the rule was made; a rule that cannot be read matches nothing.
    if (HeddleError.from(error).code === 'malformed') return []
    throw error
  }
}
