/** Drives the roll-outs of all deployments, on the member that owns their records. */

import type { Deployments } from '../deployments.ts'
import { DrivenRollout } from './driven-rollout.ts'
import type { DrivenRolloutParts } from './driven-rollout.ts'

/** Records, members and ports with which all roll-outs are driven. */
export interface RolloutDriverParts extends DrivenRolloutParts {
  readonly deployments: DrivenRolloutParts['deployments'] & Pick<Deployments, 'list'>
}

/** Drives until it is closed. */
export interface RolloutDriver {
  /** Looks at a deployment, or at all of them. Call every 5 s, and when a roll-out began. */
  look(name?: string): void
  /** Stops. The next owner goes on from the records. */
  close(): void
}

const pageLimit = 100
/** Milliseconds after a failed look at all: a new owner may not reach the records at once. */
const againMs = 500

/** Drives nothing before the first look. Without a roll-out it reads nothing by itself. */
export function driveRollouts(parts: RolloutDriverParts): RolloutDriver {
  const { deployments, env, owns } = parts
  const driven = new Map<string, DrivenRollout>()
  let isClosed = false
  let isListing = false
  const drive = (name: string) => {
    if (isClosed) return
    const known = driven.get(name)
    if (known !== undefined) return known.look()
    const rollout = new DrivenRollout(parts, name, () => driven.delete(name))
    driven.set(name, rollout)
    rollout.look()
  }
  const driveAll = async () => {
    for (let offset = 0;; offset += pageLimit) {
      const page = await deployments.list({ limit: pageLimit, offset })
      for (const { name, rollout, owed } of page) {
        if (rollout !== null || owed.length > 0) drive(name)
      }
      if (page.length < pageLimit) return
    }
  }
  const look = (name?: string) => {
    if (isClosed || !owns()) return
    if (name !== undefined) return drive(name)
    if (isListing) return
    isListing = true
    driveAll().catch((error: unknown) => {
      env.log.debug('Roll-outs cannot be listed; they are looked for again.', { error })
      env.after(againMs, () => look())
    }).finally(() => {
      isListing = false
    })
  }
  return {
    look,
    close: () => {
      isClosed = true
      for (const rollout of driven.values()) rollout.close()
    },
  }
}
