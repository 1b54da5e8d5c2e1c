/** Carries decisions out: the records first, then the effects, then the reply. */

import type { Turn } from '../../../cluster/index.ts'
import type { Decision } from '../decide/decision.ts'
import type { Reply } from '../model/effect.ts'
import { carryOut } from './effects.ts'
import type { ThreadParts } from './thread-parts.ts'

/** Carries a decision out, and answers its command. */
export function turn(parts: ThreadParts, decision: Decision): Turn {
  return answer(parts, decision.reply, perform(parts, decision))
}

/**
 * Appends the records of a decision, then does its effects in their order. Resolves when the
 * records are on disk.
 */
export function perform(parts: ThreadParts,
  { records, places, urgency, effects }: Decision): Promise<void> {
  const { threadLog } = parts.context
  const durable = records.length > 0
    ? threadLog.write(records, urgency, places)
    : Promise.resolve()
  for (const effect of effects) carryOut(parts, effect, durable)
  return durable
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
