/** Carries decisions out: the records first, then the effects, then the reply. */

import type { Turn } from '../../../cluster/index.ts'
import type { RecordOf } from '../../checkpoint/index.ts'
import type { Decision, Situation } from '../decide/decision.ts'
import type { Reply } from '../model/effect.ts'
import { carryOut } from './effects.ts'
import { situationOf } from './thread-parts.ts'
import type { ThreadParts } from './thread-parts.ts'

/** Decides on the thread as it is, at a time in milliseconds since 1970. */
export type Decide = (at: Situation, nowMs: number) => Decision

/** As `turn`, for a thread of which all is kept back: what is decided is not written either. */
export function discard(parts: ThreadParts, decide: Decide): Turn {
  const { effects } = decideNow(parts, decide)
  parts.context.threadLog.discard()
  for (const effect of effects) carryOut(parts, effect, Promise.resolve())
  return { reply: undefined }
}

/** Decides, carries that out, and answers the command. */
export function turn(parts: ThreadParts, decide: Decide): Turn {
  const decision = decideNow(parts, decide)
  return answer(parts, decision.reply, carryOutAll(parts, decision))
}

/** Decides and carries that out. Resolves when the records are on disk. */
export function perform(parts: ThreadParts, decide: Decide): Promise<void> {
  return carryOutAll(parts, decideNow(parts, decide))
}

function decideNow(parts: ThreadParts, decide: Decide): Decision {
  return decide(situationOf(parts), parts.context.ports.env.nowMs())
}

/** Appends the records, then does the effects in their order. */
function carryOutAll(parts: ThreadParts,
  { records, places, urgency, effects }: Decision): Promise<void> {
  const { threadLog } = parts.context
  for (const record of records) noteRemoval(parts, record)
  const durable = records.length > 0
    ? threadLog.write(records, urgency, places)
    : Promise.resolve()
  for (const effect of effects) carryOut(parts, effect, durable)
  parts.expiry.look()
  return durable
}

/** Notes removed threads and runs, so that a repeated start does not make them again. */
function noteRemoval(
  { context: { threadLog: { state }, removed, tenant, threadId }, keyed }: ThreadParts,
  { $case, value }: RecordOf,
): void {
  const name = { tenant, threadId }
  if ($case === 'runDeleted') removed.noteRun(name, value.runId)
  if ($case === 'headMoved') { for (const runId of value.droppedRunIds) removed.noteRun(name,
        runId) }
  if ($case !== 'threadDeleted') return
  const commands = state.applied.map(({ id }) => id)
  const keys = state.runs.map(({ commandId }) => commandId)
  removed.noteThread(name, [...commands, ...keys, ...keyed.known])
}

function answer({ context: { threadLog }, queries, purge }: ThreadParts, reply: Reply,
  durable: Promise<void>): Turn {
  switch (reply.kind) {
    case 'nothing':
      return { reply: undefined }
    case 'done':
      return { reply: threadLog.durable }
    case 'thread':
      return { reply: queries.view() }
    case 'run':
      return { reply: threadLog.durable.then(() => reply.run) }
    case 'early':
      return { reply: reply.run, kind: 'early' }
    case 'purged':
      return { reply: purge.after(durable, reply.branch) }
  }
}
