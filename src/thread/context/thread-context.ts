/** Context of a thread: its log, its ports, its limits, and its own mailbox. */

import type { ByteBudget, ActorKey, Env } from '../../../cluster/index.ts'
import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import type { Egress } from '../../egress/index.ts'
import type { DeployedGraphs, GraphHost } from '../../graph/index.ts'
import type { CautiousClock, ReadQuota } from '../../limits/index.ts'
import type { RunTable, TimeToLiveRequest } from '../../search/index.ts'
import type { EventStream } from '../feed/event-stream.ts'
import type { ThreadLogPorts } from '../log/thread-log-options.ts'
import type { ThreadLog } from '../log/thread-log.ts'
import type { OwnCommand } from '../model/command.ts'
import { planOf } from '../model/run-request.ts'
import type { RunDue } from '../model/thread-client.ts'
import type { HeldRuns } from './held-runs.ts'
import type { InputQuota, Inputs } from './input-quota.ts'
import type { LatelyRemoved } from './lately-removed.ts'
import type { Quarantine } from './quarantine.ts'
import type { Recoveries } from './recoveries.ts'

/** A run of a task that has ended, for those who are notified of it. */
export interface TaskEnd {
  readonly tenant: string
  /** The first run of the task. */
  readonly first: RunRow
  readonly run: RunRow
  /** The interrupts with which the task waits; undefined if it has ended. */
  readonly asks: readonly unknown[] | undefined
  /** True if the run ended with a question that nobody answers any more. */
  readonly isGivenUp: boolean
  /** The state when it ended; undefined if there is none. */
  readonly values: JsonText | undefined
  /** The version of A2A whose form it has. */
  readonly dialect: string
}

/** Services of the member that threads use. */
export interface ThreadPorts extends ThreadLogPorts {
  readonly runs: RunTable
  /** The server's own project. */
  readonly host: GraphHost
  /** The graphs of deployments; undefined for a server without them. */
  readonly deployed?: DeployedGraphs
  readonly env: Env
  readonly limits: ThreadLimits
  /** Shared by all threads of this member: inputs of runs and edits that are not over. */
  readonly inputs: InputQuota
  /** Threads that are loaded because searches wait for them; by default there are none. */
  readonly recoveries?: Pick<Recoveries, 'has'>
  /** Stateless runs that this member keeps back from the disk; undefined if it keeps back none. */
  readonly heldRuns?: HeldRuns
  /** Shared by all reads of this member. */
  readonly reads: ReadQuota
  /** Shared by all threads of this member: what feeds of finished runs may remember. */
  readonly feeds: ByteBudget<EventStream>
  /** Place where runs of this member wait that may have made a process die. */
  readonly quarantine: Quarantine
  /** Unique in this process. */
  readonly nextExecutionId: () => number
  /** The way out, to webhooks. */
  readonly egress: Pick<Egress, 'send'>
  /**
   * Resolves when the traces of these runs, which are deleted or rolled back, cannot be found any
   * more. Called before they are; by default, they have no traces.
   */
  readonly runsGone?: (tenant: string, runs: readonly RunRow[]) => Promise<void>
  /** A run's record as the API shows it: a JSON object. */
  readonly showRun: (run: RunRow) => JsonText
  /** The notification of a task when one of its runs has ended; by default there is none. */
  readonly showTask?: (end: TaskEnd) => Promise<JsonText>
  /**
   * Notes that a sleeping thread is due at this time, so that the member wakes it. Undefined if
   * nothing wakes threads: those with delayed runs stay awake then.
   */
  readonly wakeAt?: (atMs: number) => void
  /**
   * Has the thread expire after that time, though it leaves the memory now. False if too many have
   * left: then it stays, as it does where this is undefined.
   */
  readonly expireAfter?: (tenant: string, threadId: string, ms: number) => boolean
  /** True if the thread expires though it is not in memory. */
  readonly expiresLater?: (tenant: string, threadId: string) => boolean
  /** Decides when a thread whose time to live has ended is deleted; by default the clock. */
  readonly cautiousNowMs?: CautiousClock
  /** The time to live of new threads that ask for none; undefined for no end. */
  readonly defaultTimeToLive?: (tenant: string) => TimeToLiveRequest | undefined
  /**
   * Resolves to true if a due time is settled; by default it is. The thread of its run stays until
   * then: without it the cron would fire again.
   */
  readonly isSettled?: (tenant: string, due: RunDue) => Promise<boolean>
  /** Sends a command to another thread. */
  readonly ask: (key: ActorKey, command: unknown) => Promise<unknown>
}

/** Bounds of one thread: its runs, its edits and its webhooks. */
export interface ThreadLimits {
  /** Runs that may wait on one thread. */
  readonly pendingRuns: number
  /** Characters of their inputs, which stay in memory until they have ended. */
  readonly pendingCharacters: number
  /** Idempotency-Keys of the last 24 hours that are kept for one thread. */
  readonly keys: number
  /** State edits that may wait on one thread. */
  readonly pendingEdits: number
  /** Time for which a stateless run's thread is kept: clients may come to read its events. */
  readonly retentionMs: number
  /** An edit runs no node: one that takes longer hangs in a reducer. */
  readonly editMs: number
  /** Webhooks that one thread may owe: with more, the oldest are given up. */
  readonly owedWebhooks: number
}

/** The limits of a server without other settings. */
export const defaultLimits: ThreadLimits = {
  pendingRuns: 100,
  pendingCharacters: 64 * 1024 * 1024,
  keys: 2_000,
  pendingEdits: 100,
  retentionMs: 60_000,
  editMs: 30_000,
  owedWebhooks: 100,
}

/** Shared parts of one activation. */
export interface ThreadContext {
  readonly ports: ThreadPorts
  readonly threadLog: ThreadLog
  readonly tenant: string
  readonly threadId: string
  /** The room that the tenant's threads share with those of others. */
  readonly inputs: Inputs
  readonly removed: LatelyRemoved
  notify(command: OwnCommand): void
  /** Ends this activation unless it is occupied. */
  sleep(onceReplied?: boolean): void
  /** Ends this activation: the state in memory is no longer what the log says. */
  fail(reason: unknown): void
}

/** Leaves out the message, which may hold secrets: the run's own record has it. */
export function logFailure({ ports: { env }, threadId }: ThreadContext,
  run: Pick<RunRow, 'runId' | 'attempt' | 'planJson'>, name: string, at?: string): void {
  const { runId, attempt } = run
  const { requestId } = planOf(run)
  env.log.info('A run failed.', { ...requestId !== undefined && { requestId }, threadId, runId,
    attempt, reason: name.slice(0, 100), ...at !== undefined && { at } })
}

/** The time by which threads are deleted whose time to live has ended. */
export function cautiousNowMs({ ports: { cautiousNowMs: clock, env } }: ThreadContext): number {
  return clock?.() ?? env.nowMs()
}
