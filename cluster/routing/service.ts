/** Services: what a member answers itself, without any actor. */

import type { ActorKey } from '../actors/actor-key.ts'
import type { Asked } from '../actors/actor-wire.ts'

/** Questions that a member answers to others. No kind of actor may have its name. */
export interface Service<Question = unknown, Answer = unknown> extends Required<Asked> {
  /** Its errors cross as those of an actor do. The signal aborts when the last caller has gone. */
  answer(question: Question, cancelled?: AbortSignal): Promise<Answer>
}

/** A question to a service is sent like a command to an actor. */
export function serviceKey(name: string): ActorKey {
  return { kind: name, tenant: '', id: '' }
}
