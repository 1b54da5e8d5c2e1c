/** Operations on threads, as a caller may do them. */

import type { Checkpoint, CountThreads, CreateThread, PatchState, PatchThread, PruneThreads,
  ReadHistory, ReadStateAt, SearchThreads, UpdateState } from '../../api/index.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import { HeddleError, ignoreNotFound } from '../../errors.ts'
import { objectIn } from '../../json/index.ts'
import type { MetadataFilter, ThreadStatus } from '../../search/index.ts'
import type { FeedListener, ThreadEventListener, ThreadView,
  WatchThread } from '../../thread/index.ts'
import type { Batcher, FoundPage, HistoryList, Operations, Pruned, ThreadStreamRequest,
  UsedThread } from '../operations/index.ts'
import type { Ask } from './ask.ts'
import type { Asking } from './asking.ts'
import { foundOrMade } from './found-or-made.ts'
import { LateListener } from './late-listener.ts'
import { isSeen, requireSeen } from './seen.ts'

type Metadata = Record<string, unknown>

/** The error for a thread that is not there for its caller. */
export function threadNotFound(threadId: string): HeddleError {
  return new HeddleError('not_found', `Thread ${threadId} not found.`)
}

/** Throws `not_found` for a thread that is not there, if a filter says which are. */
export async function requireThread(threads: Operations['threads'], tenant: string,
  threadId: string, filter: MetadataFilter | undefined): Promise<void> {
  if (filter === undefined) return
  const { row } = await threads.get(tenant, threadId, [])
  requireSeen(filter, row, () => threadNotFound(threadId))
}

/** Operations on threads. Each asks the login of its caller first, if there is one. */
export class AllowedThreads {
  readonly #threads: Operations['threads']
  readonly #ask: Ask

  constructor(threads: Operations['threads'], ask: Ask) {
    this.#threads = threads
    this.#ask = ask
  }

  /** A thread that is there already and that the caller does not see is `exists`. */
  async create(caller: Asking, request: CreateThread): Promise<ThreadView> {
    const { thread_id, metadata, if_exists } = request
    const { value, filter } = await this.#ask(caller, 'threads:create', { thread_id,
      metadata: metadata ?? {}, if_exists: if_exists ?? 'raise' })
    const allowed = { ...request, metadata: value['metadata'] as Metadata }
    if (filter === undefined || thread_id === undefined || if_exists !== 'do_nothing') {
      return await this.#threads.create(caller.tenant, allowed)
    }
    return await foundOrMade({
      find: () => this.#existing(caller, thread_id, filter),
      make: () => this.#threads.create(caller.tenant, { ...allowed, if_exists: 'raise' }),
    })
  }

  async get(caller: Asking, threadId: string, select?: readonly string[]): Promise<ThreadView> {
    const { filter } = await this.#ask(caller, 'threads:read', { thread_id: threadId })
    const view = await this.#threads.get(caller.tenant, threadId, select)
    requireSeen(filter, view.row, () => threadNotFound(threadId))
    return view
  }

  /** For operators: nobody is asked. */
  exists({ tenant }: Asking, threadId: string): Promise<boolean> {
    return this.#threads.exists(tenant, threadId)
  }

  async patch(caller: Asking, threadId: string, request: PatchThread): Promise<ThreadView> {
    const { value, filter } = await this.#ask(caller, 'threads:update', { thread_id: threadId,
      metadata: request.metadata })
    await requireThread(this.#threads, caller.tenant, threadId, filter)
    return await this.#threads.patch(caller.tenant, threadId, { ...request,
      metadata: value['metadata'] as Metadata | undefined }, filter)
  }

  async delete(caller: Asking, threadId: string): Promise<void> {
    const filter = await this.#require(caller, threadId, 'threads:delete')
    await this.#threads.delete(caller.tenant, threadId, filter)
  }

  /** Removes the thread of a run whose result the caller got. Nobody is asked: its run was. */
  discard({ tenant }: Asking, threadId: string): Promise<void> {
    return this.#threads.discard(tenant, threadId)
  }

  /** The copy has the metadata that the handler of creations leaves of that of the thread. */
  async copy(caller: Asking, threadId: string, checkpointId?: string): Promise<ThreadView> {
    const { tenant } = caller
    if (caller.login === undefined) {
      return await this.#threads.copy(tenant, threadId, { checkpointId })
    }
    const { filter: allowed } = await this.#ask(caller, 'threads:read', { thread_id: threadId })
    const { row } = await this.#threads.get(tenant, threadId, [])
    requireSeen(allowed, row, () => threadNotFound(threadId))
    const asked = objectIn(row.metadataJson)
    const { value } = await this.#ask(caller, 'threads:create', { metadata: asked,
      if_exists: 'raise' })
    const { graph_id, assistant_id } = asked
    // The server reads the state of a thread by its graph, whatever a handler leaves.
    const metadata = JSON.parse(
      JSON.stringify({ graph_id, assistant_id, ...value['metadata'] as Metadata }),
    ) as Metadata
    return await this.#threads.copy(tenant, threadId, { checkpointId, allowed,
      ...value['metadata'] !== asked && { metadata } })
  }

  async search(caller: Asking, request: SearchThreads, batcher: Batcher): Promise<FoundPage> {
    const allowed = await this.#searched(caller, request)
    return await this.#threads.search(caller.tenant, request, { ...batcher, allowed })
  }

  async count(caller: Asking, request: CountThreads, cancelled?: AbortSignal): Promise<number> {
    const allowed = await this.#searched(caller, request)
    return await this.#threads.count(caller.tenant, request, cancelled, allowed)
  }

  async countByStatus(caller: Asking, request: CountThreads,
    cancelled?: AbortSignal): Promise<Readonly<Record<ThreadStatus, number>>> {
    const allowed = await this.#searched(caller, request)
    return await this.#threads.countByStatus(caller.tenant, request, cancelled, allowed)
  }

  async followFrames(caller: Asking, threadId: string, options: ThreadStreamRequest,
    listener: FeedListener): Promise<() => void> {
    await this.#require(caller, threadId)
    return await this.#threads.followFrames(caller.tenant, threadId, options, listener)
  }

  async state(caller: Asking, threadId: string, checkpoint: Checkpoint | null,
    options: Omit<ReadStateAt, 'checkpoint'>, cancelled?: AbortSignal): Promise<JsonText> {
    await this.#require(caller, threadId)
    return await this.#threads.state(caller.tenant, threadId, checkpoint, options, cancelled)
  }

  async *history(caller: Asking, threadId: string, request: ReadHistory,
    cancelled?: AbortSignal): AsyncGenerator<HistoryList, void, void> {
    await this.#require(caller, threadId)
    yield* this.#threads.history(caller.tenant, threadId, request, cancelled)
  }

  /** All named threads are asked for before one is pruned. */
  async prune(caller: Asking, request: PruneThreads): Promise<Pruned> {
    const { tenant } = caller
    if (caller.login === undefined) return await this.#threads.prune(tenant, request)
    if (request.thread_ids == null) {
      const { filter: allowed } = await this.#ask(caller, 'threads:delete', { thread_id: null,
        filter: request.filter })
      return await this.#threads.prune(tenant, request, { found: allowed })
    }
    const named = new Map<string, MetadataFilter | undefined>()
    for (const id of new Set(request.thread_ids)) {
      const { filter } = await this.#ask(caller, 'threads:delete', { thread_id: id })
      const view = filter && await this.#threads.get(tenant, id, []).catch(ignoreNotFound)
      if (filter === undefined || (view && isSeen(filter, view.row))) named.set(id, filter)
    }
    const ids = [...named.keys()]
    return await this.#threads.prune(tenant, { ...request, thread_ids: ids }, { named })
  }

  async patchState(caller: Asking, threadId: string, request: PatchState): Promise<void> {
    const filter = await this.#require(caller, threadId, 'threads:update')
    await this.#threads.patchState(caller.tenant, threadId, request, filter)
  }

  async usage(caller: Asking, threadId: string, cancelled?: AbortSignal): Promise<UsedThread> {
    await this.#require(caller, threadId)
    return await this.#threads.usage(caller.tenant, threadId, cancelled)
  }

  async storage(caller: Asking, threadId: string, cancelled?: AbortSignal): Promise<JsonText> {
    await this.#require(caller, threadId)
    return await this.#threads.storage(caller.tenant, threadId, cancelled)
  }

  /**
   * A thread need not exist yet. Throws `not_found` for a thread that the caller does not see. A
   * thread that is made meanwhile is checked before its first event is sent: if the caller does not
   * see it, the follow ends.
   */
  async follow(caller: Asking, threadId: string, from: Omit<WatchThread, 'ifMissing'>,
    listener: ThreadEventListener): Promise<() => void> {
    const { tenant } = caller
    const { filter } = await this.#ask(caller, 'threads:read', { thread_id: threadId })
    if (filter === undefined) return await this.#threads.follow(tenant, threadId, from, listener)
    const sees = () => this.#sees(tenant, threadId, filter)
    const seen = await sees()
    if (seen === false) throw threadNotFound(threadId)
    const shown = seen === true ? listener : new LateListener(listener, sees)
    return await this.#threads.follow(tenant, threadId, from, shown)
  }

  async followExisting(caller: Asking, threadId: string, afterSeq: number | null,
    listener: ThreadEventListener): Promise<() => void> {
    await this.#require(caller, threadId)
    return await this.#threads.followExisting(caller.tenant, threadId, afterSeq, listener)
  }

  async updateState(caller: Asking, threadId: string, request: UpdateState): Promise<JsonText> {
    const filter = await this.#require(caller, threadId, 'threads:update')
    return await this.#threads.updateState(caller.tenant, threadId, request, filter)
  }

  async #require(caller: Asking, threadId: string,
    event: 'threads:read' | 'threads:update' | 'threads:delete' = 'threads:read'
  ): Promise<
    MetadataFilter | undefined
  > {
    const { filter } = await this.#ask(caller, event, { thread_id: threadId })
    await requireThread(this.#threads, caller.tenant, threadId, filter)
    return filter
  }

  async #searched(caller: Asking,
    { metadata, values, status, ...page }: SearchThreads): Promise<MetadataFilter | undefined> {
    const { ids, limit, offset } = page
    const { filter } = await this.#ask(caller, 'threads:search', { thread_id: null, ids, status,
      metadata: metadata ?? {}, values, limit, offset })
    return filter
  }

  /** Undefined for a thread that is not there for anybody. */
  async #sees(tenant: string, threadId: string,
    filter: MetadataFilter): Promise<boolean | undefined> {
    const view = await this.#threads.get(tenant, threadId, []).catch(ignoreNotFound)
    return view && isSeen(filter, view.row)
  }

  async #existing({ tenant }: Asking, threadId: string,
    filter: MetadataFilter): Promise<ThreadView | undefined> {
    const view = await this.#threads.get(tenant, threadId).catch(ignoreNotFound)
    if (view === undefined) return undefined
    requireSeen(filter, view.row, () => new HeddleError('exists', 'Thread already exists.'))
    return view
  }
}
