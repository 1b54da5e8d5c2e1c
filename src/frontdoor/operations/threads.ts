/** Operations on threads and their state, the same for every wire. */

import type { Env } from '../../../cluster/index.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import type { EditUpdate, GraphHost, StateSelection } from '../../graph/index.ts'
import type { LongJson } from '../../json/index.ts'
import type { Quotas, ReadShare } from '../../limits/index.ts'
import { textOf } from '../../raw-json.ts'
import type { FeedListener, HistoryPart, ThreadClient, ThreadEventListener,
  ThreadView } from '../../thread/index.ts'
import type { Checkpoint, ReadHistory, ReadStateAt, UpdateState } from '../schema/state.ts'
import type { CountThreads, CreateThread, PatchThread, SearchThreads } from '../schema/thread.ts'
import { invalid, requireSimple } from '../schema/validation.ts'
import { extractor } from './extract.ts'
import { graphIds, requireGraph } from './graph-names.ts'
import { followFrames } from './thread-frames.ts'
import type { ThreadStreamWish } from './thread-frames.ts'

/** The part of `OperationParts` that operations on threads use. */
export interface ThreadOperationParts {
  readonly threads: ThreadClient
  readonly graphs: GraphHost
  readonly json: LongJson
  readonly env: Env
  readonly quotas: Pick<Quotas, 'within'>
}

/** A thread with what a search extracted from it. */
export interface FoundThread extends ThreadView {
  /** An object of alias to value; undefined if the search did not extract. */
  readonly extracted?: JsonText
}

/** What counts a page while it is gathered, and aborts when nobody waits for it any more. */
export interface Batcher {
  readonly share: ReadShare
  readonly cancelled?: AbortSignal
}

/** Some states of a history. */
export interface HistoryList extends Pick<HistoryPart, 'isLast'> {
  readonly texts: readonly JsonText[]
}

/** Operations on threads. Every wire calls the same ones, with the tenant of its caller. */
export class ThreadOperations {
  readonly #threads: ThreadClient
  readonly #graphs: GraphHost
  readonly #json: LongJson
  readonly #env: Env
  readonly #quotas: Pick<Quotas, 'within'>

  constructor({ threads, graphs, json, env, quotas }: ThreadOperationParts) {
    this.#json = json
    this.#threads = threads
    this.#graphs = graphs
    this.#env = env
    this.#quotas = quotas
  }

  async create(tenant: string, request: CreateThread): Promise<ThreadView> {
    const { metadata = {}, if_exists: ifExists = 'raise' } = request
    const supersteps = (request.supersteps ?? []).map(({ updates }) => updates.map(editOf))
    if (supersteps.length > 0) this.#requireNameGraph(metadata.graph_id)
    const threadId = request.thread_id ?? this.#env.uuid7()
    const exists = () => isThere(this.#threads, tenant, threadId)
    return this.#quotas.within(tenant, { threads: 1, ...ifExists === 'do_nothing' && { exists } },
      () => this.#threads.create(tenant, { threadId, metadata, ifExists, supersteps }))
  }

  get(tenant: string, threadId: string): Promise<ThreadView> {
    return this.#threads.get(tenant, threadId)
  }

  patch(tenant: string, threadId: string, { metadata }: PatchThread): Promise<ThreadView> {
    if (metadata === undefined) return this.#threads.get(tenant, threadId)
    return this.#quotas.within(tenant, {}, () => this.#threads.patch(tenant, threadId, metadata))
  }

  delete(tenant: string, threadId: string): Promise<void> {
    return this.#threads.delete(tenant, threadId)
  }

  copy(tenant: string, threadId: string): Promise<ThreadView> {
    return this.#quotas.within(tenant, { threads: 1 }, () => this.#threads.copy(tenant, threadId))
  }

  /**
   * One page, and the number of all threads that match. `share` counts the page; throws as it does.
   */
  async search(tenant: string, request: SearchThreads,
    { share, cancelled }: Batcher): Promise<{ threads: FoundThread[]; total: number }> {
    const { limit = 10, offset = 0, sort_by, sort_order, ids, select, extract: paths } = request
    const selects = (name: string) => !select || (select as readonly string[]).includes(name)
    const extracts = Object.values(paths ?? {}).some((path) => path.startsWith('values'))
    const extract = paths ? extractor(paths, share, this.#json) : undefined
    const query = {
      ...filterOf(tenant, request),
      ids: ids?.length ? ids : undefined,
      limit,
      offset,
      sortBy: sort_by ?? 'created_at',
      sortOrder: sort_order ?? 'desc',
      withoutValues: !selects('values') && !extracts,
    }
    return await this.#threads.search(query, async (view): Promise<FoundThread> => {
      const values = selects('values') ? view.values : '{}'
      share.take(values)
      return { row: view.row, values, ...extract && { extracted: await extract(view) } }
    }, cancelled)
  }

  count(tenant: string, request: CountThreads, cancelled?: AbortSignal): Promise<number> {
    return this.#threads.count(filterOf(tenant, request), cancelled)
  }

  /** Sends the listener the events of all runs. Throws `not_found`. The result stops it. */
  followFrames(tenant: string, threadId: string, wish: ThreadStreamWish,
    listener: FeedListener): Promise<() => void> {
    return followFrames({ ...wish, threads: this.#threads, tenant, threadId, listener })
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

  /** Follows the events of a thread, which need not exist yet. The result stops that. */
  follow(tenant: string, threadId: string, afterSeq: number | null,
    listener: ThreadEventListener): Promise<() => void> {
    return this.#threads.followThread(tenant, threadId, { afterSeq, ifMissing: 'wait' }, listener)
  }

  updateState(tenant: string, threadId: string, request: UpdateState): Promise<JsonText> {
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
    return this.#quotas.within(tenant, {}, () => this.#threads.updateState(tenant, threadId, edit))
  }

  #requireNameGraph(graphId: unknown): void {
    const message = `is required by supersteps, and names one of: ${graphIds(this.#graphs)}`
    if (typeof graphId !== 'string') throw invalid([{ field: 'metadata.graph_id', message }])
    requireGraph(this.#graphs, graphId)
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

/** Undefined for all parts. An empty list in a query string means all as well. */
function selectionOf(select: ReadStateAt['select']): StateSelection {
  return select?.length ? select : undefined
}

/** The id in `before`. The official client sends a config, others an id or a checkpoint. */
function checkpointIdOf(before: ReadHistory['before']): string | null {
  if (before === undefined || before === null || typeof before === 'string') return before ?? null
  return 'configurable' in before ? before.configurable.checkpoint_id : before.checkpoint_id
}

function filterOf(tenant: string, { metadata, values, status }: CountThreads) {
  requireSimple('metadata', metadata)
  requireSimple('values', values)
  return {
    tenant,
    metadata: metadata ?? undefined,
    values: values ?? undefined,
    status: status ?? undefined,
  }
}
