/** Operations on threads and their state, the same for every wire. */

import type { Env } from '../../../cluster/index.ts'
import { threadStatuses } from '../../api/index.ts'
import type { Checkpoint, CountThreads, CreateThread, PatchState, PatchThread, PruneThreads,
  ReadHistory, ReadStateAt, SearchThreads, TimeToLive, UpdateState } from '../../api/index.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import type { EditUpdate, GraphHosts, StateSelection } from '../../graph/index.ts'
import type { LongJson } from '../../json/index.ts'
import type { Quotas, ReadShare } from '../../limits/index.ts'
import { textOf } from '../../raw-json.ts'
import type { MetadataFilter, ThreadStatus, TimeToLiveRequest } from '../../search/index.ts'
import type { CopyOptions, FeedListener, HistoryPart, ThreadClient, ThreadEventListener, ThreadView,
  WatchThread } from '../../thread/index.ts'
import { invalid, requireSimple } from '../schema/validation.ts'
import { pruneThreads } from './prune-threads.ts'
import type { PrunableThreads, Pruned } from './prune-threads.ts'
import type { RemoveCrons } from './cron-removal.ts'
import { extractor } from './extract.ts'
import { graphIds, requireGraph } from './graph-names.ts'
import { cursorOf, filterOf, pageOf } from './thread-filter.ts'
import { followFrames } from './thread-frames.ts'
import type { ThreadStreamRequest } from './thread-frames.ts'
import { usedThread } from './thread-steps.ts'
import type { UsedThread } from './thread-steps.ts'

/** The part of `OperationParts` that operations on threads use. */
export interface ThreadOperationParts {
  readonly threads: ThreadClient
  readonly graphs: GraphHosts
  readonly json: LongJson
  readonly env: Env
  readonly quotas: Pick<Quotas, 'within'>
  readonly removeCrons: RemoveCrons
}

/** A thread with what a search extracted from it. */
export interface FoundThread extends ThreadView {
  /** An object of alias to value; undefined if the search did not extract. */
  readonly extracted?: JsonText
}

/** A page of a search. */
export interface FoundPage {
  readonly threads: FoundThread[]
  /** The number of all threads that match. */
  readonly total: number
  /** Place where the next page begins; missing if there is none. */
  readonly cursor?: string
}

/** Share that counts a page while it is gathered. `cancelled` aborts when its client has left. */
export interface Batcher {
  readonly share: ReadShare
  readonly cancelled?: AbortSignal
  /** Only threads that the caller may see; all by default. */
  readonly allowed?: MetadataFilter | undefined
}

/** Some states of a history. */
export interface HistoryList extends Pick<HistoryPart, 'isLast'> {
  readonly texts: readonly JsonText[]
}

/** Operations on threads. Every wire calls the same ones, with the tenant of its caller. */
export class ThreadOperations {
  readonly #threads: ThreadClient
  readonly #graphs: GraphHosts
  readonly #json: LongJson
  readonly #env: Env
  readonly #quotas: Pick<Quotas, 'within'>
  readonly #removeCrons: RemoveCrons

  constructor({ threads, graphs, json, env, quotas, removeCrons }: ThreadOperationParts) {
    this.#json = json
    this.#threads = threads
    this.#graphs = graphs
    this.#env = env
    this.#quotas = quotas
    this.#removeCrons = removeCrons
  }

  async create(tenant: string, request: CreateThread): Promise<ThreadView> {
    const { metadata = {}, if_exists: ifExists = 'raise' } = request
    const supersteps = (request.supersteps ?? []).map(({ updates }) => updates.map(editOf))
    if (supersteps.length > 0) await this.#requireNameGraph(tenant, metadata.graph_id)
    const isNewId = request.thread_id === undefined
    const threadId = request.thread_id ?? this.#env.uuid7()
    const life = request.ttl == null ? {} : { timeToLive: optionsOf(request.ttl) }
    const exists = () => isThere(this.#threads, tenant, threadId)
    return this.#quotas.within(tenant, { threads: 1, ...ifExists === 'do_nothing' && { exists } },
      () =>
        this.#threads.create(tenant, { threadId, isNewId, metadata, ifExists, supersteps,
          ...life }))
  }

  /** Values are read only if they are selected. */
  get(tenant: string, threadId: string, select?: readonly string[]): Promise<ThreadView> {
    return this.#threads.get(tenant, threadId, select && !select.includes('values'))
  }

  /** True for a thread that searches find. It is not read for that. */
  exists(tenant: string, threadId: string): Promise<boolean> {
    return isThere(this.#threads, tenant, threadId)
  }

  /** `allowed`: only a thread that the caller sees when it is changed. */
  patch(tenant: string, threadId: string, { metadata, ttl }: PatchThread,
    allowed?: MetadataFilter): Promise<ThreadView> {
    if (metadata === undefined && ttl == null) return this.#threads.get(tenant, threadId)
    const options = ttl == null ? undefined : optionsOf(ttl)
    return this.#quotas.within(tenant, {},
      () => this.#threads.patch(tenant, threadId, metadata ?? {}, options, allowed))
  }

  /** Deletes a thread with its crons. `allowed` as of `patch`. */
  async delete(tenant: string, threadId: string, allowed?: MetadataFilter): Promise<void> {
    await this.#threads.delete(tenant, threadId, allowed)
    await this.#removeCrons({ tenant, threadId })
  }

  /** Deletes a thread that was kept for a run. It has no crons. */
  discard(tenant: string, threadId: string): Promise<void> {
    return this.#threads.discard(tenant, threadId)
  }

  /** Copies the thread as it is, or as it was at a checkpoint. */
  copy(tenant: string, threadId: string, options?: CopyOptions): Promise<ThreadView> {
    return this.#quotas.within(tenant, { threads: 1 },
      () => this.#threads.copy(tenant, threadId, options))
  }

  /**
   * One page, and the number of all threads that match. `share` counts the page; throws as it does.
   */
  async search(tenant: string, request: SearchThreads,
    { share, cancelled, allowed }: Batcher): Promise<FoundPage> {
    const { limit = 10, offset = 0, ids, select, extract: paths } = request
    const selects = (name: string) => !select || (select as readonly string[]).includes(name)
    const extracts = Object.values(paths ?? {}).some((path) => path.startsWith('values'))
    const extract = paths ? extractor(paths, share, this.#json) : undefined
    const query = {
      ...filterOf(tenant, request),
      ...pageOf(request),
      allowed,
      ids: ids?.length ? ids : undefined,
      limit,
      offset,
      withoutValues: !selects('values') && !extracts,
    }
    const found = await this.#threads.search(query, async (view): Promise<FoundThread> => {
      const values = selects('values') ? view.values : '{}'
      share.take(values)
      return { row: view.row, values, ...extract && { extracted: await extract(view) } }
    }, cancelled)
    const { threads, total, next } = found
    return { threads, total, ...next && { cursor: cursorOf(query, next) } }
  }

  /** `allowed`: only threads that the caller may see. */
  count(tenant: string, request: CountThreads, cancelled?: AbortSignal,
    allowed?: MetadataFilter): Promise<number> {
    return this.#threads.count({ ...filterOf(tenant, request), allowed }, cancelled)
  }

  /** The number of threads of each status. */
  async countByStatus(tenant: string, request: CountThreads, cancelled?: AbortSignal,
    allowed?: MetadataFilter): Promise<Readonly<Record<ThreadStatus, number>>> {
    const { status: only, ...filter } = { ...filterOf(tenant, request), allowed }
    if (filter.values) throw invalid([{ field: 'by', message: 'does not go with values' }])
    const counts = await Promise.all(threadStatuses.map(async (status) => {
      const isAsked = only === undefined || only === status
      const count = isAsked ? await this.#threads.count({ ...filter, status }, cancelled) : 0
      return [status, count] as const
    }))
    return Object.fromEntries(counts) as Record<ThreadStatus, number>
  }

  /** Sends the listener the events of all runs. Throws `not_found`. The result stops it. */
  followFrames(tenant: string, threadId: string, options: ThreadStreamRequest,
    listener: FeedListener): Promise<() => void> {
    return followFrames({ ...options, threads: this.#threads, tenant, threadId, listener })
  }

  /** A ThreadState as JSON. `checkpoint` is null for the newest. */
  state(tenant: string, threadId: string, checkpoint: Checkpoint | null,
    { subgraphs, select }: Omit<ReadStateAt, 'checkpoint'>,
    cancelled?: AbortSignal): Promise<JsonText> {
    return this.#threads.state(tenant, threadId, {
      checkpointId: checkpoint?.checkpoint_id ?? null,
      checkpointNs: checkpoint?.checkpoint_ns ?? '',
      subgraphs: subgraphs ?? false,
      select: selectionOf(select),
    }, cancelled)
  }

  /** Yields ThreadStates, newest first. An invalid request throws before the first part. */
  async *history(tenant: string, threadId: string, request: ReadHistory,
    cancelled?: AbortSignal): AsyncGenerator<HistoryList, void, void> {
    const { limit = 10, before, metadata, checkpoint, select } = request
    requireSimple('metadata', metadata)
    const parts = this.#threads.history(tenant, threadId, {
      checkpointId: checkpoint?.checkpoint_id ?? null,
      checkpointNs: checkpoint?.checkpoint_ns ?? '',
      before: checkpointIdOf(before),
      limit,
      metadata: metadata ?? null,
      select: selectionOf(select),
    }, cancelled)
    for await (const { states, isLast } of parts) yield { texts: states, isLast }
  }

  /** Deletes threads or drops their history, or only counts them. Busy and unknown ones stay. */
  prune(tenant: string, request: PruneThreads, allowed?: PrunableThreads): Promise<Pruned> {
    return pruneThreads(this.#threads, tenant, request, allowed)
  }

  /** Merges metadata into that of the newest checkpoint. */
  patchState(tenant: string, threadId: string, { metadata }: PatchState,
    allowed?: MetadataFilter): Promise<void> {
    return this.#quotas.within(tenant, {},
      () => this.#threads.patchState(tenant, threadId, metadata, allowed))
  }

  /** Bytes that the thread takes, as JSON of the API. */
  storage(tenant: string, threadId: string, cancelled?: AbortSignal): Promise<JsonText> {
    return this.#threads.storage(tenant, threadId, cancelled)
  }

  /** The steps and runs that tell what the thread took and used. */
  usage(tenant: string, threadId: string, cancelled?: AbortSignal): Promise<UsedThread> {
    return usedThread(this.#threads, { tenant, threadId }, cancelled)
  }

  /** Follows the events of a thread, which need not exist yet. The result stops that. */
  follow(tenant: string, threadId: string, from: Omit<WatchThread, 'ifMissing'>,
    listener: ThreadEventListener): Promise<() => void> {
    return this.#threads.followThread(tenant, threadId, { ...from, ifMissing: 'wait' }, listener)
  }

  /** As `follow`. Throws `not_found` if there is no such thread. */
  followExisting(tenant: string, threadId: string, afterSeq: number | null,
    listener: ThreadEventListener): Promise<() => void> {
    return this.#threads.followThread(tenant, threadId, { afterSeq, ifMissing: 'reject' }, listener)
  }

  updateState(tenant: string, threadId: string, request: UpdateState,
    allowed?: MetadataFilter): Promise<JsonText> {
    const { values, command, as_node, checkpoint_id, checkpoint } = request
    const checkpointId = checkpoint?.checkpoint_id ?? checkpoint_id ?? null
    const update = editOf({ values, command, as_node: as_node ?? undefined })
    const edit = {
      update,
      checkpoint: checkpointId === null && !checkpoint?.checkpoint_ns ? null : {
        checkpointId,
        checkpointNs: checkpoint?.checkpoint_ns ?? '',
        checkpointMap: checkpoint?.checkpoint_map ?? null,
      },
    }
    return this.#quotas.within(tenant, {},
      () => this.#threads.updateState(tenant, threadId, edit, allowed))
  }

  async #requireNameGraph(tenant: string, graphId: unknown): Promise<void> {
    await this.#graphs.open(tenant)
    const graphs = this.#graphs.of(tenant)
    const message = `is required by supersteps, and names one of: ${graphIds(graphs)}`
    if (typeof graphId !== 'string') throw invalid([{ field: 'metadata.graph_id', message }])
    requireGraph(graphs, graphId)
  }
}

/** True if a listed thread has this id. Hidden threads are not listed. */
export async function isThere(threads: Pick<ThreadClient, 'count'>, tenant: string,
  threadId: string): Promise<boolean> {
  return await threads.count({ tenant, ids: [threadId] }) > 0
}

interface Update {
  readonly values?: unknown
  readonly command?: unknown
  readonly as_node?: string
}

function editOf({ values, command, as_node }: Update): EditUpdate {
  return {
    values: textOf(values ?? null),
    command: command === undefined || command === null ? null : textOf(command),
    asNode: as_node ?? null,
  }
}

function optionsOf(ttl: TimeToLive): TimeToLiveRequest {
  if (typeof ttl === 'number') return { strategy: 'delete', minutes: ttl }
  return { strategy: ttl.strategy ?? 'delete', minutes: ttl.ttl }
}

/** Undefined for all parts. An empty list in a query string means all as well. */
function selectionOf(select: ReadStateAt['select']): StateSelection {
  return select?.length ? select : undefined
}

/** The id in `before`. The official client sends a config, others an id or a checkpoint. */
function checkpointIdOf(before: ReadHistory['before']): string | null {
  if (before === undefined || before === null || typeof before === 'string') return before ?? null
  return 'configurable' in before ? before.configurable.checkpoint_id : before.checkpoint_id
}
