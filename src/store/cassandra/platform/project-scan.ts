/** Reads the heads of one project in their order: as they come, or by a term. */

import { uuidOfBytes } from '../../../platform/index.ts'
import type { Plan, ScanMark, ScannedHeads, SpanHead, Term, Uuid } from '../../../platform/index.ts'
import type { Row } from '../driver/connection.ts'
import type { BucketTable, Removals } from './bucket-table.ts'
import { headOf } from './rows/operation-cell.ts'
import { bucketOf, hourOf } from './rows/partition-key.ts'
import { positionAt, positionOf, rootTerm } from './span-table.ts'
import type { BucketRange, Position, SpanTable } from './span-table.ts'
import type { Visibility } from './visibility.ts'

/** Heads of the first slice, and of those that follow. */
const [firstSlice, nextSlice] = [100, 500]
/** Buckets that are read at the same time: it begins with one, or with some, and doubles. */
const [someBuckets, bucketsMax] = [8, 16]
/** A term that at most one head in so many has is asked of the index. */
const rarerThan = 4
/** Heads of a bucket with a term that are read newest first to answer them oldest first. */
const reversedMax = 2_000
/** Times that a column can hold and that are exact here. */
const [earliestUs, latestUs] = [-8e15, 8e15]

/** Tables that a scan reads. */
export interface ScanParts {
  readonly spans: SpanTable
  readonly buckets: BucketTable
  readonly visibility: Visibility
}

/** Part of a project that is read: all between two positions. */
interface ProjectRange extends Omit<BucketRange, 'bucket'> {
  /** In the order of the scan. */
  readonly buckets: readonly number[]
  readonly removals: Removals
}

/** A slice of rows of a partition. */
type Rows = readonly Row[]

/** Slices of the heads of a project. Removed ones are left out. */
export async function* scanProject({ spans, buckets, visibility }: ScanParts, plan: Plan,
  project: Uuid, after?: ScanMark): AsyncGenerator<ScannedHeads, void, void> {
  const range = await rangeOf(buckets, plan, project, after)
  const wanted = plan.terms[0] ?? (plan.rootsOnly ? rootTerm : undefined)
  const hasIt = (head: SpanHead) =>
    plan.terms.length > 0
      ? head.terms.includes(wanted!)
      : head.root === true
  const seen = async (rows: Rows): Promise<ScannedHeads> => {
    const heads = rows.flatMap((row) => headOf({ tenant: plan.tenant, project, row }) ?? [])
    return { heads: await visibility.inProject(heads, range.removals), looked: rows.length }
  }
  let [looked, having] = [0, 0]
  let rest: ProjectRange | undefined
  for await (const rows of plainRows(spans, range)) {
    const slice = await seen(rows)
    yield slice
    looked += slice.looked
    having += slice.heads.filter(hasIt).length
    if (wanted === undefined || having * rarerThan > looked) continue
    rest = restAfter(range, markOf(rows.at(-1)!))
    break
  }
  if (rest === undefined) return
  const width = having === 0 ? someBuckets : 1
  for await (const rows of rowsWith(spans, wanted!, rest, width)) yield await seen(rows)
}

/** Rows as they come. */
async function* plainRows(spans: SpanTable, range: ProjectRange): AsyncGenerator<Rows, void, void> {
  yield* growing((size) =>
    oneAfterTheOther(range.buckets, 1, (bucket) => spans.pages({ ...range, bucket }, size))
  )
}

/** Rows that have a term. */
async function* rowsWith(spans: SpanTable, term: Term, range: ProjectRange,
  width: number): AsyncGenerator<Rows, void, void> {
  yield* growing((size) =>
    oneAfterTheOther(range.buckets, width, (bucket) =>
      range.order === 'newest'
        ? spans.pages({ ...range, bucket }, size, term)
        : oldestWith(spans, term, { ...range, bucket }))
  )
}

/** Rows whose first page is small, because most questions end with it. */
async function* growing(
  read: (size: () => number) => AsyncGenerator<Rows, void, void>,
): AsyncGenerator<Rows, void, void> {
  let size = firstSlice
  for await (const rows of read(() => size)) {
    if (rows.length >= size) size = nextSlice
    yield rows
  }
}

/** Rows of a bucket that have a term, oldest first, or all of its rows if many have the term. */
async function* oldestWith(spans: SpanTable, term: Term,
  range: BucketRange): AsyncGenerator<Rows, void, void> {
  const newest: Row[] = []
  for await (const rows of spans.pages(range, nextSlice, term)) {
    newest.push(...rows)
    if (newest.length > reversedMax) return yield* spans.pages(range, nextSlice)
  }
  const oldest = newest.toReversed()
  for (let at = 0; at < oldest.length; at += nextSlice) yield oldest.slice(at, at + nextSlice)
}

/** Rows of buckets, in the order of the buckets. The first pages of some are asked for ahead. */
async function* oneAfterTheOther(buckets: readonly number[], firstWidth: number,
  read: (bucket: number) => AsyncIterator<Rows>): AsyncGenerator<Rows, void, void> {
  let width = firstWidth
  for (let at = 0; at < buckets.length; at += width, width = Math.min(bucketsMax, width * 2)) {
    const started = buckets.slice(at, at + width).map((bucket) => {
      const pages = read(bucket)
      const first = pages.next()
      // Who ends early does not ask how this ended.
      first.catch(() => undefined)
      return { pages, first }
    })
    for (const { pages, first } of started) {
      for (let page = await first; !page.done; page = await pages.next()) {
        if (page.value.length > 0) yield page.value
      }
    }
  }
}

/** Range of a project that a plan asks for, by the hours of the project that have spans. */
async function rangeOf(table: BucketTable, plan: Plan, project: Uuid,
  after: ScanMark | undefined): Promise<ProjectRange> {
  const { tenant, order } = plan
  const [low, high] = [Math.ceil(Math.max(plan.fromUs, earliestUs)),
    Math.ceil(Math.min(plan.toUs, latestUs))]
  const [removals, hours] = await Promise.all([table.removals(tenant, project),
    table.hours(tenant, project, hourOf(low), hourOf(high) + 1)])
  const newest = [...new Set(hours.map(bucketOf))]
  const range: ProjectRange = { tenant, project, order, removals,
    from: positionAt(Math.max(low, removals.beforeUs)), to: positionAt(high),
    buckets: order === 'newest' ? newest : newest.toReversed() }
  return after === undefined ? range : restAfter(range, after)
}

/** Rest of a range after a head. */
function restAfter(range: ProjectRange, mark: ScanMark): ProjectRange {
  const rest = range.order === 'newest'
    ? { ...range, to: earlier(range.to, positionOf(mark, 'at')) }
    : { ...range, from: later(range.from, positionOf(mark, 'after')) }
  return { ...rest, buckets: range.buckets.filter((bucket) => isIn(rest, bucket)) }
}

function isIn({ from, to }: Omit<ProjectRange, 'buckets'>, bucket: number): boolean {
  return bucket >= bucketOf(hourOf(from.startUs)) && bucket <= bucketOf(hourOf(to.startUs))
}

function earlier(a: Position, b: Position): Position {
  return comparePositions(a, b) < 0 ? a : b
}

function later(a: Position, b: Position): Position {
  return comparePositions(a, b) < 0 ? b : a
}

function comparePositions(a: Position, b: Position): number {
  return a.startUs - b.startUs || Buffer.compare(a.id, b.id)
}

function markOf(row: Row): ScanMark {
  return { startUs: Number(row['start_us']), id: uuidOfBytes(row['span_id']) }
}
