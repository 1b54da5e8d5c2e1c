/** Search by the specification over plain arrays, the model that every index is compared with. */

import type { AssistantRow, CronRow, ThreadRow } from '../../proto/gen/storage/v1/row.ts'
import { isExpired, readMetadataFilter } from '../../src/search/index.ts'
import type { AssistantFilter, AssistantQuery, AssistantSort, CronFilter, CronQuery, CronSort,
  MetadataFilter, ThreadFilter, ThreadQuery, ThreadSort } from '../../src/search/index.ts'

/** Filters of logins as these tests have them, and a value with each meaning. */
export const filters: readonly (MetadataFilter | undefined)[] = [undefined, undefined, undefined,
  ...[{ x: 1 }, { x: 1, y: 'a' }, { x: null }, { x: { $contains: 1 } }, { $or: [] }, {
    $or: [{ x: 1 }, { y: 'a' }],
  }, { $or: [{ x: '1' }, { y: { $contains: [1, 'a'] } }] }, {
    $and: [{ $or: [{ x: 1 }, { y: 1 }] }, { $or: [{ z: true }, { y: 'a' }] }],
  }, { third: 1 }, { user: 7, half: 'old' }, { $or: [{ user: 7 }, { third: 2, half: 'new' }] }, {
    tags: { $contains: 't7' },
  }, { $or: [{ user: 7 }, { tags: { $contains: ['t8'] } }] }].map((
    each,
  ) => readMetadataFilter(each))]

/** What the login lets a caller see, by the specification. */
export function isSeen(filter: MetadataFilter | undefined, metadataJson: string): boolean {
  const metadata = JSON.parse(metadataJson) as Record<string, unknown>
  const sees = (each: MetadataFilter): boolean => {
    if ('of' in each) return each.kind === 'all' ? each.of.every(sees) : each.of.some(sees)
    const value = metadata[each.key]
    if (each.kind === 'equals') return value === each.value
    return Array.isArray(value) && each.values.every((one) => value.includes(one))
  }
  return filter === undefined || sees(filter)
}

/** Containment as in `jsonb @>`. */
function within(part: unknown, whole: unknown): boolean {
  if (Array.isArray(part)) {
    return Array.isArray(whole) && part.every((each) => whole.some((one) => within(each, one)))
  }
  if (typeof part === 'object' && part !== null) {
    return typeof whole === 'object' && whole !== null && !Array.isArray(whole) &&
      Object.entries(part).every(([key, value]) =>
        Object.hasOwn(whole, key) && within(value, (whole as Record<string, unknown>)[key])
      )
  }
  return part === whole
}

export function matchingThreads(rows: readonly ThreadRow[], filter: ThreadFilter): ThreadRow[] {
  return rows.filter((row) =>
    row.tenant === filter.tenant && row.hidden === (filter.hidden ?? false) &&
    !(filter.expiredBy !== undefined && filter.hidden !== true &&
      isExpired(row, row.unfinished.length > 0, filter.expiredBy)) &&
    (filter.status === undefined || row.status === filter.status) &&
    (filter.words === undefined || filter.words.every((word) => hasWord(row, word))) &&
    (filter.updatedAfterMs === undefined || row.updatedAtMs > filter.updatedAfterMs) &&
    (filter.updatedBeforeMs === undefined || row.updatedAtMs < filter.updatedBeforeMs) &&
    (filter.ids === undefined || filter.ids.includes(row.threadId)) &&
    isSeen(filter.allowed, row.metadataJson) &&
    within(filter.metadata ?? {}, JSON.parse(row.metadataJson))
  )
}

/** Titles and openings of these tests have small Latin letters and spaces only. */
function hasWord({ metadataJson, opening = '', threadId }: ThreadRow, word: string): boolean {
  const { title = '' } = JSON.parse(metadataJson) as { readonly title?: string }
  return `${title} ${opening}`.split(' ').some((each) => each.startsWith(word))
    || (word.length >= 4 && threadId.replaceAll('-', '').startsWith(word))
}

const threadColumn: Record<ThreadSort, (row: ThreadRow) => string | number> = {
  thread_id: (row) => row.threadId,
  status: (row) => row.status,
  created_at: (row) => row.createdAtMs,
  updated_at: (row) => row.updatedAtMs,
  state_updated_at: (row) => row.stateUpdatedAtMs,
}

export function pageOfThreads(rows: readonly ThreadRow[], query: ThreadQuery): ThreadRow[] {
  const column = threadColumn[query.sortBy]
  return page(matchingThreads(rows, query), query, (row) => [column(row), row.threadId],
    query.after && [query.after.value, query.after.id])
}

export function matchingAssistants(rows: readonly AssistantRow[],
  filter: AssistantFilter): AssistantRow[] {
  return rows.filter((row) =>
    row.tenant === filter.tenant &&
    (filter.graphId === undefined || row.graphId === filter.graphId) &&
    (filter.name === undefined || row.name.toLowerCase().includes(filter.name.toLowerCase())) &&
    isSeen(filter.allowed, row.metadataJson) &&
    within(filter.metadata ?? {}, JSON.parse(row.metadataJson))
  )
}

const assistantColumn: Record<AssistantSort, (row: AssistantRow) => string | number> = {
  assistant_id: (row) => row.assistantId,
  graph_id: (row) => row.graphId,
  name: (row) => row.name,
  created_at: (row) => row.createdAtMs,
  updated_at: (row) => row.updatedAtMs,
}

export function pageOfAssistants(rows: readonly AssistantRow[],
  query: AssistantQuery): AssistantRow[] {
  const column = assistantColumn[query.sortBy]
  return page(matchingAssistants(rows, query), query, (row) => [column(row), row.assistantId])
}

export function matchingCrons(rows: readonly CronRow[], filter: CronFilter): CronRow[] {
  return rows.filter((row) =>
    row.tenant === filter.tenant &&
    (filter.assistantId === undefined || row.assistantId === filter.assistantId) &&
    (filter.threadId === undefined || row.threadId === filter.threadId) &&
    (filter.enabled === undefined || row.enabled === filter.enabled) &&
    isSeen(filter.allowed, row.metadataJson) &&
    within(filter.metadata ?? {}, JSON.parse(row.metadataJson))
  )
}

const cronColumn: Record<CronSort, (row: CronRow) => string | number> = {
  cron_id: (row) => row.cronId,
  assistant_id: (row) => row.assistantId,
  thread_id: (row) => row.threadId,
  next_run_date: (row) => row.nextMs,
  end_time: (row) => row.endTimeMs,
  created_at: (row) => row.createdAtMs,
  updated_at: (row) => row.updatedAtMs,
}

export function pageOfCrons(rows: readonly CronRow[], query: CronQuery): CronRow[] {
  const column = cronColumn[query.sortBy]
  return page(matchingCrons(rows, query), query, (row) => [column(row), row.cronId])
}

interface Page {
  readonly sortOrder: 'asc' | 'desc'
  readonly limit: number
  readonly offset: number
}

/** Equal rows are sorted by id, in the same direction: no row is on two pages, none on no page. */
function page<Row>(rows: readonly Row[], { sortOrder, limit, offset }: Page,
  keyOf: (row: Row) => Key, after?: Key): Row[] {
  const sorted = rows.toSorted((a, b) => compare(keyOf(a), keyOf(b)))
  if (sortOrder === 'desc') sorted.reverse()
  const sign = sortOrder === 'desc' ? -1 : 1
  const behind = after ? sorted.filter((row) => sign * compare(keyOf(row), after) > 0) : sorted
  return behind.slice(offset, offset + limit)
}

type Key = readonly [string | number, string]

function compare([a1, a2]: Key, [b1, b2]: Key): number {
  return a1 < b1 ? -1 : a1 > b1 ? 1 : a2 < b2 ? -1 : a2 > b2 ? 1 : 0
}
