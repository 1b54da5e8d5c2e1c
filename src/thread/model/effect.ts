/** Effects of a decision beside the log that it writes: plain data. */

import type { Branch, RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import type { FeedEntry } from './feed-entry.ts'
import type { StartRun } from './thread-client.ts'

/**
 * Effects are carried out in their order, in the turn that decided them. Effects that send
 * something to clients do so when the records of their decision are on disk.
 *
 * execute          hand the run to a worker; `woken`: no row of this activation is on disk yet
 * abort            end the execution without waiting for user code
 * close            expect nothing more of the execution
 * pause            let the execution stop at its next superstep
 * stopFor          the same, so that its run goes on with that revision
 * stopForMessages  let it stop between two supersteps at which messages may be added
 *
 * rememberKey      note the run under its caller's key
 * beginFeed        make the feed of a new run
 * resumeFeed       make the feed of a run from an earlier activation; its events end before `seq`
 * publish          send followers events of the run
 * forgetFeed       let later followers read the log
 * endRun           tell followers and waiters that the run has ended, and keep its thread a while
 * endRolledBack    tell followers and waiters that the run was rolled back
 * endTaken         tell those of a message that the run before it has taken it
 * endAll           tell all followers and waiters that the thread was deleted
 * refuseUnwritten  refuse those who wait for the run if its start cannot be written
 * logFailure       note in the server's log why the run failed
 *
 * stopTimer        nothing is waited for
 * wakeIn           look at the queue again after a time
 * wakeAt           look at the queue again at a time; sleep meanwhile if nobody needs the thread
 * holdInputs       account for the inputs of unfinished runs
 * enterQuarantine  wait there until the suspect may start
 * leaveQuarantine  give up the suspect's place
 * watchDeployment  look at the queue again at the next change of the thread's deployment
 *
 * forgetExecution  forget what only the execution needed of the log
 * forgetStates     forget the states that are remembered
 * forgetStatesSoon the same, when the records are on disk
 * retain           keep the thread of a stateless run for a while
 * stopRetention    do not expire
 * awaitWebhooks    expire, or not, when no webhook is owed any more
 * oweWebhook       begin a turn that calls the webhooks that are owed
 * callWebhooks     call the webhooks that are owed, and no others
 * stopWebhooks     call none
 * logGivenUp       note in the server's log that a webhook was given up
 * refuseEdits      end the edit under way and refuse those that wait
 */
export type Effect =
  | { readonly kind: 'execute'; readonly run: RunRow; readonly resumes: boolean;
    readonly woken: boolean; /** The revision that it has stopped for already. */
    readonly stoppedFor?: string | undefined }
  | { readonly kind: 'abort' | 'close' | 'pause' }
  | { readonly kind: 'stopFor'; readonly revision: string }
  | { readonly kind: 'stopForMessages' }
  | { readonly kind: 'rememberKey'; readonly run: Pick<StartRun, 'commandId' | 'runId'> }
  | { readonly kind: 'beginFeed'; readonly run: Pick<StartRun, 'runId' | 'awaited' | 'plan'> }
  | { readonly kind: 'resumeFeed'; readonly run: RunRow; readonly seq: number }
  | { readonly kind: 'publish'; readonly runId: string; readonly entries: readonly FeedEntry[] }
  | { readonly kind: 'forgetFeed'; readonly runId: string }
  | { readonly kind: 'endRun'; readonly run: RunRow;
    /** The state values as the graph gave them, if its checkpoint lacks some. */
    readonly values: JsonText | undefined;
    /** JSON object of the state values that no checkpoint contains. */
    readonly untracked: JsonText | undefined }
  | { readonly kind: 'endRolledBack'; readonly run: RunRow; /** The row that rolls it back. */
    readonly seq: number }
  | { readonly kind: 'endTaken'; readonly runId: string }
  | { readonly kind: 'endAll'; readonly seq: number }
  | { readonly kind: 'refuseUnwritten'; readonly runId: string }
  | { readonly kind: 'logFailure'; readonly run: RunRow; readonly reason: string;
    /** Place in the project at which the error was thrown. */
    readonly at: string | undefined }
  | { readonly kind: 'stopTimer' }
  | { readonly kind: 'wakeIn'; readonly ms: number }
  | { readonly kind: 'wakeAt'; readonly atMs: number }
  | { readonly kind: 'holdInputs'; readonly characters: number }
  | { readonly kind: 'enterQuarantine'; readonly run: RunRow }
  | { readonly kind: 'leaveQuarantine' }
  | { readonly kind: 'watchDeployment' }
  | { readonly kind: 'forgetExecution' | 'forgetStates' | 'forgetStatesSoon' }
  | { readonly kind: 'retain' | 'stopRetention' }
  | { readonly kind: 'awaitWebhooks'; readonly isDue: boolean }
  | { readonly kind: 'oweWebhook' | 'callWebhooks' | 'stopWebhooks' }
  | { readonly kind: 'logGivenUp'; readonly runId: string; readonly reason: string }
  | { readonly kind: 'refuseEdits' }

/** Answer to the caller of a command: plain data. */
export type Reply =
  /** Nothing, as no caller waits. */
  | { readonly kind: 'nothing' }
  /** Nothing, when all that was written is on disk. */
  | { readonly kind: 'done' }
  /** The thread, when all that was written is on disk. */
  | { readonly kind: 'thread' }
  /** The run, when it is on disk. */
  | { readonly kind: 'run'; readonly run: RunRow }
  /** The run before it is on disk, for a caller that keeps its id to itself until then. */
  | { readonly kind: 'early'; readonly run: RunRow }
  /** Nothing, when the delete is on disk and the first try to purge its log is over. */
  | { readonly kind: 'purged'; readonly branch: Branch }
