/** Threads without an actor, a log or a graph: the test decides what they answer. */

import type { RunRow, ThreadRow } from '../../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../../../src/errors.ts'
import type { LoggedLines } from '../../../src/graph/index.ts'
import type { RunQuery, ThreadFilter, ThreadQuery } from '../../../src/search/index.ts'
import type { AwaitedRun, CancelRun, CopyOptions, CreateThread, FeedEvent, FeedListener, FollowRun,
  HistoryPart, HistoryQuery, PushChange, RunEffects, RunGraphs, StartRun, StateQuery, StateUpdate,
  ThreadClient, ThreadEvent, ThreadEventListener, ThreadView, ValuesFilter,
  WatchThread } from '../../../src/thread/index.ts'

const atMs = Date.UTC(2026, 0, 2, 3, 4, 5, 678)

export class FakeThreads implements ThreadClient {
  readonly views = new Map<string, ThreadView>()
  /** The history of every thread; `cancelled` aborts when its reader has left. */
  historyOf: (cancelled?: AbortSignal) => Iterable<HistoryPart> | AsyncIterable<HistoryPart> =
    () => [{ states: [], isLast: true }]
  readonly runs = new Map<string, FakeRun>()
  readonly #events = new Map<string, FakeEvents>()
  /** Every call that came, by its name. */
  readonly calls: { readonly name: string; readonly given: unknown }[] = []
  /** How many threads searches have read. */
  shown = 0
  /** Thrown by the next call of any kind. */
  failure: unknown
  /** Thrown by every start of a run. */
  refusedStart: HeddleError | undefined
  /** Runs are on disk once it resolves. */
  disk: Promise<void> = Promise.resolve()
  /** Follows begin once it resolves. */
  owner: Promise<void> = Promise.resolve()

  #call(name: string, given: unknown): void {
    this.calls.push({ name, given })
    const { failure } = this
    this.failure = undefined
    if (failure !== undefined) throw failure
  }

  given(name: string): unknown {
    return this.calls.findLast((call) => call.name === name)?.given
  }

  #thread(threadId: string): ThreadView {
    const view = this.views.get(threadId)
    if (!view) throw new HeddleError('not_found', `Thread with ID ${threadId} not found.`)
    return view
  }

  async create(tenant: string, request: CreateThread): Promise<ThreadView> {
    this.#call('create', request)
    const existing = this.views.get(request.threadId)
    if (existing && request.ifExists === 'do_nothing') return existing
    if (existing) throw new HeddleError('exists', 'Thread already exists.')
    const view = viewOf(tenant, request.threadId, request.metadata, '{}')
    this.views.set(request.threadId, view)
    return view
  }

  async get(_tenant: string, threadId: string): Promise<ThreadView> {
    this.#call('get', threadId)
    return this.#thread(threadId)
  }

  async patch(tenant: string, threadId: string, metadata: Record<string, unknown>) {
    this.#call('patch', metadata)
    const { row, values } = this.#thread(threadId)
    const before = JSON.parse(row.metadataJson) as object
    const { row: { metadataJson } } = viewOf(tenant, threadId, { ...before, ...metadata })
    const view = { values, row: { ...row, metadataJson } }
    this.views.set(threadId, view)
    return view
  }

  async delete(_tenant: string, threadId: string): Promise<void> {
    this.#call('delete', threadId)
    this.#thread(threadId)
    this.views.delete(threadId)
  }

  async discard(_tenant: string, threadId: string): Promise<void> {
    this.#call('discard', threadId)
    this.views.delete(threadId)
  }

  async copy(tenant: string, threadId: string,
    { checkpointId }: CopyOptions = {}): Promise<ThreadView> {
    this.#call('copy', checkpointId ?? threadId)
    const copy = viewOf(tenant, '00000000-0000-4000-8000-00000000c0b1', {})
    return { ...copy, values: this.#thread(threadId).values }
  }

  async search<Found>(query: ThreadQuery & ValuesFilter,
    found: (view: ThreadView) => Found | Promise<Found>) {
    this.#call('search', query)
    const all = [...this.views.values()].filter(({ row }) => matches(row, query))
    const page = all.slice(query.offset, query.offset + query.limit)
    const threads: Found[] = []
    for (const view of page) {
      this.shown++
      threads.push(await found(view))
    }
    return { threads, total: all.length }
  }

  async count(filter: ThreadFilter & ValuesFilter): Promise<number> {
    this.#call('count', filter)
    return [...this.views.values()].filter(({ row }) => matches(row, filter)).length
  }

  async state(_tenant: string, threadId: string, query: StateQuery): Promise<string> {
    this.#call('state', query)
    return `{"values": ${this.#thread(threadId).values}, "next": []}`
  }

  async *history(_tenant: string, threadId: string, query: HistoryQuery,
    cancelled?: AbortSignal): AsyncGenerator<HistoryPart, void, void> {
    this.#call('history', query)
    this.#thread(threadId)
    yield* this.historyOf(cancelled)
  }

  async prune(_tenant: string, threadId: string): Promise<void> {
    this.#thread(threadId)
    this.views.delete(threadId)
  }

  async patchState(_tenant: string, threadId: string): Promise<void> {
    this.#thread(threadId)
  }

  async storage(_tenant: string, threadId: string): Promise<string> {
    this.#thread(threadId)
    return '{}'
  }

  async updateState(_tenant: string, threadId: string, update: StateUpdate): Promise<string> {
    this.#call('updateState', update)
    this.#thread(threadId)
    return '{"checkpoint":{},"checkpoint_id":"c"}'
  }

  async startRun(tenant: string, threadId: string, run: StartRun): Promise<RunRow> {
    this.#call('startRun', run)
    if (this.refusedStart) throw this.refusedStart
    await this.disk
    const known = [...this.runs.values()].find(({ row, start }) =>
      row.threadId === threadId &&
      start.commandId !== '' && start.commandId === run.commandId
    )
    if (known) return known.row
    if (!this.views.has(threadId)) {
      if (run.ifMissing === 'reject') this.#thread(threadId)
      if (run.plan.keptMinutes !== undefined) {
        this.views.set(threadId, viewOf(tenant, threadId, run.metadata))
      }
    }
    const made = new FakeRun(tenant, threadId, run)
    this.runs.set(run.runId, made)
    return made.row
  }

  /** The run that was started last. */
  get lastRun(): FakeRun {
    return [...this.runs.values()].at(-1)!
  }

  #run(threadId: string, runId: string): FakeRun {
    const run = this.runs.get(runId)
    if (!run || run.row.threadId !== threadId) {
      throw new HeddleError('not_found', `Run ${runId} not found.`)
    }
    return run
  }

  async runLogs(_tenant: string, _threadId: string, runId: string): Promise<LoggedLines> {
    this.#call('runLogs', runId)
    return { lines: [], dropped: 0, truncated: false }
  }

  /** Answer of `runGraphs` for every run. */
  graphs: Omit<RunGraphs, 'graphId'> = { graphs: [], isCut: false }

  async runGraphs(_tenant: string, threadId: string, runId: string): Promise<RunGraphs> {
    this.#call('runGraphs', runId)
    return { graphId: this.#run(threadId, runId).start.graphId, ...this.graphs }
  }

  /** Answer of `runEffects` for every run. */
  effects: RunEffects = { effects: [], isCut: false }

  async runEffects(_tenant: string, _threadId: string, runId: string): Promise<RunEffects> {
    this.#call('runEffects', runId)
    return this.effects
  }

  async replayBase(): Promise<{}> {
    return {}
  }

  async getRun(_tenant: string, threadId: string, runId: string): Promise<RunRow> {
    this.#call('getRun', runId)
    return this.#run(threadId, runId).row
  }

  async listRuns(query: RunQuery): Promise<RunRow[]> {
    this.#call('listRuns', query)
    this.#thread(query.threadId)
    return [...this.runs.values()].map(({ row }) => row).toReversed()
  }

  async cancelRun(_tenant: string, threadId: string, runId: string, cancel: CancelRun) {
    this.#call('cancelRun', cancel)
    const run = this.#run(threadId, runId)
    run.cancelled.resolve(cancel)
    run.end('{"cancelled":true}')
  }

  /** Any task takes it. */
  async changePush(_tenant: string, threadId: string, change: PushChange): Promise<void> {
    this.#call('changePush', change)
    const { row } = this.#thread(threadId)
    const { taskId } = change
    const id = change.kind === 'set' ? change.config.id : change.id
    const others = (row.push?.configs ?? []).filter((each) =>
      each.taskId !== taskId || each.id !== id
    )
    row.push = { waitingRunId: '', waitingTaskId: '',
      configs: [...others, ...change.kind === 'set' ? [change.config] : []] }
  }

  async deleteRun(_tenant: string, threadId: string, runId: string): Promise<void> {
    this.#call('deleteRun', runId)
    this.#run(threadId, runId)
    this.runs.delete(runId)
  }

  async startAndWait(tenant: string, threadId: string, run: StartRun): Promise<AwaitedRun> {
    const row = await this.startRun(tenant, threadId, run)
    return { row, result: (cancelled) => this.joinRun(tenant, row.threadId, row.runId, cancelled) }
  }

  joinRun(_tenant: string, threadId: string, runId: string,
    cancelled?: AbortSignal): Promise<string> {
    this.#call('joinRun', cancelled)
    return this.#run(threadId, runId).result.promise
  }

  async followRun(_tenant: string, threadId: string, runId: string, follow: FollowRun,
    listener: FeedListener): Promise<() => void> {
    this.#call('followRun', follow)
    await this.owner
    return this.#run(threadId, runId).follow(follow, listener)
  }

  async followThread(tenant: string, threadId: string, { afterSeq }: WatchThread,
    listener: ThreadEventListener): Promise<() => void> {
    this.#call('followThread', { threadId, afterSeq })
    await this.owner
    return this.eventsOf(tenant, threadId).follow(afterSeq, listener)
  }

  /** The events of a thread, which need not exist. */
  eventsOf(tenant: string, threadId: string): FakeEvents {
    const key = `${tenant} ${threadId}`
    const events = this.#events.get(key) ?? new FakeEvents()
    this.#events.set(key, events)
    return events
  }
}

/** The events of one thread, and who follows them. */
export class FakeEvents {
  readonly listeners = new Set<ThreadEventListener>()
  readonly #kept: ThreadEvent[] = []

  follow(afterSeq: number | null, listener: ThreadEventListener): () => void {
    this.listeners.add(listener)
    const past = this.#kept.filter(({ seq }) => seq > (afterSeq ?? -1))
    if (past.length > 0) listener.events(past)
    return () => this.listeners.delete(listener)
  }

  notify(batch: readonly ThreadEvent[]): void {
    this.#kept.push(...batch)
    for (const listener of this.listeners) listener.events(batch)
  }
}

/** A root event of a thread with this `seq`. */
export function threadEvent(seq: number, fields: Partial<ThreadEvent> = {}): ThreadEvent {
  return { id: `e${seq}`, seq, runId: 'r', method: 'values', namespace: [], timestampMs: 1_000,
    data: '{}', ...fields }
}

export class FakeRun {
  readonly row: RunRow
  readonly start: StartRun
  result = Promise.withResolvers<string>()
  readonly cancelled = Promise.withResolvers<CancelRun>()
  readonly listeners = new Set<FeedListener>()
  /** Resolves when the last listener has gone. */
  readonly left = Promise.withResolvers<void>()
  #events: FeedEvent[] = []
  #ended = false

  constructor(tenant: string, threadId: string, start: StartRun) {
    this.start = start
    this.row = {
      tenant,
      threadId,
      runId: start.runId,
      assistantId: start.assistantId,
      createdAtMs: atMs,
      updatedAtMs: atMs,
      status: 'pending',
      multitaskStrategy: start.strategy,
      metadataJson: JSON.stringify(start.metadata),
      kwargsJson: JSON.stringify(start.kwargs),
      planJson: JSON.stringify(start.plan),
      notBeforeMs: start.afterMs && atMs + start.afterMs,
      attempt: 1,
      baseCheckpointId: '',
      started: false,
      startedAtMs: 0,
      errorJson: '',
      ownerDeaths: 0,
      suspect: false,
      finalCheckpointId: '',
      interruptsJson: '',
      commandId: start.commandId,
      createdSeq: 1,
      firstSeq: 1,
      lastSeq: 1,
    }
    const { runId: run_id } = start
    this.notify([{ id: '0', name: 'metadata', json: JSON.stringify({ run_id, attempt: 1 }) }])
    this.result.promise.catch(() => {})
  }

  follow({ after }: FollowRun, listener: FeedListener): () => void {
    this.listeners.add(listener)
    const from = this.#events.findIndex(({ id }) => id === after) + 1
    if (from < this.#events.length) listener.events(this.#events.slice(from))
    if (this.#ended) listener.ended('over')
    return () => {
      this.listeners.delete(listener)
      if (this.listeners.size === 0) this.left.resolve()
    }
  }

  notify(batch: readonly FeedEvent[]): void {
    this.#events.push(...batch)
    for (const listener of this.listeners) listener.events(batch)
  }

  /** Rejects all that wait for the result; later callers wait for a new one. */
  interrupt(reason: HeddleError): void {
    const { reject } = this.result
    this.result = Promise.withResolvers<string>()
    reject(reason)
  }

  end(result = '{}', how: 'over' | 'lagged' | 'lost' = 'over'): void {
    this.#ended = true
    this.result.resolve(result)
    for (const listener of this.listeners) listener.ended(how)
  }
}

function matches({ status, metadataJson }: ThreadRow, filter: ThreadFilter): boolean {
  const metadata = JSON.parse(metadataJson) as Record<string, unknown>
  return (filter.status === undefined || filter.status === status) &&
    Object.entries(filter.metadata ?? {}).every(([key, value]) => metadata[key] === value)
}

export function viewOf(tenant: string, threadId: string, metadata: Record<string, unknown>,
  values = '{"messages": [{"content": "one"}, {"content": "two"}]}'): ThreadView {
  return {
    values,
    row: {
      tenant,
      threadId,
      branch: undefined,
      epoch: 1,
      seq: 1,
      createdAtMs: atMs,
      updatedAtMs: atMs,
      stateUpdatedAtMs: atMs,
      status: 'idle',
      metadataJson: JSON.stringify(metadata),
      configJson: '{}',
      errorJson: '',
      interruptsJson: '{}',
      head: undefined,
      hidden: false,
      movedBack: false,
      unfinished: [],
    } as Partial<ThreadRow> as ThreadRow,
  }
}
