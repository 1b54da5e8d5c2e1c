/** Removes traces, projects, and what is older than a time. Heads go first. */

import type { Feedback, Hour, Removal, SpanPlace, Uuid } from '../../../platform/index.ts'
import type { Connection } from '../driver/connection.ts'
import { forEachLimit } from '../driver/for-each-limit.ts'
import type { BlockTable } from './block-table.ts'
import type { BucketTable } from './bucket-table.ts'
import { deleteMarks } from './feedback-marks.ts'
import type { FeedbackTable } from './feedback-table.ts'
import type { FeedbackTokenTable } from './feedback-token-table.ts'
import type { FileTable } from './file-table.ts'
import type { GoneIds } from './gone-ids.ts'
import type { LocationTable } from './location-table.ts'
import { headOf } from './rows/operation-cell.ts'
import { bucketOf, hourOf } from './rows/partition-key.ts'
import type { RollUpTable } from './roll-up-table.ts'
import { positionAt } from './span-table.ts'
import type { BucketRange, SpanTable } from './span-table.ts'
import type { Visibility } from './visibility.ts'
import type { WaitingFeedback } from './waiting-feedback.ts'

/** Tables from which spans are removed. */
export interface RemovalParts {
  readonly connection: Connection
  readonly spans: SpanTable
  readonly buckets: BucketTable
  readonly blocks: BlockTable
  readonly locations: LocationTable
  readonly files: FileTable
  readonly feedback: FeedbackTable
  readonly rollUps: RollUpTable
  readonly waiting: WaitingFeedback
  readonly gone: GoneIds
  readonly tokens: FeedbackTokenTable
  readonly visibility: Visibility
}

/** Spans whose rows are removed at a time. */
const atOnce = 16
const page = 500
/** Later than all spans. */
const never = Number.MAX_SAFE_INTEGER

/**
 * Resolves when no reader finds the removed spans any more and their rows are gone. Rule:
 * [removal_noted].
 */
export async function remove(parts: RemovalParts, tenant: string, what: Removal): Promise<void> {
  switch (what.kind) {
    case 'traces':
      return await removeTraces(parts, tenant, what.traces)
    case 'feedback':
      await parts.gone.note(tenant, what.spans)
      await removeTokens(parts, tenant, what.spans)
      return await removeWaiting(parts, tenant, what.spans)
    case 'older':
      return await removeBefore(parts, tenant, what.project, what.beforeUs)
    case 'project':
      await removeBefore(parts, tenant, what.project, never)
      return await removeProjectFeedback(parts, tenant, what.project)
  }
}

async function removeTraces(parts: RemovalParts, tenant: string,
  traces: readonly SpanPlace[]): Promise<void> {
  await parts.gone.note(tenant, traces.map(({ trace }) => trace))
  for (const [project, places] of Map.groupBy(traces, (place) => place.project)) {
    const ids = places.map(({ trace }) => trace)
    await removeWaiting(parts, tenant, ids, project)
    await parts.buckets.markTraces(tenant, project, ids)
  }
  await forEachLimit(4, traces, async (trace) => {
    const places = await parts.blocks.members(trace)
    await removeSpans(parts, tenant, places, new Set([trace.trace]))
    await parts.blocks.remove(trace)
    await parts.rollUps.touch(places)
  })
}

/**
 * Removes the rows of spans that were written after their removal. The removal may not have read
 * the members of a trace yet, so all spans of a trace without visible spans are removed.
 */
export async function removeLate(parts: RemovalParts, tenant: string,
  late: readonly SpanPlace[]): Promise<void> {
  if (late.length === 0) return
  const traces = new Map(late.map((place) => [`${place.project} ${place.trace}`, place]))
  await forEachLimit(4, traces.values(), async (trace) => {
    const members = await parts.blocks.members(trace)
    if ((await parts.visibility.of(members)).length > 0) return
    await removeSpans(parts, tenant, members)
    await parts.blocks.remove(trace)
    await parts.rollUps.touch(members)
  })
  await removeSpans(parts, tenant, late)
  await parts.rollUps.touch(late)
}

/** Removes tokens for feedback on spans, unless a project has such a span. */
async function removeTokens({ tokens, locations, visibility }: RemovalParts, tenant: string,
  spans: readonly Uuid[]): Promise<void> {
  await forEachLimit(atOnce, spans, async (span) => {
    if (!await tokens.hasSome(tenant, span)) return
    const places = await visibility.of(await locations.find(tenant, [span]))
    if (places.length === 0) await tokens.removeOf(tenant, span)
  })
}

/** Removes feedback that waits for spans. With a project, other projects keep their feedback. */
async function removeWaiting({ waiting, feedback }: RemovalParts, tenant: string,
  spans: readonly Uuid[], project?: Uuid): Promise<void> {
  await forEachLimit(atOnce, (await waiting.for(tenant, spans)).feedback, async (each) => {
    const placed = await feedback.get(tenant, each.id)
    if (project !== undefined && placed && isOfOther(placed.row, project)) return
    if (placed?.place === null) await feedback.remove(placed)
    await waiting.remove(tenant, each)
  })
}

/** Removes feedback of a project, and its marks on spans of other projects. */
async function removeProjectFeedback(parts: RemovalParts, tenant: string,
  project: Uuid): Promise<void> {
  for await (const placed of parts.feedback.inScope(tenant, project)) {
    // First, so that a removal that was cut off finds the feedback again.
    if (placed.place !== null && placed.place.project !== project) await deleteMarks(parts, placed)
    await parts.feedback.remove(placed)
  }
}

/** Removes from the oldest bucket on, so that a removal that was cut short can begin again. */
async function removeBefore(parts: RemovalParts, tenant: string, project: Uuid,
  beforeUs: number): Promise<void> {
  const last = hourOf(beforeUs)
  const hours = () => parts.buckets.hours(tenant, project, 0, Math.min(last + 1, 2 ** 31 - 1))
  if (beforeUs !== never && (await hours()).length === 0) return
  await parts.buckets.markBefore(tenant, project, beforeUs)
  for (const [bucket, all] of Map.groupBy((await hours()).toReversed(), bucketOf)) {
    const range: BucketRange = { tenant, project, bucket, order: 'oldest', from: positionAt(-never),
      to: positionAt(beforeUs) }
    await removeRange(parts, range)
    await parts.rollUps.touch(
      all.map((hour: Hour) => ({ tenant, project, startUs: hour * 3600e6 })),
    )
  }
  await parts.buckets.removeHours(tenant, project, last)
}

async function removeRange(parts: RemovalParts, range: BucketRange): Promise<void> {
  const { tenant, project } = range
  for await (const rows of parts.spans.pages(range, page)) {
    const heads = rows.flatMap((row) => headOf({ tenant, project, row }) ?? [])
    const traces = new Map(heads.map((head) => [head.trace, head]))
    await forEachLimit(atOnce, traces.values(), async (trace) => {
      const last = (await parts.blocks.members(trace)).at(-1)
      // What began later still needs the blocks that it shares.
      if (last === undefined || last.startUs < range.to.startUs) await parts.blocks.remove(trace)
    })
    await removeSpans(parts, tenant, heads)
  }
  await parts.spans.removeRange(range)
}

async function removeSpans(parts: RemovalParts, tenant: string, places: readonly SpanPlace[],
  noted: ReadonlySet<Uuid> = new Set()): Promise<void> {
  // First, so that feedback which comes now is rejected or found below.
  await parts.gone.note(tenant, places.map(({ id }) => id).filter((id) => !noted.has(id)))
  await forEachLimit(atOnce, places, async (place) => {
    await parts.connection.repeatableBatch([parts.spans.removal(place)])
  })
  await forEachLimit(atOnce, places, async (place) => {
    await Promise.all([
      parts.connection.repeatableBatch([parts.locations.removal(place)]),
      parts.files.remove(place),
      removeSpanFeedback(parts, place),
    ])
  })
  await removeTokens(parts, tenant, places.map(({ id }) => id))
}

/** Removes feedback on a span, unless it is on the span of this id in another project. */
async function removeSpanFeedback(parts: RemovalParts,
  { tenant, id, project }: SpanPlace): Promise<void> {
  for await (const placed of parts.feedback.inScope(tenant, id)) {
    if (placed.place === null && isOfOther(placed.row, project)) continue
    if (![undefined, project].includes(placed.place?.project)) continue
    // Feedback of no project that waited for its span has marks in all projects of the span.
    if (placed.place !== null && placed.row.project !== project) await deleteMarks(parts, placed)
    await parts.feedback.remove(placed)
  }
}

/** True if feedback names another project, and waits for a span there. */
function isOfOther({ project: named }: Feedback, project: Uuid): boolean {
  return named !== null && named !== project
}
