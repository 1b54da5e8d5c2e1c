/** The scan of a question: slices of the heads that it matches, in order. */

import type { ScanMark, ScannedHeads } from '../spans/span-port.ts'
import type { SpanHead } from '../spans/span.ts'
import type { RunsQuestion } from './question.ts'
import { conditionsOf } from './conditions.ts'
import { matching } from './matching.ts'
import type { ScanParts } from './matching.ts'
import { planOf } from './plan.ts'
import { spanTest } from './filter/test-span.ts'
import { traceFilter } from './trace-filter.ts'

/** Spans whose payloads are opened at once for a test. */
const openedAtOnce = 16

/** A step of a scan. */
export interface ScanStep {
  /** Heads that meet the question. */
  readonly heads: readonly SpanHead[]
  /** The last head that was looked at; undefined if there was none. */
  readonly mark: ScanMark | undefined
  /** Number of heads that were looked at for this step. */
  readonly looked: number
}

/** Scans for a question. Begins behind `after`. Other work goes on between two steps. */
export async function* scanSteps(parts: ScanParts, question: RunsQuestion, after?: ScanMark,
  signal?: AbortSignal): AsyncGenerator<ScanStep, void, void> {
  if (question.projects.length === 0) return
  const conditions = conditionsOf(question)
  const { tenant, order, projects } = question
  const plan = planOf(conditions, { tenant, order, projects: projects.map(({ id }) => id) }, 0)
  const isVisible = visibility(question, parts.env.nowMs())
  const test = spanTest(conditions)
  const traces = await traceFilter(parts, question, plan, signal)
  const source = await traces?.fewSpans(plan, after) ?? parts.store.scan(plan, after)
  for await (const slice of source) {
    for (const { heads, looked } of divided(slice)) {
      signal?.throwIfAborted()
      const matched = await matching(heads.filter(isVisible), test, parts.payloads, signal)
      yield {
        heads: traces === undefined ? matched : await traces.kept(matched),
        mark: heads.at(-1),
        looked,
      }
    }
    await new Promise((turn) => setImmediate(turn))
  }
}

/** Parts of a slice that are small enough to open all their payloads. */
function* divided({ heads, looked }: ScannedHeads): Iterable<ScannedHeads> {
  if (heads.length === 0) yield { heads, looked }
  for (let at = 0; at < heads.length; at += openedAtOnce) {
    const part = heads.slice(at, at + openedAtOnce)
    yield { heads: part, looked: at === 0 ? looked - heads.length + part.length : part.length }
  }
}

const dayMs = 24 * 3600 * 1000

/** The first arrival that each project still keeps. */
export function firstArrivals({ projects }: Pick<RunsQuestion, 'projects'>,
  nowMs: number): ReadonlyMap<string, number> {
  return new Map(
    projects.map(({ id, retentionDays }) =>
      [id, Math.max(0, Math.ceil((nowMs - retentionDays * dayMs) * 1000))] as const
    ),
  )
}

/** Test for heads: true in a project of the question that still keeps the head. */
export function visibility(question: Pick<RunsQuestion, 'projects'>,
  nowMs: number): (head: SpanHead) => boolean {
  const first = firstArrivals(question, nowMs)
  return ({ project, arrivedUs }) => arrivedUs >= (first.get(project) ?? Infinity)
}
