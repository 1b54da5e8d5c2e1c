/** Finds the checkpoint whose values a `values` event shows: the event then only names it. */

import type { GraphDescription } from './execution.ts'
import type { ChannelValues } from './state-delta.ts'

interface Seen {
  readonly checkpointId: string
  readonly values: ChannelValues
  /** Channels that tasks wrote since: their objects may have been changed in place. */
  readonly written: Set<string>
}

/**
 * The engine puts the same objects into checkpoints and into `values` events, so identity is
 * enough for what no task wrote since. An event may come before its checkpoint: call `of` when both
 * are there.
 */
export class ValuesReference {
  readonly #stateChannels: NonNullable<GraphDescription['stateChannels']>
  /** How many of the newest checkpoints are remembered. */
  readonly #span: number
  readonly #seen: Seen[] = []

  constructor(stateChannels: NonNullable<GraphDescription['stateChannels']>, span: number) {
    this.#stateChannels = stateChannels
    this.#span = span
  }

  see(checkpointId: string, values: ChannelValues): void {
    this.#seen.unshift({ checkpointId, values, written: new Set() })
    if (this.#seen.length > this.#span) this.#seen.pop()
  }

  /** A task wrote a channel on a checkpoint. */
  written(checkpointId: string, channel: string): void {
    for (const seen of this.#seen) {
      if (seen.checkpointId === checkpointId) seen.written.add(channel)
    }
  }

  /** The newest checkpoint that holds exactly this state; undefined if there is none. */
  of(state: unknown): string | undefined {
    return this.#seen.find((seen) => this.#isSame(state, seen))?.checkpointId
  }

  #isSame(state: unknown, { values, written }: Seen): boolean {
    const isSame = (value: unknown, channel: string) => Object.is(value, values[channel])
      && !(written.has(channel) && typeof value === 'object' && value !== null)
    if (typeof this.#stateChannels === 'string') return isSame(state, this.#stateChannels)
    if (typeof state !== 'object' || state === null) return false
    const members = state as ChannelValues
    return this.#stateChannels.every((channel) => isSame(members[channel], channel))
  }
}
