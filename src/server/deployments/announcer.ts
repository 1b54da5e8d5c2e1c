/** Notifies members of a change of a deployment: without it, they look every few seconds. */

import { atLatest } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import type { RolloutMembers, Serving } from '../../deployment/index.ts'

/** Members to notify, and the way to them. */
export interface AnnouncerParts {
  readonly env: Pick<Env, 'after' | 'log'>
  readonly members: Pick<RolloutMembers, 'live' | 'learn'>
  readonly learn: Serving['learn']
  /** The id of this member. */
  self(): string
}

/** Milliseconds to wait for members. A later one learns of the change by its own looks. */
const announceMs = 2_000

/**
 * Notifies all members. Resolves when they have read the deployment anew, or after two seconds.
 * Rejects if this member cannot read it.
 */
export function announcer({ env, members, learn, self }: AnnouncerParts): (
  name: string,
) => Promise<void> {
  return async (name) => {
    const others = members.live().filter((id) => id !== self())
    const notified = Promise.all(others.map(async (member) => {
      try {
        await members.learn(member, name)
      } catch (error) {
        env.log.debug('A member does not know yet how a deployment has changed.', { error, member })
      }
    }))
    await learn(name)
    await atLatest(env, announceMs, notified)
  }
}
