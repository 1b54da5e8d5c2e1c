/** What a member answers as such: questions that are of no one actor. */

import type { ActorKey } from './actor-key.ts'
import type { Asked } from './actor-wire.ts'

/** No kind of actor has its name. */
export interface Service extends Required<Asked> {
  answer(question: unknown): Promise<unknown>
}

/** A question to a member crosses like a command to an actor. */
export function serviceKey(name: string): ActorKey {
  return { kind: name, tenant: '', id: '' }
}
