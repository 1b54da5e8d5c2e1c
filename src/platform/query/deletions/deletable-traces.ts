/** Finds traces that a deletion removes, some at a time. Runs in the query thread. */

import { clocksApartMs } from '../../../limits/index.ts'
import type { ScanMark } from '../../spans/span-port.ts'
import type { SpanHead, SpanPlace } from '../../spans/span.ts'
import { conditionsOf, optionalFilter } from '../conditions.ts'
import type { ScanParts } from '../matching.ts'
import type { RunsQuestion } from '../question.ts'
import { scanSteps } from '../scan.ts'

/** A question for runs whose traces are deleted. */
export interface DeletableQuestion extends RunsQuestion {
  /**
   * Runs that arrived at this time or later are left out, unless that time is still to come: such a
   * run was written under a clock that was ahead.
   */
  readonly arrivedBeforeUs: number
  readonly after: ScanMark | null
}

/** Traces that go, and what was looked at for them. */
export interface DeletableSlice {
  readonly traces: readonly SpanPlace[]
  readonly looked: number
  readonly matched: number
  /** Null if these were the last. */
  readonly after: ScanMark | null
}

/** Reads of what deletions remove. */
export interface DeletionReads {
  /** Throws `malformed` for a filter that nobody can read, even if no project is named. */
  deletable(question: DeletableQuestion): Promise<DeletableSlice>
}

/** Runs that are looked at for a slice, and milliseconds after which it ends with what it has. */
const [lookedMax, sliceMs] = [2_000, 250]

/** The traces behind the mark of a question, as many as its limit says or a few more. */
export async function deletableTraces(parts: ScanParts, question: DeletableQuestion,
  signal?: AbortSignal): Promise<DeletableSlice> {
  requireReadable(question)
  const { after, limit } = question
  const isEarlier = arrivalTest(question, parts.env.nowMs())
  const traces = new Map<string, SpanPlace>()
  const beganMs = parts.env.monotonicMs()
  let [looked, matched, mark] = [0, 0, after]
  const slice = (end: ScanMark | null) => ({ traces: [...traces.values()], looked, matched,
    after: end && { startUs: end.startUs, id: end.id } })
  for await (const step of scanSteps(parts, question, after ?? undefined, signal)) {
    looked += step.looked
    for (const head of step.heads.filter(isEarlier)) {
      matched += 1
      const { tenant, project, startUs, id, trace, traceStartUs } = head
      traces.set(`${project} ${trace}`, { tenant, project, startUs, id, trace, traceStartUs })
    }
    mark = step.mark ?? mark
    const isOver = traces.size >= limit || looked >= lookedMax ||
      parts.env.monotonicMs() - beganMs >= sliceMs
    // The next slice begins behind something that this one has seen.
    if (isOver && mark !== after) return slice(mark)
  }
  return slice(null)
}

/** Returns a test for runs that arrived before the deletion was requested. */
function arrivalTest({ arrivedBeforeUs }: DeletableQuestion,
  nowMs: number): (head: Pick<SpanHead, 'arrivedUs'>) => boolean {
  const futureUs = Math.max(arrivedBeforeUs, (nowMs + clocksApartMs) * 1_000)
  return ({ arrivedUs }) => arrivedUs < arrivedBeforeUs || arrivedUs > futureUs
}

function requireReadable(question: RunsQuestion): void {
  conditionsOf(question)
  for (const filter of [question.traceFilter, question.treeFilter]) optionalFilter(filter)
}
