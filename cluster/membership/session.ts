/**
 * A member's session: one life of it, from when it joins until it leaves or is fenced.
 *
 * A fenced member learns of it by reading: at its gate, or in a regular look.
 */

import { firstAnswer } from '../flow/retry-at-startup.ts'
import type { Env } from '../runtime/env.ts'
import type { Member } from './member.ts'
import { SessionGate } from './ownership-check.ts'
import type { Gate } from './ownership-check.ts'
import type { SessionPort } from './session-port.ts'

export interface SessionOptions {
  readonly env: Env
  readonly self: Member
  readonly sessions: SessionPort
  /** Called once, with a sentence, when another member ended this session. */
  onFenced(reason: string): void
}

export interface Session {
  readonly gate: Gate
  /** Whether it lives, as the store says now; false too if the store does not answer. */
  lives(): Promise<boolean>
  /** To be called when nothing is under way. Never throws: the next owner can fence it. */
  leave(): Promise<void>
}

/** How often a session that acknowledges nothing checks whether it is still alive. */
const lookMs = 1_000

/** Throws `unavailable` if the store does not answer. */
export async function openSession({ env, self, sessions, onFenced }: SessionOptions):
Promise<Session> {
  const gate = new SessionGate({ env, validate: () => sessions.state(self.id), onFenced })
  await firstAnswer(env, () => sessions.join(self))
  const stopLooking = env.every(lookMs, () => {
    if (gate.state === 'open') gate.pass().catch(() => {})
  })
  return {
    gate,
    lives: () => gate.state !== 'open' ? Promise.resolve(false) : Promise.race([
      gate.pass().then(() => true, () => false),
      gate.closing.then(() => false),
    ]),
    leave: async () => {
      stopLooking()
      gate.shut()
      await sessions.leave(self.id).catch((error: unknown) => env.log.warn(
        'This member could not record that it left; the next owner fences it.', { error }))
    },
  }
}
