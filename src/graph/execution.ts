/** The interface of threads and the graph host: executions, batches, outcomes, questions. */

import type { Checkpoint, Writes } from '../../proto/gen/storage/v1/log.ts'
import type { CheckpointSource, JsonText } from '../checkpoint/index.ts'
import type { AppUser, OpenedApp, ProjectApp } from './app/project-app.ts'
import type { LinePage, LoggedLines, LoggedRun } from './logs/run-logs.ts'
import type { ReplayOrder } from './replay-order.ts'
import type { StateSelection } from './state-selection.ts'

export type { CheckpointSource, JsonText, StoredChannel, StoredTuple,
  TupleQuery } from '../checkpoint/index.ts'

/** One piece of work on a thread for a worker. Work that is given out again is a new execution. */
export interface Execution {
  /** Unique in this process. A worker's message about any other execution is dropped. */
  readonly id: number
  readonly tenant: string
  readonly threadId: string
  readonly graphId: string
  /** Empty for an edit. */
  readonly runId: string
  readonly attempt: number
  /** Number of the run's start, from 1; missing for an edit. */
  readonly start?: number
  /** The thread's head; null for none. A worker drops its memory of another head. */
  readonly headId: string | null
  /**
   * The execution that wrote the newest steps of the thread; null if it is unknown. A
   * worker uses its memory of this execution only, because resume values and effect notes are
   * written on the head without a change of its id. Missing if no other worker writes to the
   * thread, as in a replay.
   */
  readonly lastExecution?: number | null
  /** The trace that it is part of; missing if nothing is traced. */
  readonly trace?: string
  /** True if it may end the process that it runs in, so that it gets one of its own. */
  readonly apart?: boolean
  /** True if a caller waits for the result. Such work takes every other turn before the rest. */
  readonly isAwaited?: boolean
  /** Set if it is to stop for messages as soon as it may. */
  takesMessages?: boolean
  /** Set if it stops as soon as its input is in the state, without executing a node. */
  stops?: boolean
  /** Key with which the run's code calls its own server; missing where callers need no keys. */
  readonly ownKey?: string
  /** The revision of its deployment that executes it; missing outside of deployments. */
  readonly revision?: string
  /** The user who started the run, as the login of the project made it; it goes to no worker. */
  readonly user?: AppUser
  /** The recording of the run that it replays, in a process that replays. */
  readonly replay?: ReplayOrder
  readonly request: RunRequest | EditRequest
}

/**
 * A run. Input or a command goes in, supersteps and events come out. Everything is as the client
 * sent it, checked in shape only.
 */
export interface RunRequest {
  readonly kind: 'run'
  /** `null` continues from the head, which a resumed attempt does as well. */
  readonly input: JsonText
  /** `{resume?, update?, goto?}`; null without one. A resumed attempt gets the answer alone. */
  readonly command: JsonText | null
  /**
   * Ids of interrupts that earlier attempts raised after using the answer; null if none used it.
   */
  readonly asked: readonly string[] | null
  /** True if an earlier attempt has decided about an effect by its resume value. */
  readonly decided?: boolean
  /** RunnableConfig: `{tags?, recursion_limit?, metadata, configurable}` with the ids in it. */
  readonly config: JsonText
  readonly context: JsonText | null
  /** Stream modes of the API, `messages` and `messages-tuple` included. */
  readonly streamModes: readonly string[]
  readonly streamSubgraphs: boolean
  readonly interruptBefore: '*' | readonly string[] | null
  readonly interruptAfter: '*' | readonly string[] | null
  readonly durability: 'sync' | 'async' | 'exit'
  /** Checkpoint to fork from; null for the head. */
  readonly checkpoint: CheckpointSelector | null
  /** For a later attempt: events that are in the log already and are not emitted again. */
  readonly emitted: readonly EmittedEvent[]
  /** Make events of protocol v2 as well, for followers of the whole thread. */
  readonly threadEvents?: boolean
}

/** Names a checkpoint. Without an id it means the newest one of the namespace. */
export interface CheckpointSelector {
  readonly checkpointId: string | null
  readonly checkpointNs: string
  readonly checkpointMap: Readonly<Record<string, string>> | null
}

/** A durable event that an earlier attempt emitted since the head checkpoint. */
export interface EmittedEvent {
  readonly name: string
  readonly json: JsonText
  readonly valuesOf: string
}

/** The graph's own updateState: one or several supersteps of values. No node runs. */
export interface EditRequest {
  readonly kind: 'edit'
  readonly config: JsonText
  readonly checkpoint: CheckpointSelector | null
  readonly supersteps: readonly (readonly EditUpdate[])[]
  /** Messages that are added between two supersteps instead: no node counts as their writer. */
  readonly messages?: JsonText
}

/** One update of an edit. */
export interface EditUpdate {
  /** The values as JSON; `null` for an empty step. */
  readonly values: JsonText
  /** `{resume?, update?, goto?}` instead of values; null without one. */
  readonly command: JsonText | null
  /** The node that the update counts as; null lets the engine decide. */
  readonly asNode: string | null
}

/** Work of a worker since its last batch, in order: rows first, then the events they make true. */
export interface StepBatch {
  readonly steps: readonly Step[]
  readonly events: readonly StepEvent[]
  /** The data of events that came without it, in order. */
  readonly texts?: readonly JsonText[]
  /**
   * True if the worker waits until this batch is in the log and with all followers before the next.
   */
  readonly awaited?: boolean
}

/** A part of the log that a superstep made. */
export type Step =
  | { readonly $case: 'checkpoint'; readonly value: Checkpoint }
  | { readonly $case: 'writes'; readonly value: Writes }

/** An event of a run. */
export interface StepEvent {
  /** The SSE event name with the subgraph namespace: `updates`, `updates|sub:…`. */
  readonly name: string
  /** The data as JSON text; empty if `valuesOf` names it, or if it follows in `texts`. */
  readonly json: JsonText
  /** A root checkpoint whose state values are the data; empty otherwise. */
  readonly valuesOf: string
  /**
   * True if it is kept in the log and emitted exactly once. Others may be missed after a failure.
   */
  readonly durable: boolean
}

/**
 * success      the graph ended, or waits for a human (`waiting`)
 * error        the graph threw; final
 * aborted      `abort` was called
 * drained      stopped at a superstep boundary when asked to; resumes elsewhere or later
 */
export type OutcomeStatus = 'success' | 'error' | 'aborted' | 'drained'

/** Result of an execution: its end, and the nodes and interrupts that its thread waits at. */
export interface ExecutionOutcome {
  readonly status: OutcomeStatus
  /** True if tasks are left to do: the thread waits for input. */
  readonly waiting: boolean
  /** `{task id: [{id, value}]}` of the root graph's tasks. */
  readonly interrupts: JsonText
  /** The state values, if completed tasks wrote something that no checkpoint holds yet. */
  readonly values?: JsonText
  /** JSON object of the state values that no checkpoint contains; missing if there are none. */
  readonly untracked?: JsonText
  readonly error: { readonly error: string; readonly message: string } | null
  /**
   * Place in the project where the error was thrown, as `file:line:column`; missing if not known.
   */
  readonly at?: string
  /**
   * The nodes that come next, as paths from the root: `research:ask`. Missing if none do, or if
   * that is not known.
   */
  readonly waitsAt?: readonly string[]
  /** Namespaces of the subgraphs that asked, by interrupt id; missing if the root asked all. */
  readonly askers?: Readonly<Record<string, string>>
  /**
   * True if the tasks that wait have results, resume values, effects or steps of subgraphs. A new
   * checkpoint would drop these, so that no message can be added. Missing if they have none.
   */
  readonly isMidStep?: boolean
  /** JSON of the report of a replay. */
  readonly replay?: JsonText
}

/**
 * crashed     it may have ended its worker, or could not read its thread: costs an attempt
 * displaced   the worker was lost or replaced for another reason: same attempt, another worker
 * full        it filled the memory of a worker that it had to itself: it would do so again
 */
export type LossReason = 'crashed' | 'displaced' | 'full'

/** The thread's side of an execution. Calls come in order; none comes after `ended` or `lost`. */
export interface ExecutionListener {
  /** Resolves when the batch has landed. Rejects if it never will. */
  steps(batch: StepBatch): Promise<void>
  /** Called once with the outcome. The batches before it have been given. */
  ended(outcome: ExecutionOutcome): void
  /** Called once if the execution ended without an outcome. */
  lost(reason: LossReason): void
}

/** A read that needs the engine: which tasks come next, what they wrote, how they failed. */
export type StateQuestion = {
  /** The thread's `configurable`, for a factory that builds its graph from it. */
  readonly configurable: Readonly<Record<string, unknown>>
  readonly select?: StateSelection
} & (
  | { readonly kind: 'state'; readonly ns: string; readonly checkpointId: string | null;
    readonly subgraphs: boolean }
  | { readonly kind: 'history'; readonly ns: string; readonly checkpointId: string | null;
    readonly before: string | null; readonly limit: number;
    readonly filter: Readonly<Record<string, unknown>> | null }
)

/** A StateSnapshot of the engine in the API's shape (api: ThreadState), apart from its values. */
export interface SnapshotAnswer {
  readonly checkpointId: string
  /** `{next, tasks, metadata, created_at, checkpoint, parent_checkpoint}`, or what is selected. */
  readonly json: JsonText
  /** The checkpoint whose stored channels are the values; empty if `values` states them. */
  readonly valuesOf: string
  readonly values: JsonText
}

/** Description of a loaded graph for callers and for other parts of the server. */
export interface GraphDescription {
  readonly graphId: string
  readonly description: string | null
  /**
   * Channels that make the state values, in order. One name alone means the value itself. Null if
   * the graph could not be built for inspection, which means every stored channel.
   */
  readonly stateChannels: readonly string[] | string | null
  /** True if stored channels are the state values, without conversion. */
  readonly plain: boolean
  /** The nodes of the graph itself, without those of its subgraphs. */
  readonly nodes: readonly string[]
  /**
   * The nodes of subgraphs, as paths from the root: `research:ask`. Missing if they are not known:
   * the graph is made for each use, or an earlier version of Heddle described it.
   */
  readonly subgraphNodes?: readonly string[]
  /** The nodes that are graphs themselves, as such paths. Missing as well if not known. */
  readonly subgraphs?: readonly string[]
  /** Channels that a caller may write. Missing if the graph is made for each use. */
  readonly channels?: readonly string[]
  /** True if it cannot be loaded. The log says why. */
  readonly failed?: boolean
  /** Why it cannot be loaded, with the place in the project's code if there is one. */
  readonly failure?: string
}

/** Schemas of a graph, as JSON Schema; null for what is not known. */
export interface GraphSchemas {
  readonly input_schema: unknown
  readonly output_schema: unknown
  readonly state_schema: unknown
  readonly config_schema: unknown
  readonly context_schema: unknown
  /** True while types in TypeScript are being read, which may add to the schemas. */
  readonly types_loading?: boolean
}

/** Values for a factory that builds its graph from them. */
export type Configurable = Readonly<Record<string, unknown>>

/** Why an execution stops: to go on elsewhere or later by default, or to take messages. */
export type PauseReason = 'messages'

/** The graph host as threads and the front door see it. */
export interface GraphHost {
  /** All graphs. It is the same array object until they change. */
  graphs(): readonly GraphDescription[]
  /** One graph; undefined if there is none with this id. */
  describe(graphId: string): GraphDescription | undefined
  /** Starts an execution, at once or when a worker is free. */
  execute(execution: Execution, source: CheckpointSource, listener: ExecutionListener): void
  /**
   * Lets an execution stop at its next superstep, as `drained`, unless it ends before. For messages
   * it stops only where they may be added: after a superstep of the graph itself that has left no
   * call of a tool open.
   */
  pause(executionId: number, why?: PauseReason): void
  /** Ends an execution. Its listener is not called again. Never waits for user code. */
  abort(executionId: number): void
  /**
   * Stops an execution and reports its completed steps, including its input, before `ended`. Never
   * waits for user code. If code blocks the loop of the worker, the report is late: the caller
   * limits its wait and then calls `abort`.
   */
  stop(executionId: number): void
  /** The last lines that the code of a run wrote in this process. */
  logs(run: LoggedRun, page: LinePage): LoggedLines
  /**
   * Answers a question. Throws the reason of `cancelled` once that aborts; the worker then stops as
   * soon as it can.
   */
  ask(graphId: string, threadId: string, question: StateQuestion, source: CheckpointSource,
    cancelled?: AbortSignal): Promise<SnapshotAnswer[]>
  /**
   * Returns the schemas of a graph. `configurable` is for a factory that builds its graph from it.
   * `typesWaitMs` is the time to wait for types of TypeScript. Default: 30 000.
   */
  schemas(graphId: string, configurable?: Configurable, typesWaitMs?: number): Promise<GraphSchemas>
  /** Schemas of the subgraph at `namespace`; of every subgraph if that is null. */
  subgraphSchemas(graphId: string, namespace: string | null, recurse: boolean,
    configurable?: Configurable): Promise<Readonly<Record<string, GraphSchemas>>>
  /** `{nodes, edges}` of the API. `xray` is a depth, or true for all. */
  drawable(graphId: string, xray: boolean | number, configurable?: Configurable): Promise<unknown>
  /** The login and the routes of the project; undefined if it brings neither. */
  app?(): ProjectApp | undefined
  /** Loads them first, for a host whose graphs are not always loaded. Throws `graph_failed`. */
  openApp?(cancelled?: AbortSignal): Promise<OpenedApp>
}
