/** Operations on runs, as a caller may do them. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { BatchRun, CancelRun, CancelRuns, CreateRun, CreateStatelessRun, ListRuns, ReadRunLogs,
  SearchRuns } from '../../api/index.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'
import type { MetadataFilter, RunText } from '../../search/index.ts'
import type { AwaitedRun, FeedListener, PushChange, RunGraphs, StartRun,
  WatchRun } from '../../thread/index.ts'
import type { CancelRequest, FoundRunPage, Operations, RunCaller,
  RunName } from '../operations/index.ts'
import type { AdmitRun } from './admit-run.ts'
import type { Ask } from './ask.ts'
import type { Asking } from './asking.ts'
import { bothOf } from './seen.ts'
import { requireThread } from './threads.ts'

/** Parts that operations on runs are made of. */
export interface AllowedRunParts extends Pick<Operations, 'runs' | 'threads'> {
  readonly ask: Ask
  readonly admit: AdmitRun
}

/** Operations on runs. Each asks the login of its caller first, if there is one. */
export class AllowedRuns {
  readonly #runs: Operations['runs']
  readonly #threads: Operations['threads']
  readonly #ask: Ask
  readonly #admit: AdmitRun

  constructor({ runs, threads, ask, admit }: AllowedRunParts) {
    this.#runs = runs
    this.#threads = threads
    this.#ask = ask
    this.#admit = admit
  }

  async create(caller: Asking, threadId: string, asked: CreateRun,
    runCaller: RunCaller): Promise<RunRow> {
    const { body, by } = await this.#admit(caller, { threadId, body: asked, by: runCaller })
    return await this.#runs.create(caller.tenant, threadId, body, by)
  }

  /** A thread that is not there yet is asked for as well. */
  async createForThread(caller: Asking, threadId: string, asked: CreateRun, runCaller: RunCaller,
    options: Pick<StartRun, 'answersIfWaiting' | 'resumeOnly'>): Promise<RunRow> {
    const { body, by } = await this.#admit(caller, { threadId, body: asked, by: runCaller,
      asksForThread: true })
    return await this.#runs.createForThread(caller.tenant, threadId, body, by, options)
  }

  async createAndWait(caller: Asking, threadId: string, asked: CreateRun,
    runCaller: RunCaller): Promise<AwaitedRun> {
    const { body, by } = await this.#admit(caller, { threadId, body: asked, by: runCaller })
    return await this.#runs.createAndWait(caller.tenant, threadId, body, by)
  }

  async createStateless(caller: Asking, asked: CreateStatelessRun,
    runCaller: RunCaller): Promise<RunRow> {
    const { body, by } = await this.#admit(caller, { threadId: null, body: asked, by: runCaller })
    return await this.#runs.createStateless(caller.tenant, body, by)
  }

  async createStatelessAndWait(caller: Asking, asked: CreateStatelessRun,
    runCaller: RunCaller): Promise<AwaitedRun> {
    const { body, by } = await this.#admit(caller, { threadId: null, body: asked, by: runCaller })
    return await this.#runs.createStatelessAndWait(caller.tenant, body, by)
  }

  async prepare(caller: Asking, asked: BatchRun,
    runCaller: RunCaller): Promise<() => Promise<RunRow>> {
    const threadId = asked.thread_id ?? null
    const { body, by } = await this.#admit(caller, { threadId, body: asked, by: runCaller })
    return await this.#runs.prepare(caller.tenant, body, by)
  }

  async get(caller: Asking, run: RunName): Promise<RunRow> {
    await this.#require(caller, run)
    return await this.#runs.get(caller.tenant, run)
  }

  async graphsOf(caller: Asking, run: RunName, cancelled?: AbortSignal): Promise<RunGraphs> {
    await this.#require(caller, run)
    return await this.#runs.graphsOf(caller.tenant, run, cancelled)
  }

  /**
   * The newest run of a thread, with what it asks; undefined if it has none. `event`: what is to be
   * done with it.
   */
  async newest(caller: Asking, threadId: string, event: 'threads:read' | 'threads:update',
    cancelled?: AbortSignal): Promise<RunRow | undefined> {
    const { filter } = await this.#ask(caller, event, { thread_id: threadId })
    await requireThread(this.#threads, caller.tenant, threadId, filter)
    const [last] = await this.#runs.list(caller.tenant, threadId, { limit: 1, select: ['run_id'] },
      cancelled)
    // Lists may leave out what a run asks.
    return last && await this.#runs.get(caller.tenant, { threadId, runId: last.runId })
  }

  async effects(caller: Asking, run: RunName, cancelled?: AbortSignal): Promise<JsonText> {
    await this.#require(caller, run)
    return await this.#runs.effects(caller.tenant, run, cancelled)
  }

  async logs(caller: Asking, run: RunName, page: ReadRunLogs): Promise<JsonText> {
    await this.#require(caller, run)
    return await this.#runs.logs(caller.tenant, run, page)
  }

  async list(caller: Asking, threadId: string, request: ListRuns,
    cancelled?: AbortSignal): Promise<RunRow[]> {
    const { limit, offset, status } = request
    const searched = await this.#ask(caller, 'threads:search', { thread_id: threadId, limit, offset,
      status })
    const read = await this.#ask(caller, 'threads:read', { thread_id: threadId })
    await requireThread(this.#threads, caller.tenant, threadId,
      bothOf(searched.filter, read.filter))
    return await this.#runs.list(caller.tenant, threadId, request, cancelled)
  }

  async search(caller: Asking, request: SearchRuns, cancelled?: AbortSignal,
    texts?: readonly RunText[]): Promise<FoundRunPage> {
    const { thread_id, limit, status } = request
    const { filter } = await this.#ask(caller, 'threads:search', { thread_id, limit, status })
    return await this.#runs.search(caller.tenant, request, cancelled, filter, texts)
  }

  /** A run that is known by its id alone. */
  async find(caller: Asking, runId: string): Promise<RunRow> {
    const row = await this.#runs.find(caller.tenant, runId)
    await this.#require(caller, row)
    return row
  }

  /** The thread of the run that executes is there, and so asked for by the run. */
  async inject(caller: Asking, threadId: string, asked: CreateRun,
    runCaller: RunCaller): Promise<RunRow> {
    const { body, by } = await this.#admit(caller, { threadId, body: asked, by: runCaller })
    return await this.#runs.inject(caller.tenant, threadId, body, by)
  }

  async cancel(caller: Asking, run: RunName, request: CancelRequest): Promise<void> {
    const filter = await this.mayCancel(caller, run, request)
    await this.#runs.cancel(caller.tenant, run, request, filter)
  }

  /**
   * Throws if the caller may not cancel the run. Resolves with the filter that the thread must
   * match when the run is cancelled.
   */
  async mayCancel(caller: Asking, run: RunName,
    { action = 'interrupt' }: Pick<CancelRequest, 'action'>): Promise<MetadataFilter | undefined> {
    return await this.#require(caller, run, 'threads:update', { action })
  }

  /** Says whom to notify of the task of a run. */
  async changePush(caller: Asking, run: RunName, change: PushChange): Promise<void> {
    const filter = await this.#require(caller, run, 'threads:update')
    await this.#runs.changePush(caller.tenant, run, change, filter)
  }

  /** Nobody is asked: an address is looked at, and nothing is done. */
  get webhooks(): Operations['runs']['webhooks'] {
    return this.#runs.webhooks
  }

  /**
   * Returns a function that cancels the run of a client that has left. The login is not called: it
   * was before the client followed.
   */
  abandoner({ tenant }: Asking, run: RunName): () => Promise<void> {
    return this.#runs.abandoner(tenant, run)
  }

  /** The run that a caller has waited for. Nobody is asked again. */
  settled({ tenant }: Asking, run: RunName): Promise<RunRow> {
    return this.#runs.get(tenant, run)
  }

  async cancelMany(caller: Asking, request: CancelRuns,
    { action = 'interrupt' }: Pick<CancelRun, 'action'>): Promise<number | undefined> {
    const { thread_id: threadId, run_ids, status, filter: conditions } = request
    const { filter } = await this.#ask(caller, 'threads:update', { thread_id: threadId ?? null,
      run_ids, status, filter: conditions, action })
    if (threadId != null) {
      await requireThread(this.#threads, caller.tenant, threadId, filter)
    }
    return await this.#runs.cancelMany(caller.tenant, request, { action }, filter)
  }

  async delete(caller: Asking, run: RunName): Promise<void> {
    const filter = await this.#require(caller, run, 'threads:delete')
    await this.#runs.delete(caller.tenant, run, filter)
  }

  async join(caller: Asking, run: RunName, cancelled?: AbortSignal): Promise<JsonText> {
    await this.#require(caller, run)
    return await this.#runs.join(caller.tenant, run, cancelled)
  }

  /** A caller that has made the run is not asked whether it may read it. */
  async follow(caller: Asking, run: RunName, watch: WatchRun,
    listener: FeedListener): Promise<() => void> {
    if (watch.made !== true) await this.#require(caller, run)
    return await this.#runs.follow(caller.tenant, run, watch, listener)
  }

  async #require(caller: Asking, { threadId, runId }: RunName,
    event: 'threads:read' | 'threads:update' | 'threads:delete' = 'threads:read',
    more: Readonly<Record<string, unknown>> = {}): Promise<MetadataFilter | undefined> {
    const { filter } = await this.#ask(caller, event, { thread_id: threadId, run_id: runId,
      ...more })
    await this.#requireRun(caller.tenant, { threadId, runId }, filter)
    return filter
  }

  /** An error about a stateless run does not mention its hidden thread. */
  async #requireRun(tenant: string, { threadId, runId }: RunName,
    filter: MetadataFilter | undefined): Promise<void> {
    await requireThread(this.#threads, tenant, threadId, filter).catch((error: unknown) => {
      if (threadId !== runId || HeddleError.from(error).code !== 'not_found') throw error
      throw new HeddleError('not_found', `Run ${runId} not found.`)
    })
  }
}
