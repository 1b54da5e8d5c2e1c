/** Operations on runs, the same for every wire. */

import { v5 } from 'uuid'

import type { Env, Tracing } from '../../../cluster/index.ts'
import type { AssistantRow, RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { BatchRun, CancelRun, CancelRuns, CreateRun, CreateStatelessRun, ListRuns, ReadRunLogs,
  SearchRuns } from '../../api/index.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'
import type { GraphHost, GraphHosts } from '../../graph/index.ts'
import { longJson } from '../../json/index.ts'
import type { LongJson } from '../../json/index.ts'
import type { Quotas, ReadQuota } from '../../limits/index.ts'
import type { MetadataFilter, RunSearch, RunText } from '../../search/index.ts'
import type { AwaitedRun, FeedListener, PushChange, RunGraphs, StartRun, ThreadClient,
  WatchRun } from '../../thread/index.ts'
import { invalid } from '../schema/validation.ts'
import type { AssistantOperations } from './assistants.ts'
import { cancelAll, cancelSome, countAll } from './cancel-runs.ts'
import { breakpointFaults, commandNameFaults, revisionHeader, runOnThread,
  statelessRun } from './run-request.ts'
import type { RunAssistant, RunCaller } from './run-request.ts'
import { effectsJson, logsJson, unlessHidden } from './run-details.ts'
import { searchRuns, threadOfRun } from './run-search.ts'
import type { FoundRunPage, RunSearchParts } from './run-search.ts'
import { filterOfMany } from './thread-filter.ts'
import { isThere } from './threads.ts'
import { requireWebhook } from './webhook-check.ts'
import type { WebhookCheck } from './webhook-check.ts'

/** The part of `OperationParts` that operations on runs use, with those on assistants. */
export interface RunOperationParts {
  readonly threads: ThreadClient
  readonly assistants: AssistantOperations
  readonly graphs: GraphHosts
  readonly egress: WebhookCheck
  readonly json: LongJson
  readonly env: Env
  readonly quotas: Pick<Quotas, 'within'>
  readonly runIndex: RunSearch
  readonly reads: ReadQuota
  /** Undefined if nothing is traced. */
  readonly tracing?: Tracing
}

/** Names a run. The thread of a stateless run has the run's own id. */
export interface RunName {
  readonly threadId: string
  readonly runId: string
}

/** A run to start, and where. */
export interface RunOnThread {
  readonly threadId: string
  readonly run: StartRun
}

/** Action that cancels a run, and the reason if it is not that a client asked for it. */
export interface CancelRequest extends Pick<CancelRun, 'action'> {
  readonly reason?: CancelRun['reason'] | 'disconnected'
}

/** The name of a run. */
export function nameOf({ threadId, runId }: RunRow): RunName {
  return { threadId, runId }
}

/** Fields of a listed run that may be long, with their names in the row. */
const textsOf = [['metadata', 'metadataJson'], ['kwargs', 'kwargsJson']] as const

/** UUID namespace in which Idempotency-Keys become ids of stateless runs. */
const repeatNamespace = '3f0b6f1e-5a0f-4d6a-9c55-6f3a3d1f0c11'

/** The id that each repeat of a request has, by what tells the request from others. */
export function idOfRepeat(tenant: string, key: string): string {
  return v5(`${tenant}\n${key}`, repeatNamespace)
}

/** Operations on runs. Every wire calls the same ones, with the tenant of its caller. */
export class RunOperations {
  readonly #threads: ThreadClient
  readonly #assistants: AssistantOperations
  readonly #graphs: GraphHosts
  readonly #egress: WebhookCheck
  readonly #json: LongJson
  readonly #env: Env
  readonly #quotas: Pick<Quotas, 'within'>
  readonly #tracing: Tracing | undefined
  readonly #finding: RunSearchParts

  constructor(parts: RunOperationParts) {
    this.#finding = parts
    const { threads, assistants, graphs, egress, json, env, quotas, tracing } = parts
    this.#quotas = quotas
    this.#tracing = tracing
    this.#threads = threads
    this.#assistants = assistants
    this.#graphs = graphs
    this.#egress = egress
    this.#json = json
    this.#env = env
  }

  /**
   * Starts a run. Resolves as `startRun` of the thread does. The run continues without listeners.
   */
  async create(tenant: string, threadId: string, body: CreateRun,
    caller: RunCaller): Promise<RunRow> {
    return this.start(tenant, await this.#onThread(tenant, threadId, body, caller))
  }

  /** As `create`, for a caller that follows the thread: the run produces its events as well. */
  async createForThread(tenant: string, threadId: string, body: CreateRun, caller: RunCaller,
    options: Pick<StartRun, 'answersIfWaiting' | 'resumeOnly'>): Promise<RunRow> {
    const { run } = await this.#onThread(tenant, threadId, body, caller)
    const plan = { ...run.plan, threadEvents: true, isAwaited: true } as const
    return this.start(tenant, { threadId, run: { ...run, ...options, plan } })
  }

  /**
   * Puts a message for the run that executes into the queue of its thread. Throws `unsupported` if
   * the graph has no messages, and `not_found` if no run executes.
   */
  async inject(tenant: string, threadId: string, body: CreateRun,
    caller: RunCaller): Promise<RunRow> {
    const { run } = await this.#onThread(tenant, threadId, body, caller)
    const { channels } = this.#graphs.of(tenant).describe(run.graphId) ?? {}
    if (channels !== undefined && !channels.includes('messages')) {
      throw new HeddleError('unsupported', 'The graph of this run has no `messages`.')
    }
    const plan = { ...run.plan, threadEvents: true, injects: true } as const
    return this.start(tenant, { threadId, run: { ...run, plan } })
  }

  /** As `create`, for a caller that waits for the result. */
  async createAndWait(tenant: string, threadId: string, body: CreateRun,
    caller: RunCaller): Promise<AwaitedRun> {
    return this.#startAndWait(tenant, await this.#onThread(tenant, threadId, body, caller))
  }

  /**
   * Starts a stateless run. A repeat with the same Idempotency-Key finds the same hidden thread.
   */
  async createStateless(tenant: string, body: CreateStatelessRun,
    caller: RunCaller): Promise<RunRow> {
    return this.start(tenant, await this.#stateless(tenant, body, caller))
  }

  /** As `createStateless`, for a caller that waits for the result. */
  async createStatelessAndWait(tenant: string, body: CreateStatelessRun,
    caller: RunCaller): Promise<AwaitedRun> {
    return this.#startAndWait(tenant, await this.#stateless(tenant, body, caller))
  }

  /** Checks a run of a batch. The result starts it. */
  async prepare(tenant: string, { thread_id: threadId, ...body }: BatchRun,
    caller: RunCaller): Promise<() => Promise<RunRow>> {
    const asked = threadId == null
      ? await this.#stateless(tenant, body, caller)
      : await this.#onThread(tenant, threadId, body, caller)
    return () => this.start(tenant, asked)
  }

  get(tenant: string, run: RunName): Promise<RunRow> {
    return this.#threads.getRun(tenant, run.threadId, run.runId).catch(unlessHidden(run))
  }

  /** The graph of a run and its subgraphs. */
  graphsOf(tenant: string, run: RunName, cancelled?: AbortSignal): Promise<RunGraphs> {
    return this.#threads.runGraphs(tenant, run.threadId, run.runId, cancelled)
      .catch(unlessHidden(run))
  }

  /** Effects of a run, as JSON of the API. */
  async effects(tenant: string, run: RunName, cancelled?: AbortSignal): Promise<JsonText> {
    const { threadId, runId } = run
    const found = this.#threads.runEffects(tenant, threadId, runId, cancelled)
    return effectsJson(await found.catch(unlessHidden(run)))
  }

  /** Lines that the code of a run wrote to the console, as JSON of the API. */
  async logs(tenant: string, run: RunName, { limit = 100, after }: ReadRunLogs): Promise<JsonText> {
    const page = { limit, after }
    return logsJson(await this.#threads.runLogs(tenant, run.threadId, run.runId, page))
  }

  /** Runs of a thread, newest first. */
  async list(tenant: string, threadId: string, request: ListRuns,
    cancelled?: AbortSignal): Promise<RunRow[]> {
    const { limit = 10, offset = 0, status, select } = request
    const texts = textsOf.filter(([name]) => !select || select.includes(name))
      .map(([, text]) => text)
    return this.#threads.listRuns({ tenant, threadId, status, limit, offset, texts }, cancelled)
  }

  /** Runs of the tenant, newest first. `allowed`: only of threads that the caller may see. */
  search(tenant: string, request: SearchRuns, cancelled?: AbortSignal, allowed?: MetadataFilter,
    texts?: readonly RunText[]): Promise<FoundRunPage> {
    return searchRuns(this.#finding, tenant, request, cancelled, allowed, texts)
  }

  /** A run that is known by its id alone. Throws `not_found`. */
  async find(tenant: string, runId: string): Promise<RunRow> {
    const threadId = await threadOfRun(this.#finding, tenant, runId)
    if (threadId === undefined) throw new HeddleError('not_found', `Run ${runId} not found.`)
    return await this.get(tenant, { threadId, runId })
  }

  /** Cancels a run. Resolves when it has ended. */
  async cancel(tenant: string, run: RunName, { action = 'interrupt', reason: cause }: CancelRequest,
    allowed?: MetadataFilter): Promise<void> {
    if (cause === 'taken' && action !== 'interrupt') {
      throw invalid([{ field: 'reason', message: 'goes with the action interrupt only' }])
    }
    await this.#threads.cancelRun(tenant, run.threadId, run.runId, { action,
      ...cause && { cause } }, allowed)
      .catch(unlessHidden(run))
  }

  /**
   * Returns a function that cancels the run of a client that has left, unless the client has
   * repeated its request since this call.
   */
  abandoner(tenant: string, { threadId, runId }: RunName): () => Promise<void> {
    const startMs = this.#env.monotonicMs()
    return () =>
      this.#threads.cancelRun(tenant, threadId, runId, { action: 'interrupt', cause: 'disconnected',
        openMs: this.#env.monotonicMs() - startMs })
  }

  /**
   * Cancels some runs of a thread, or all of the tenant's that have a status or whose threads match
   * a filter: of these, the `allowed` ones. Of a dry run, the number of runs that would be
   * cancelled.
   */
  async cancelMany(tenant: string,
    { thread_id: threadId, run_ids: runIds, status, filter, dry_run }: CancelRuns,
    { action = 'interrupt' }: Pick<CancelRun, 'action'>,
    allowed?: MetadataFilter): Promise<number | undefined> {
    const cancel = { action }
    if (threadId == null && runIds == null && (status ?? filter) != null) {
      const options = { status: status ?? 'all', cancel, allowed,
        ...filter != null && { filter: filterOfMany(tenant, filter) } }
      if (dry_run === true) return countAll(this.#threads, tenant, options)
      return void await cancelAll(this.#threads, tenant, options)
    }
    if ((status ?? filter) != null || dry_run === true || threadId == null || runIds == null) {
      throw invalid([{ field: '', message: 'Send either thread_id and run_ids, or status, or ' +
        'filter; a dry run takes one of the latter two' }])
    }
    const some = { runIds, cancel, allowed }
    if (await cancelSome(this.#threads, tenant, threadId, some)) return undefined
    throw new HeddleError('not_found', `None of these runs was found on thread ${threadId}.`)
  }

  delete(tenant: string, run: RunName, allowed?: MetadataFilter): Promise<void> {
    return this.#threads.deleteRun(tenant, run.threadId, run.runId, allowed)
      .catch(unlessHidden(run))
  }

  /** Resolves with the result when the run has ended: an object as JSON text. */
  join(tenant: string, run: RunName, cancelled?: AbortSignal): Promise<JsonText> {
    return this.#threads.joinRun(tenant, run.threadId, run.runId, cancelled)
      .catch(unlessHidden(run))
  }

  async #onThread(tenant: string, threadId: string, body: CreateRun,
    caller: RunCaller): Promise<RunOnThread> {
    const assistant = await this.assistantFor(tenant, body, caller)
    const ids = { runId: caller.runId ?? this.#env.uuid7(), threadId }
    return { threadId, run: runOnThread(body, assistant, ids, caller) }
  }

  async #stateless(tenant: string, body: CreateStatelessRun,
    caller: RunCaller): Promise<RunOnThread> {
    const assistant = await this.assistantFor(tenant, body, caller)
    const newId = () =>
      caller.commandId === ''
        ? this.#env.uuid7()
        : idOfRepeat(tenant, caller.commandId)
    const runId = caller.runId ?? newId()
    const run = statelessRun(body, assistant, { runId, threadId: runId }, caller)
    return { threadId: runId, run }
  }

  /** Throws for a body that no run can be made of, or one that does not do all that it says. */
  async check(tenant: string, body: CreateRun): Promise<Pick<AssistantRow, 'assistantId'>> {
    const assistant = await this.assistantFor(tenant, body, { warn: (faults) => {
      throw invalid(faults)
    } })
    const ids = { runId: this.#env.uuid(), threadId: this.#env.uuid() }
    runOnThread(body, assistant, ids, { commandId: '', headers: {} })
    return assistant.row
  }

  /**
   * The assistant of a run. Throws `invalid` for a body that does not fit it, and for a `revision`
   * that its deployment does not have.
   */
  async assistantFor(tenant: string, body: CreateRun,
    { revision, warn }: Pick<RunCaller, 'revision' | 'warn'> = {}): Promise<RunAssistant> {
    await requireWebhook({ egress: this.#egress, graphs: this.#graphs }, tenant, body.webhook)
    if (revision !== undefined) await this.#requireRevision(tenant, revision)
    const assistant = await this.#assistant(tenant, body.assistant_id, revision)
    const unreached = requireNamesKnown(this.#graphs.of(tenant, revision), assistant.row, body)
    if (unreached.length > 0) {
      // First: whoever refuses them starts no run.
      warn?.(unreached)
      this.#env.log.warn('A run has breakpoints that it never reaches.', { tenant,
        assistant: assistant.row.assistantId, faults: unreached })
    }
    return assistant
  }

  async #requireRevision(tenant: string, revision: string): Promise<void> {
    await this.#graphs.open(tenant)
    if (this.#graphs.hasRevision(tenant, revision)) return
    throw invalid([{ field: revisionHeader,
      message: 'names no revision of this deployment that can be loaded' }])
  }

  async #assistant(tenant: string, name: string, revision?: string): Promise<RunAssistant> {
    const row = await this.#assistants.get(tenant, name, revision)
    const { contextJson: text } = row
    if (text.length <= longJson) return { row, context: JSON.parse(text || '{}') }
    const bytes = Buffer.from(`{"context":${text}}`)
    const read = await this.#json.read(tenant, { what: 'The assistant', bytes,
      carried: { context: 1 } })
    return { row, context: (read as { readonly context: unknown }).context }
  }

  /** Says whom to notify of a task from now on. Throws as the thread does. */
  changePush(tenant: string, { threadId }: Pick<RunName, 'threadId'>, change: PushChange,
    allowed?: MetadataFilter): Promise<void> {
    return this.#quotas.within(tenant, {},
      () => this.#threads.changePush(tenant, threadId, change, allowed))
  }

  get webhooks(): WebhookCheck {
    return this.#egress
  }

  /** Starts a run, within the quotas of the tenant. */
  start(tenant: string, asked: RunOnThread): Promise<RunRow> {
    return this.#within(tenant, asked, (run) => this.#threads.startRun(tenant, asked.threadId, run))
  }

  #startAndWait(tenant: string, asked: RunOnThread): Promise<AwaitedRun> {
    return this.#within(tenant, asked,
      (run) =>
        this.#threads.startAndWait(tenant, asked.threadId, { ...run,
          plan: { ...run.plan, isAwaited: true } }))
  }

  #within<Made>(tenant: string, { threadId, run }: RunOnThread,
    start: (run: StartRun) => Promise<Made>): Promise<Made> {
    const isDelayed = run.afterMs > 0
    return this.#quotas.within(tenant, {
      ...isDelayed ? { delayedRuns: 1 } : { runs: 1 },
      // A thread that may be kept counts from the start: nothing asks again when it is.
      ...run.plan.keptMinutes !== undefined && { threads: 1 },
      ...run.ifMissing === 'create' && {
        threads: 1,
        exists: () => isThere(this.#threads, tenant, threadId),
      },
    }, () => start(this.#traced(run)))
  }

  /** Adds the current trace, so that the execution becomes part of it. */
  #traced(run: StartRun): StartRun {
    const trace = this.#tracing?.current()
    return trace ? { ...run, plan: { ...run.plan, trace } } : run
  }

  follow(tenant: string, run: RunName, watch: WatchRun,
    listener: FeedListener): Promise<() => void> {
    return this.#threads.followRun(tenant, run.threadId, run.runId, watch, listener)
      .catch(unlessHidden(run))
  }
}

/**
 * Throws `invalid` for a command to nodes and channels that the graph of the assistant does not
 * have. Returns the faults of breakpoints: a run with them starts, as on other servers.
 */
function requireNamesKnown(graphs: GraphHost, { graphId }: Pick<AssistantRow, 'graphId'>,
  body: CreateRun): ReturnType<typeof breakpointFaults> {
  const { nodes = [], channels } = graphs.describe(graphId) ?? {}
  if (channels === undefined) return []
  const faults = commandNameFaults(body, { nodes, channels })
  if (faults.length > 0) throw invalid(faults)
  return breakpointFaults(body, { nodes, channels })
}
