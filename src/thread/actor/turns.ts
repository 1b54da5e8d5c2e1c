/** Turn that each command of a thread takes. Rule: [kept_first]. */

import type { Turn } from '../../../cluster/index.ts'
import type { AppliedCommand } from '../../../proto/gen/storage/v1/row.ts'
import type { RecordOf } from '../../checkpoint/index.ts'
import { hostOfRun } from '../context/thread-graphs.ts'
import { decideKeepLatest, decidePatchState, requireIdle } from '../decide/history.ts'
import { decidePush } from '../decide/owed.ts'
import type { OwnCommand, ThreadCommand } from '../model/command.ts'
import { ended, lost, refused, rest, steps, timeLimit, wake } from './execution-turns.ts'
import { listedRuns } from '../queries/run-list.ts'
import { replayBase } from '../queries/replay-base.ts'
import { runEffects, runGraphs } from '../queries/run-records.ts'
import { storageUse } from '../queries/storage-use.ts'
import { cancel, deleteRun, join, runRow, start, started } from './run-turns.ts'
import { turn } from './perform.ts'
import { situationOf } from './thread-parts.ts'
import type { ThreadParts } from './thread-parts.ts'
import { adopt, callWebhooks, copy, create, deleteThread, due, edit, edited, expire, patch,
  requireExist, requireSeen, settled } from './thread-turns.ts'

/** A command, and what comes with it. */
export interface Received {
  readonly command: ThreadCommand | OwnCommand
  /** The record that marks it as done. */
  readonly note: readonly RecordOf[]
  /** Aborts when the caller has gone. */
  readonly cancelled?: AbortSignal | undefined
}

/** Commands that only a thread that exists takes. */
type Existing = Exclude<ThreadCommand, { readonly type: 'create' | 'adopt' | 'start' }>

/** By these, nobody gets anything of a run that is kept back but who waits for it already. */
const ofItsOwn: ReadonlySet<string> = new Set<(ThreadCommand | OwnCommand)['type']>(['steps',
  'ended', 'wake', 'expire', 'join', 'delete'])

/** Takes a turn. Throws what the command is refused with. */
export function take(parts: ThreadParts, received: Received): Turn | Promise<Turn> {
  const { command, note } = received
  const { threadLog } = parts.context
  if (threadLog.isHeldBack && !ofItsOwn.has(command.type)) threadLog.keep().catch(() => {})
  switch (command.type) {
    case 'steps':
      return steps(parts, command)
    case 'ended':
      return ended(parts, command)
    case 'lost':
      return lost(parts, command)
    case 'refused':
      return refused(parts, command)
    case 'time_limit':
      return timeLimit(parts, command)
    case 'wake':
      return wake(parts)
    case 'owed':
      return nothing(callWebhooks(parts))
    case 'settled':
      return settled(parts, command)
    case 'expire':
      return expire(parts)
    case 'due':
      return due(parts)
    case 'rest':
      return nothing(command.done(rest(parts)))
    case 'create':
      return create(parts, command.request, note)
    case 'adopt':
      return adopt(parts, command.origin)
    case 'start':
      return start(parts, command.run, note)
    default:
      requireExist(parts)
      return takeExisting(parts, command, received)
  }
}

function takeExisting(parts: ThreadParts, command: Existing, { note, cancelled }: Received):
  | Turn
  | Promise<Turn> {
  const { queries, context } = parts
  if ('allowed' in command) requireSeen(parts, command.allowed)
  switch (command.type) {
    case 'get':
      return read(queries.view(command.brief, { ...command, cancelled }))
    case 'patch':
      return patch(parts, command, note)
    case 'delete':
      if (command.ifIdle) requireIdle(situationOf(parts))
      return deleteThread(parts, command.branchId, note)
    case 'keep_latest':
      return turn(parts, (at, nowMs) => decideKeepLatest(at, { note }, nowMs))
    case 'patch_state':
      return turn(parts, (at, nowMs) => decidePatchState(at, { ...command, note }, nowMs))
    case 'copy':
      return copy(parts, command)
    case 'state':
      return read(queries.state(command.query, cancelled))
    case 'history':
      return read(queries.history(command.query, command.from, cancelled))
    case 'storage':
      return read(storageUse(context, cancelled))
    case 'edit':
      return edit(parts, command.update, note)
    case 'get_run':
      return read(aboutRun(parts, command, cancelled))
    case 'list_runs':
      return read(listedRuns(command.query, context, cancelled))
    case 'cancel':
      return cancel(parts, command, note)
    case 'delete_run':
      return deleteRun(parts, command.runId, note)
    case 'push':
      return turn(parts, (at, nowMs) => decidePush(at, command.change, note, nowMs))
    case 'join':
      return join(parts, command.runId, cancelled)
  }
}

async function aboutRun(parts: ThreadParts,
  { runId, lines, graphs, effects, replay }: Extract<ThreadCommand, { type: 'get_run' }>,
  cancelled: AbortSignal | undefined): Promise<unknown> {
  const { context, context: { tenant, threadId } } = parts
  const run = await runRow(parts, runId)
  if (lines) return hostOfRun(context, run).logs({ tenant, threadId, runId }, lines)
  if (replay) return replayBase(context, run, replay, cancelled)
  if (effects) return runEffects(context, run, cancelled)
  return graphs ? runGraphs(context, run, cancelled) : run
}

/** Answers a command that was done before without doing it again. */
export function repeated(parts: ThreadParts, command: ThreadCommand,
  applied: AppliedCommand): Promise<unknown> {
  switch (command.type) {
    case 'create':
    case 'patch':
      requireExist(parts)
      return parts.queries.view()
    case 'start':
      return started(parts, command.run, applied)
    case 'edit':
      return edited(parts, command.update, applied)
    default:
      return parts.context.threadLog.durable
  }
}

function read(reply: Promise<unknown>): Turn {
  return { reply, kind: 'read' }
}

/** A turn that answers nothing: its argument has done the work. */
function nothing(_: void): Turn {
  return { reply: undefined }
}
