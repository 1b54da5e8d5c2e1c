/**
 * A member's session: one life of it, from when it joins until it leaves or is fenced.
 *
 * A fenced member learns of it by reading: at its ownership check, or in a regular look.
 */

import { retryAtStartup } from '../flow/retry-at-startup.ts'
import type { Env } from '../runtime/env.ts'
import type { Member } from '../member.ts'
import { SessionOwnershipCheck } from './ownership-check.ts'
import type { OwnershipCheck } from './ownership-check.ts'
import type { SessionPort } from './session-port.ts'

/** Whose session it is, and where sessions are kept. */
export interface SessionOptions {
  readonly env: Env
  readonly self: Member
  readonly sessions: SessionPort
  /** Called once, with a message, when another member ended this session. */
  onFenced(reason: string): void
}

/** The session of this member. */
export interface Session {
  readonly check: OwnershipCheck
  /** True if it lives, as the store says now; false too if the store does not answer. */
  lives(): Promise<boolean>
  /** To be called when nothing is under way. Never throws: the next owner can fence it. */
  leave(): Promise<void>
}

/** Interval at which a session that acknowledges nothing checks whether it is still alive. */
const lookMs = 1_000

/** Throws `unavailable` if the store does not answer. */
export async function openSession(
  { env, self, sessions, onFenced }: SessionOptions,
): Promise<Session> {
  const check = new SessionOwnershipCheck(
    { env, validate: () => sessions.state(self.id), onFenced },
  )
  await retryAtStartup(env, () => sessions.join(self))
  const stopLooking = env.every(lookMs, () => {
    if (check.state === 'open') check.confirm().catch(() => {})
  })
  return {
    check,
    lives: () =>
      check.state !== 'open' ? Promise.resolve(false) : Promise.race([
        check.confirm().then(() => true, () => false),
        check.closing.then(() => false),
      ]),
    leave: async () => {
      stopLooking()
      check.shut()
      await sessions.leave(self.id).catch((error: unknown) =>
        env.log.warn(
          'This member could not record that it left; the next owner fences it.',
          { error },
        )
      )
    },
  }
}
