/** What a member answers as such: questions that are of no one actor. */

import type { ActorKey } from './actor-key.ts'
import type { ActorWire } from './actor-wire.ts'

export interface Service {
  /** No kind of actor has it. */
  readonly name: string
  readonly wire: ActorWire
  answer(question: unknown): Promise<unknown>
}

/** A question to a member crosses like a command to an actor. */
export function serviceKey(name: string): ActorKey {
  return { kind: name, tenant: '', id: '' }
}
