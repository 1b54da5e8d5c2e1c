/** Searches the runs of a tenant. Those that are unfinished are read from their owners. */

import { limitConcurrency } from '../../../cluster/index.ts'
import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { SearchRuns } from '../../api/index.ts'
import { ignoreNotFound } from '../../errors.ts'
import type { ReadQuota } from '../../limits/index.ts'
import { isMeant, pageBytes } from '../../search/index.ts'
import type { MetadataFilter, RunPlace, RunSearch, RunSearchQuery, RunStatus,
  RunText } from '../../search/index.ts'
import type { ThreadClient } from '../../thread/index.ts'
import { cursorParts, cursorText } from '../schema/cursor.ts'
import { invalid } from '../schema/validation.ts'
import { timeIn } from './thread-filter.ts'

/** Parts that a search of runs uses: the index, the owners, and memory. */
export interface RunSearchParts {
  readonly runIndex: RunSearch
  readonly threads: Pick<ThreadClient, 'getRun' | 'listRuns'>
  readonly reads: ReadQuota
}

/** A page of runs, and where the next one begins. */
export interface FoundRunPage {
  readonly rows: readonly RunRow[]
  readonly cursor?: string
}

/** Owners that are asked at once. */
const ownersAtOnce = 16
/** Tries for a run that changes meanwhile. */
const triesMax = 3
/** Unfinished runs of a thread that are looked through. */
const listedMax = 1_000

/**
 * Searches runs. A page may be short while it has a cursor. `allowed`: only runs of threads that
 * the caller may see. `texts` are the long fields that are wanted, instead of those that the
 * request selects.
 */
export async function searchRuns({ runIndex, threads, reads }: RunSearchParts, tenant: string,
  request: SearchRuns, cancelled?: AbortSignal, allowed?: MetadataFilter,
  texts?: readonly RunText[]): Promise<FoundRunPage> {
  const query = { ...queryOf(tenant, request), allowed, ...texts && { texts } }
  const { rows, next } = await reads.read({ tenant, bytes: pageBytes, cancelled },
    ({ left: bytes }) => runIndex.search({ ...query, bytes }, cancelled))
  const inTurn = limitConcurrency(ownersAtOnce)
  const owners = new UnfinishedRuns(threads, query, cancelled)
  const sure = await Promise.all(
    rows.map((row) => isUnfinished(row) ? inTurn(() => owners.find(row)) : row),
  )
  return { rows: sure.filter((row) => row !== undefined), ...next && { cursor: cursorOf(next) } }
}

/** Windows around the time in an id in which its run was created: clocks and queues differ. */
const windowsMs = [[1_000, 10_000], [300_000, 3_600_000]] as const

/**
 * The thread of a run that is known by its id alone; undefined if there is none. The id has to have
 * the time in it, as those have that this server makes.
 */
export async function threadOfRun({ runIndex, reads }: RunSearchParts, tenant: string,
  runId: string): Promise<string | undefined> {
  const atMs = timeOfId(runId)
  if (atMs === undefined) return undefined
  for (const [beforeMs, afterMs] of windowsMs) {
    const query = { tenant, runId, limit: 1, texts: [], createdAfterMs: atMs - beforeMs,
      createdBeforeMs: atMs + afterMs }
    const { rows: [found] } = await reads.read({ tenant, bytes: pageBytes }, ({ left: bytes }) =>
      runIndex.search({ ...query, bytes }))
    if (found !== undefined) return found.threadId
  }
  return undefined
}

/** Milliseconds in a UUID of version 7; undefined for any other id. */
function timeOfId(id: string): number | undefined {
  const [, high, low] = /^([0-9a-f]{8})-([0-9a-f]{4})-7/.exec(id) ?? []
  return high === undefined ? undefined : Number.parseInt(high + low!, 16)
}

/** Unfinished runs as their threads know them, for one search. */
class UnfinishedRuns {
  readonly #threads: RunSearchParts['threads']
  readonly #query: RunSearchQuery
  readonly #cancelled: AbortSignal | undefined
  /** By thread and status: its runs. */
  readonly #lists = new Map<string, Promise<readonly RunRow[]>>()

  constructor(threads: RunSearchParts['threads'], query: RunSearchQuery,
    cancelled: AbortSignal | undefined) {
    this.#threads = threads
    this.#query = query
    this.#cancelled = cancelled
  }

  /**
   * Undefined if the run does not match by now, or if an earlier owner left its row and
   * acknowledged nothing: such a run is in no list of its thread.
   */
  async find(row: RunRow): Promise<RunRow | undefined> {
    const { tenant, threadId, runId } = row
    for (let [run, tries] = [row, 0]; tries < triesMax; tries++) {
      const listed = (await this.#list(run, tries)).find((each) => each.runId === runId)
      if (listed) return listed
      // It has gone on, or it never was. This reads all of it, and is needed seldom.
      const now = await this.#threads.getRun(tenant, threadId, runId).catch(ignoreNotFound)
      if (!now || !isMeant(this.#query, now)) return undefined
      if (!isUnfinished(now)) return withoutKwargs(now, this.#query)
      run = now
    }
    return undefined
  }

  #list({ tenant, threadId, status }: RunRow, tries: number): Promise<readonly RunRow[]> {
    const key = `${threadId} ${status} ${tries}`
    const list = this.#lists.get(key) ??
      this.#threads.listRuns({ tenant, threadId, status: status as RunStatus, limit: listedMax,
        offset: 0, texts: this.#query.texts ?? [] }, this.#cancelled).catch(ignoreNotFound).then((
          runs,
        ) => runs ?? [])
    this.#lists.set(key, list)
    return list
  }
}

function withoutKwargs(run: RunRow, { texts = [] }: RunSearchQuery): RunRow {
  return texts.includes('kwargsJson') ? run : { ...run, kwargsJson: '' }
}

function isUnfinished({ status }: RunRow): boolean {
  return status === 'pending' || status === 'running'
}

function queryOf(tenant: string, request: SearchRuns): RunSearchQuery {
  const { status, graph_id, assistant_id, thread_id, created_after, created_before, limit, cursor,
    select } = request
  return {
    tenant,
    limit: limit ?? 100,
    texts: textsOf(select),
    ...status != null && { status },
    ...graph_id != null && { graphId: graph_id },
    ...assistant_id != null && { assistantId: assistant_id },
    ...thread_id != null && { threadId: thread_id },
    ...created_after != null && { createdAfterMs: timeIn('created_after', created_after) },
    ...created_before != null && { createdBeforeMs: timeIn('created_before', created_before) },
    ...cursor != null && { after: placeIn(cursor) },
  }
}

/** The plan names the graph. */
function textsOf(select: SearchRuns['select']): RunText[] {
  const asked: readonly string[] = select ?? ['metadata', 'graph_id']
  const texts = [['metadata', 'metadataJson'], ['kwargs', 'kwargsJson'], ['graph_id', 'planJson']]
  return texts.filter(([name]) => asked.includes(name!)).map(([, text]) => text as RunText)
}

function cursorOf({ createdAtMs, runId }: RunPlace): string {
  return cursorText([createdAtMs, runId])
}

function placeIn(cursor: string): RunPlace {
  const [createdAtMs, runId] = cursorParts(cursor)
  if (Number.isSafeInteger(createdAtMs) && typeof runId === 'string')
    return { createdAtMs: createdAtMs as number, runId }
  throw invalid([{ field: 'cursor', message: 'is not one of a search of runs' }])
}
