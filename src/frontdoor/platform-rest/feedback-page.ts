/** Pages of feedback. Rows may be long, so few are in memory at once. */

import { HeddleError } from '../../errors.ts'
import { sourceOf } from '../../platform/index.ts'
import type { Feedback, FeedbackQuery, Platform, Uuid } from '../../platform/index.ts'

/** Page that is asked for: filters of feedback, an offset, and a limit. */
export interface FeedbackPageQuery {
  readonly tenant: string
  readonly spans?: readonly Uuid[]
  readonly keys?: readonly string[]
  /** Empty for all. */
  readonly projects: readonly Uuid[]
  /** Sources from which the feedback came; all by default. */
  readonly sources?: readonly string[]
  readonly offset: number
  readonly limit: number
}

type Query = Pick<Platform['query'], 'listFeedback'>
type Rows = AsyncGenerator<Feedback, void, void>

/** Rows that are looked at for a page which the store cannot find by itself. */
const lookedMax = 2_000
/** Rows that are read at once of each list. */
const readAtOnce = 20

/** A page, newest first. Throws `invalid` for one that begins too far behind. */
export async function feedbackPage(query: Query, asked: FeedbackPageQuery): Promise<
  readonly Feedback[]
> {
  const { tenant, spans, keys, projects, sources, offset, limit } = asked
  const filter = { tenant, ...spans && { spans }, ...keys && { keys } }
  const [only] = projects
  if (projects.length <= 1 && sources === undefined) {
    return query.listFeedback({ ...filter, ...only !== undefined && { project: only }, offset,
      limit })
  }
  if (projects.length > 1 && offset + limit > lookedMax) {
    throw new HeddleError('invalid', 'offset: ask for one session.')
  }
  const lists = projects.length === 0
    ? [rowsOf(query, filter)]
    : projects.map((project) => rowsOf(query, { ...filter, project }))
  const found: Feedback[] = []
  let [looked, matched] = [0, 0]
  for await (const row of newestFirst(lists)) {
    if (looked++ === lookedMax) break
    if (sources !== undefined && !sources.includes(sourceOf(row) ?? '')) continue
    if (matched++ >= offset) found.push(row)
    if (found.length === limit) break
  }
  return found
}

async function* rowsOf(query: Query, filter: Omit<FeedbackQuery, 'limit' | 'offset'>): Rows {
  for (let offset = 0;; offset += readAtOnce) {
    const rows = await query.listFeedback({ ...filter, offset, limit: readAtOnce })
    yield* rows
    if (rows.length < readAtOnce) return
  }
}

/** Merges lists, each of which has its newest row first. */
async function* newestFirst(lists: readonly Rows[]): Rows {
  const heads = await Promise.all(lists.map(async (list) => ({ list, next: await list.next() })))
  for (;;) {
    let newest: (typeof heads)[number] | undefined
    for (const head of heads) {
      if (!head.next.done && createdIn(head) > createdIn(newest)) newest = head
    }
    if (newest === undefined) return
    yield newest.next.value as Feedback
    newest.next = await newest.list.next()
  }
}

function createdIn(head: { readonly next: IteratorResult<Feedback, void> } | undefined): number {
  return head === undefined || head.next.done ? -Infinity : head.next.value.createdUs
}
