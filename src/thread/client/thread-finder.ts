/** Searches threads: rows from the index, with the values of each from its owner. */

import { limitConcurrency, readAhead } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import type { ThreadRow } from '../../../proto/gen/storage/v1/row.ts'
import { CodedError, HeddleError, ignoreNotFound } from '../../errors.ts'
import { contains } from '../../json/index.ts'
import type { LongJson } from '../../json/index.ts'
import type { ReadQuota, ReadShare } from '../../limits/index.ts'
import { pageBytes, placeOfThread } from '../../search/index.ts'
import type { ThreadFilter, ThreadPlace, ThreadQuery, ThreadSearch } from '../../search/index.ts'
import type { ThreadView, ValuesFilter } from '../model/thread-client.ts'
import type { ThreadCalls } from './thread-calls.ts'

/** A filter on values reads the state of every candidate: this many at the most. */
const candidatesMax = 1_000
/**
 * States that a search reads at the same time: at first for a filter, at first for a page that
 * shows them (all of a small one), and while they are short.
 */
const [fewStates, pageStates, manyStates] = [4, 10, 16]
/** Characters read at the same time, if all states are as long as the longest so far. */
const togetherMax = 4 * 1024 * 1024
/** A state longer than this takes a turn of the event loop of its own. */
const turnState = 64 * 1024
/** A state that takes more bytes is not read together with others. */
const longState = 1024 * 1024

type Finder<Found> = (view: ThreadView) => Found | Promise<Found>

/** Without a reader, everything is parsed at once. */
const atOnce: Pick<LongJson, 'contains'> = {
  contains: async (_tenant, text, part) => contains(JSON.parse(text), part),
}

/** Ports and quotas of a search. */
export interface ThreadFinderParts {
  readonly calls: ThreadCalls
  readonly threads: ThreadSearch
  readonly reads: ReadQuota
  readonly env: Pick<Env, 'nowMs'>
  /** Reads long states beside the main thread. */
  readonly json?: Pick<LongJson, 'contains'>
}

/** Searches and counts threads. */
export class ThreadFinder {
  readonly #parts: Required<ThreadFinderParts>

  constructor(parts: ThreadFinderParts) {
    this.#parts = { json: atOnce, ...parts }
  }

  /** A page of threads, each as `found` makes it. */
  async search<Found>(query: ThreadQuery & ValuesFilter, found: Finder<Found>,
    cancelled?: AbortSignal) {
    const { values, withoutValues = false, ...plain } = query
    if (values) return this.#searchValues(plain, values, found, cancelled)
    const { rows, total, next } = await pageOfRows((page) => this.#rows(page, cancelled), plain)
    using _ = shareOf(this.#parts.reads, query.tenant, rows)
    const kept: Found[] = []
    if (withoutValues) { for (const row of rows) kept.push(await found({ row, values: '{}' })) }
    else for await (const view of this.#viewsOf(rows, pageStates, cancelled))
        kept.push(await found(view))
    return { threads: kept, total, next }
  }

  /** The number of threads that match. */
  async count(filter: ThreadFilter & ValuesFilter, cancelled?: AbortSignal): Promise<number> {
    const { threads, env } = this.#parts
    const { values, withoutValues: _, ...plain } = filter
    if (!values) return threads.count({ ...plain, expiredBy: env.nowMs() }, cancelled)
    const order = { sortBy: 'created_at', sortOrder: 'desc' } as const
    const query = { ...plain, ...order, limit: 0, offset: 0 }
    return (await this.#searchValues(query, values, () => {}, cancelled)).total
  }

  async #searchValues<Found>(query: ThreadQuery, wanted: Readonly<Record<string, unknown>>,
    found: Finder<Found>, cancelled?: AbortSignal) {
    const { offset, limit } = query
    const candidates = await this.#rows({ ...query, offset: 0, limit: candidatesMax }, cancelled)
    if (candidates.total > candidatesMax) {
      throw new HeddleError('invalid', 'A filter on values looks into each thread: narrow it to ' +
        `${candidatesMax} threads at most by metadata, status or ids (${candidates.total} match).`)
    }
    using _ = shareOf(this.#parts.reads, query.tenant, candidates.rows)
    const kept: Found[] = []
    let total = 0
    for await (const view of this.#viewsOf(candidates.rows, fewStates, cancelled)) {
      if (!await this.#parts.json.contains(query.tenant, view.values, wanted)) continue
      if (total >= offset && kept.length < limit) kept.push(await found(view))
      total++
    }
    return { threads: kept, total }
  }

  /** Rows, in as much memory as they take. */
  #rows(query: ThreadQuery, cancelled?: AbortSignal) {
    const { reads, threads, env } = this.#parts
    return reads.read({ tenant: query.tenant, bytes: pageBytes, cancelled },
      ({ left: bytes }) => threads.search({ ...query, bytes, expiredBy: env.nowMs() }, cancelled))
  }

  /**
   * Undefined for a thread that was deleted after it was found. Long states are read one by one, in
   * the turn of the tenant.
   */
  #viewReader(turn: () => Promise<unknown>,
    cancelled?: AbortSignal): (row: ThreadRow) => Promise<ThreadView | undefined> {
    const alone = limitConcurrency(1)
    const view = (row: ThreadRow, most?: number) =>
      this.#parts.calls.read<ThreadView>(row.tenant, row.threadId, { type: 'get',
        ...most !== undefined && { most } }, cancelled)
    const longView = (row: ThreadRow) =>
      alone(async () => {
        await turn()
        return view(row)
      })
    return (row: ThreadRow) =>
      view(row, longState)
        .catch((error: unknown) => isTooLarge(error) ? longView(row) : Promise.reject(error))
        .catch(ignoreNotFound)
  }

  /** Reads fewer at a time if they are long, so that other requests get their turn. */
  async *#viewsOf(rows: readonly ThreadRow[], atFirst: number,
    cancelled?: AbortSignal): AsyncGenerator<ThreadView, void, void> {
    let [together, longest, characters] = [atFirst, 1, 0]
    let turn: Promise<() => void> | undefined
    const inTurn = () => turn ??= this.#parts.reads.turn(rows[0]!.tenant, cancelled)
    using _ = { [Symbol.dispose]: () => void turn?.then((leave) => leave(), () => {}) }
    for await (const view of readAhead(() => together, rows, this.#viewReader(inTurn, cancelled))) {
      cancelled?.throwIfAborted()
      if (!view) continue
      const { length } = view.values
      characters += length
      if (characters > longState) await inTurn()
      longest = Math.max(longest, length)
      together = Math.min(manyStates, Math.max(1, Math.floor(togetherMax / longest)))
      if (length > turnState) await new Promise((nextTurn) => setImmediate(nextTurn))
      yield view
    }
  }
}

/** Accounts for the rows that were found: they are kept while their states are read. */
function shareOf(reads: ReadQuota, tenant: string, rows: readonly ThreadRow[]): ReadShare {
  const share = reads.share(tenant)
  try {
    for (const { metadataJson, configJson } of rows) share.take(metadataJson, configJson)
  } catch (error) {
    share[Symbol.dispose]()
    throw error
  }
  return share
}

function isTooLarge(error: unknown): boolean {
  return error instanceof CodedError && error.code === 'too_large'
}

/** Rows, the number of all that match, and the place of the last row if there are more. */
interface RowPage {
  readonly rows: ThreadRow[]
  readonly total: number
  readonly next: ThreadPlace | undefined
}

/** Reads a page. After a place, it reads one row more, because the total counts from the start. */
async function pageOfRows(
  read: (query: ThreadQuery) => Promise<Omit<RowPage, 'next'>>,
  query: ThreadQuery,
): Promise<RowPage> {
  const { after, limit, offset, sortBy } = query
  const { rows: found, total } = await read(after ? { ...query, limit: limit + 1 } : query)
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  const isMore = after ? found.length > limit : offset + rows.length < total
  return { rows, total, next: last && isMore ? placeOfThread(last, sortBy) : undefined }
}
