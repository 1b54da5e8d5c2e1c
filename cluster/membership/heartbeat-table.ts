/** The heartbeats of the other members, as they were read last. */

import type { Heartbeat } from './heartbeat-port.ts'
import type { Member } from '../member.ts'

/** A heartbeat, and when it was first seen, by the monotonic clock. */
export interface Sign {
  readonly heartbeat: Heartbeat
  readonly seenMs: number
}

/** Differences that a read of the heartbeats has found. */
export interface HeartbeatChanges {
  /** True if the members, or those that stay, are others than before. */
  readonly isOther: boolean
  /** Members whose heartbeats are gone: they left, or were proven to have ended. */
  readonly gone: readonly Member[]
}

/** After a gap this long, of the store or of this member itself, no member is judged at once. */
export const gapMs = 3_000

/** Table of the heartbeats, without I/O: the failure detector reads the store and fills it. */
export class HeartbeatTable {
  readonly #signs = new Map<string, Sign>()
  #readMs = Number.NEGATIVE_INFINITY

  /** Time of the last read of the heartbeats, by the monotonic clock. */
  get readMs(): number {
    return this.#readMs
  }

  /** All members that are not known to have ended, including those that are about to leave. */
  get members(): readonly Member[] {
    return [...this.#signs.values()].map(memberOf)
  }

  /** Members that are not about to leave. */
  get staying(): readonly Member[] {
    return [...this.#signs.values()].filter(({ heartbeat }) => !heartbeat.leaving).map(memberOf)
  }

  get signs(): Iterable<Sign> {
    return this.#signs.values()
  }

  /** True if the member is known and has not ended. */
  has(id: string): boolean {
    return this.#signs.has(id)
  }

  /** The newest heartbeat of the member. */
  get(id: string): Sign | undefined {
    return this.#signs.get(id)
  }

  /** False if it was not there. */
  remove(id: string): boolean {
    return this.#signs.delete(id)
  }

  /** Takes over what was read: the heartbeats of all other members. */
  read(found: readonly Heartbeat[], nowMs: number): HeartbeatChanges {
    const afterGap = nowMs - this.#readMs > gapMs
    this.#readMs = nowMs
    const before = this.#text()
    const ids = new Set(found.map(({ id }) => id))
    const gone = [...this.#signs.values()].filter(({ heartbeat }) => !ids.has(heartbeat.id))
      .map(memberOf)
    for (const { id } of gone) this.#signs.delete(id)
    for (const heartbeat of found) {
      const known = this.#signs.get(heartbeat.id)
      const isStill = known?.heartbeat.count === heartbeat.count && !afterGap
      this.#signs.set(heartbeat.id, { heartbeat, seenMs: isStill ? known.seenMs : nowMs })
    }
    return { isOther: this.#text() !== before, gone }
  }

  #text(): string {
    return [...this.#signs.values()].map(({ heartbeat: { id, leaving } }) => `${id} ${leaving}`)
      .toSorted().join('\n')
  }
}

function memberOf({ heartbeat: { id, address } }: Sign): Member {
  return { id, address }
}
