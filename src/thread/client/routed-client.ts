/** The client of threads: each call becomes a command, which the router brings to its thread. */

import { limitConcurrency, readAhead } from '../../../cluster/index.ts'
import type { ActorKey, Env, Router } from '../../../cluster/index.ts'
import type { RunRow, ThreadRow } from '../../../proto/gen/storage/v1/row.ts'
import { ignoreDeletedByThis } from '../../assistants/index.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import type { LoggedLines } from '../../graph/index.ts'
import { asUnread, CodedError, HeddleError, ignoreNotFound } from '../../errors.ts'
import { contains } from '../../json/index.ts'
import type { LongJson } from '../../json/index.ts'
import type { ReadQuota, ReadShare } from '../../limits/index.ts'
import { pageBytes } from '../../search/index.ts'
import type { ThreadFilter, ThreadQuery, ThreadSearch } from '../../search/index.ts'
import { onlyIn } from '../feed/namespace-filter.ts'
import type { HistoryPlace, HistorySlice, ThreadCommand } from '../model/command.ts'
import { eventId } from '../model/event-position.ts'
import { threadEventOf } from '../model/thread-event-head.ts'
import { placeOfThreadSeq } from '../model/thread-event.ts'
import type { ThreadEventListener } from '../model/thread-event.ts'
import type { FeedListener, HistoryPart, HistoryQuery, StartRun, ThreadClient, ThreadView,
  ValuesFilter } from '../model/thread-client.ts'
import { followAtPace } from './follow-at-pace.ts'
import { followSteadily } from './follow-across-owners.ts'
import { joinSteadily } from './join-across-owners.ts'
import { pageOfRows } from './page-of-rows.ts'
import { startAndWait } from './start-and-wait.ts'

/** Ports and quotas with which calls to threads are made. */
export interface ThreadClientOptions {
  readonly router: Router
  readonly threads: ThreadSearch
  readonly newThreadId: () => string
  readonly reads: ReadQuota
  readonly env: Pick<Env, 'after' | 'monotonicMs' | 'nowMs' | 'random' | 'log'>
  /** Reads long states beside the main thread. */
  readonly json?: Pick<LongJson, 'contains'>
}

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

/** The client of all threads of the cluster. */
export function createThreadClient(
  { router, threads, newThreadId, reads, env, json = atOnce }: ThreadClientOptions,
): ThreadClient {
  const keyOf = (tenant: string, id: string): ActorKey => ({ kind: 'thread', tenant, id })
  const ask = <Reply>(tenant: string, id: string, command: ThreadCommand,
    cancelled?: AbortSignal) => router.ask(keyOf(tenant, id), command, cancelled) as Promise<Reply>
  const read = <Reply>(tenant: string, id: string, command: ThreadCommand,
    cancelled?: AbortSignal) => ask<Reply>(tenant, id, command, cancelled).catch(asUnread)

  const remove = async (tenant: string, id: string, ifIdle = false) => {
    // Retried after its owner died, the delete must not hit a thread made since with the same id.
    const { row } = await read<ThreadView>(tenant, id, { type: 'get', brief: true })
    const command = { type: 'delete', branchId: row.branch?.id, ...ifIdle && { ifIdle } } as const
    await ask<void>(tenant, id, command).catch(ignoreDeletedByThis)
  }
  const start = (tenant: string, id: string, run: StartRun) =>
    ask<RunRow>(tenant, id, { type: 'start', run })
  const join = (tenant: string, id: string, runId: string, cancelled?: AbortSignal) =>
    ask<JsonText>(tenant, id, { type: 'join', runId }, cancelled)

  /** Resolves to true if tasks come next at a checkpoint. */
  const isWaiting = async (tenant: string, id: string, checkpointId: string) => {
    const query = { checkpointId, checkpointNs: '', subgraphs: false, select: ['next'] }
    const text = await read<JsonText>(tenant, id, { type: 'state', query })
    return (JSON.parse(text) as { next: readonly string[] }).next.length > 0
  }

  /**
   * Undefined for a thread that was deleted after it was found. Long states are read one by one, in
   * the turn of the tenant.
   */
  const viewReader = (turn: () => Promise<unknown>, cancelled?: AbortSignal) => {
    const alone = limitConcurrency(1)
    const view = (row: ThreadRow, most?: number) =>
      read<ThreadView>(row.tenant, row.threadId, { type: 'get', ...most !== undefined && { most } },
        cancelled)
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
  async function* viewsOf(rows: readonly ThreadRow[], atFirst: number,
    cancelled?: AbortSignal): AsyncGenerator<ThreadView, void, void> {
    let [together, longest, characters] = [atFirst, 1, 0]
    let turn: Promise<() => void> | undefined
    const inTurn = () => turn ??= reads.turn(rows[0]!.tenant, cancelled)
    using _ = { [Symbol.dispose]: () => void turn?.then((leave) => leave(), () => {}) }
    for await (const view of readAhead(() => together, rows, viewReader(inTurn, cancelled))) {
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

  /** Rows, in as much memory as they take. */
  const searchRows = (query: ThreadQuery, cancelled?: AbortSignal) =>
    reads.read({ tenant: query.tenant, bytes: pageBytes, cancelled }, ({ left: bytes }) =>
      threads.search({ ...query, bytes, expiredBy: env.nowMs() }, cancelled))

  const search = async <Found>(query: ThreadQuery & ValuesFilter, found: Finder<Found>,
    cancelled?: AbortSignal) => {
    const { values, withoutValues = false, ...plain } = query
    if (values) return searchValues(plain, values, found, cancelled)
    const { rows, total, next } = await pageOfRows((page) => searchRows(page, cancelled), plain)
    using _ = shareOf(reads, query.tenant, rows)
    const kept: Found[] = []
    if (withoutValues) { for (const row of rows) kept.push(await found({ row, values: '{}' })) }
    else for await (const view of viewsOf(rows, pageStates, cancelled)) kept.push(await found(view))
    return { threads: kept, total, next }
  }

  const searchValues = async <Found>(query: ThreadQuery, wanted: Readonly<Record<string, unknown>>,
    found: Finder<Found>, cancelled?: AbortSignal) => {
    const { offset, limit } = query
    const candidates = await searchRows({ ...query, offset: 0, limit: candidatesMax }, cancelled)
    if (candidates.total > candidatesMax) {
      throw new HeddleError('invalid', 'A filter on values looks into each thread: narrow it to ' +
        `${candidatesMax} threads at most by metadata, status or ids (${candidates.total} match).`)
    }
    using _ = shareOf(reads, query.tenant, candidates.rows)
    const kept: Found[] = []
    let total = 0
    for await (const view of viewsOf(candidates.rows, fewStates, cancelled)) {
      if (!await json.contains(query.tenant, view.values, wanted)) continue
      if (total >= offset && kept.length < limit) kept.push(await found(view))
      total++
    }
    return { threads: kept, total }
  }

  /** Counts each part as long as its reader uses it. */
  async function* history(tenant: string, id: string, query: HistoryQuery,
    cancelled?: AbortSignal): AsyncGenerator<HistoryPart, void, void> {
    let place: HistoryPlace | null = { after: null, largest: 0 }
    for (let { limit } = query; place;) {
      const command: ThreadCommand = { type: 'history', query: { ...query, limit }, from: place }
      const slice: HistorySlice | JsonText = await read(tenant, id, command, cancelled)
      const states = typeof slice === 'string' ? [slice.slice(1, -1)] : slice.states
      place = typeof slice === 'string' ? null : slice.next
      using held = reads.share(tenant)
      held.hold(...states)
      yield { states: states.filter((text) => text !== ''), isLast: place === null }
      limit -= states.length
    }
  }

  return {
    create: (tenant, request) => ask(tenant, request.threadId, { type: 'create', request }),
    get: (tenant, id, brief) => read(tenant, id, { type: 'get', ...brief && { brief } }),
    patch: (tenant, id, metadata, timeToLive) =>
      ask(tenant, id, { type: 'patch', metadata, ...timeToLive && { timeToLive } }),
    delete: remove,
    prune: (tenant, id, strategy) =>
      strategy === 'delete' ? remove(tenant, id, true) : ask(tenant, id, { type: 'keep_latest' }),
    copy: async (tenant, id, checkpointId) => {
      const at = checkpointId &&
        { checkpointId, waiting: await isWaiting(tenant, id, checkpointId) }
      const targetId = newThreadId()
      const copy = await ask<ThreadView>(tenant, id, { type: 'copy', targetId, ...at && { at } })
      if (!at || copy.row.head?.id === checkpointId) return copy
      // An owner of a version before copies the thread as it is.
      await remove(tenant, targetId)
      throw new HeddleError('unavailable', 'The member that owns this thread cannot copy it at a ' +
        'checkpoint yet.')
    },
    search,
    count: async (filter: ThreadFilter & ValuesFilter, cancelled?: AbortSignal) => {
      const { values, withoutValues: _, ...plain } = filter
      if (!values) return threads.count({ ...plain, expiredBy: env.nowMs() }, cancelled)
      const order = { sortBy: 'created_at', sortOrder: 'desc' } as const
      const query = { ...plain, ...order, limit: 0, offset: 0 }
      return (await searchValues(query, values, () => {}, cancelled)).total
    },
    state: (tenant, id, query, cancelled) =>
      read<JsonText>(tenant, id, { type: 'state', query }, cancelled),
    history,
    patchState: (tenant, id, metadata) => ask(tenant, id, { type: 'patch_state', metadata }),
    storage: (tenant, id, cancelled) => read<JsonText>(tenant, id, { type: 'storage' }, cancelled),
    updateState: (tenant, id, update) => ask<JsonText>(tenant, id, { type: 'edit', update }),
    startRun: start,
    startAndWait: (tenant, id, run) =>
      startAndWait({
        env,
        run,
        start: (again) => start(tenant, id, again),
        join: (runId, cancelled) => join(tenant, id, runId, cancelled),
      }),
    getRun: (tenant, id, runId) => read<RunRow>(tenant, id, { type: 'get_run', runId }),
    runLogs: async (tenant, id, runId, page) => {
      const command: ThreadCommand = { type: 'get_run', runId, lines: page }
      const found = await read<LoggedLines | RunRow>(tenant, id, command)
      return 'lines' in found ? found : { lines: [], dropped: 0, truncated: false }
    },
    listRuns: (query, cancelled) =>
      read<RunRow[]>(query.tenant, query.threadId, { type: 'list_runs', query }, cancelled),
    cancelRun: (tenant, id, runId, cancel) => ask(tenant, id, { type: 'cancel', runId, cancel }),
    deleteRun: (tenant, id, runId) => ask(tenant, id, { type: 'delete_run', runId }),
    joinRun: (tenant, id, runId, cancelled) =>
      joinSteadily({ env, cancelled, join: () => join(tenant, id, runId, cancelled) }),
    followRun: (tenant, id, runId, watch, listener) => {
      const { made = false, namespaces, ...follow } = watch
      return followSteadily({
        env,
        followed: { runId },
        after: follow.after,
        made,
        listener: namespaces ? onlyIn(namespaces, listener) : listener,
        follow: (after, acrossOwners) =>
          router.follow(keyOf(tenant, id), { runId, follow: { ...follow, after } }, acrossOwners),
      }).catch(asUnread)
    },
    followThread: (tenant, id, { afterSeq, ifMissing }, listener) => {
      const waits = ifMissing === 'wait'
      return followSteadily({
        env,
        followed: { threadId: id },
        after: afterSeq === null ? null : eventId(placeOfThreadSeq(afterSeq)),
        made: waits,
        catchesUp: true,
        listener: threadFeedListener(listener),
        follow: (after, acrossOwners) =>
          followAtPace(acrossOwners, (paced) =>
            router.follow(keyOf(tenant, id), { runId: '', follow: { after, modes: null }, waits },
              paced)),
      }).catch(asUnread)
    },
  }
}

/** Tells a listener of a thread what the feed of the thread sends. */
function threadFeedListener(listener: ThreadEventListener): FeedListener {
  return {
    events: (batch) => listener.events(batch.map(threadEventOf)),
    ready: () => listener.ready?.(),
    ended: (how) => listener.ended(how === 'over' ? 'gone' : how),
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
