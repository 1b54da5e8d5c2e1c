/** Pages of spans: bounds on the scan for one page, and the place where the next one begins. */

import { HeddleError } from '../../errors.ts'
import type { ScanMark } from '../spans/span-port.ts'
import type { SpanHead } from '../spans/span.ts'
import type { RunsQuestion } from './question.ts'
import { readCursor } from './cursor.ts'
import type { ScanParts } from './matching.ts'
import { listedHeads, wholeTrace } from './named-spans.ts'
import { inOrder } from './payload/order.ts'
import { scanSteps } from './scan.ts'

/** Bounds on the heads and the time of a question. */
export interface Budget {
  /** Heads and time after which a page ends with what it has. */
  readonly heads: number
  readonly ms: number
  /** True if a page ends without a span only after all were looked at. */
  readonly untilOne: boolean
  /** Time after which a question fails. */
  readonly endMs: number
}

/**
 * Bounds of a page. Clients go on after an empty page in the first API, and end there in the
 * second.
 */
function pageBudget(version: 1 | 2): Budget {
  return { heads: 50_000, ms: 2_000, untilOne: version === 2, endMs: 10_000 }
}

/** Some spans, and where to go on. */
export interface Page {
  readonly heads: readonly SpanHead[]
  /** Undefined if there are no more. */
  readonly next: ScanMark | undefined
}

/** Error for a question that looks at too many spans. */
function tooMuch(): HeddleError {
  return new HeddleError('invalid',
    'The filter matches too few of the runs in this time: narrow the time range.')
}

/** Error for a question that counts too many spans. */
export function tooManyToCount(): HeddleError {
  return new HeddleError('invalid',
    'There are too many runs to count in this time: narrow the time range.')
}

/** The page behind the cursor of a question. */
export async function findPage(parts: ScanParts, question: RunsQuestion, signal?: AbortSignal,
  budget: Budget = pageBudget(question.version)): Promise<Page> {
  const after = readCursor(question)
  const listed = await listedHeads(parts, question, signal)
  if (listed !== undefined) return pageOf(listed, question, after)
  const heads: SpanHead[] = []
  let looked = 0
  let mark = after
  const beganMs = parts.env.monotonicMs()
  for await (const step of scanSteps(parts, question, after, signal)) {
    for (const head of step.heads) {
      heads.push(head)
      if (heads.length === question.limit) return { heads, next: head }
    }
    looked += step.looked
    mark = step.mark ?? mark
    const passedMs = parts.env.monotonicMs() - beganMs
    const isOver = looked >= budget.heads || passedMs >= budget.ms
    const mayEnd = heads.length > 0 || (!budget.untilOne && mark !== after)
    if (isOver && mayEnd) return { heads, next: mark }
    if (passedMs >= budget.endMs) throw tooMuch()
  }
  return { heads, next: undefined }
}

/** All matching heads in slices, for statistics. Throws if that takes longer than `endMs`. */
export async function* matchingHeads(parts: ScanParts, question: RunsQuestion, signal?: AbortSignal,
  { endMs }: Pick<Budget, 'endMs'> = pageBudget(2)): AsyncGenerator<readonly SpanHead[], void,
  void> {
  const listed = question.trace === undefined
    ? await listedHeads(parts, question, signal)
    : await wholeTrace(parts, question, signal)
  if (listed !== undefined) return yield listed
  const beganMs = parts.env.monotonicMs()
  for await (const { heads } of scanSteps(parts, question, undefined, signal)) {
    if (heads.length > 0) yield heads
    if (parts.env.monotonicMs() - beganMs >= endMs) throw tooManyToCount()
  }
}

function pageOf(all: readonly SpanHead[], { order, limit }: RunsQuestion,
  after: ScanMark | undefined): Page {
  const heads = all.toSorted((a, b) => inOrder(order, a, b))
    .filter((head) => after === undefined || inOrder(order, after, head) < 0)
  return heads.length > limit
    ? { heads: heads.slice(0, limit), next: heads[limit - 1] }
    : { heads, next: undefined }
}
