/** Finds the checkpoint whose values a `values` event shows: the event then only names it. */

import type { GraphDescription } from '../execution.ts'
import type { ChannelValues } from '../state/state-delta.ts'

interface Seen {
  readonly checkpointId: string
  readonly values: ChannelValues
}

/**
 * The engine puts the same objects into checkpoints and into `values` events, so identity is
 * enough. An event may come before its checkpoint: call `of` when both are there.
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
    this.#seen.unshift({ checkpointId, values })
    if (this.#seen.length > this.#span) this.#seen.pop()
  }

  /** The newest checkpoint that holds exactly this state; undefined if there is none. */
  of(state: unknown): string | undefined {
    return this.#seen.find(({ values }) => this.#isSame(state, values))?.checkpointId
  }

  #isSame(state: unknown, values: ChannelValues): boolean {
    if (typeof this.#stateChannels === 'string') return state === values[this.#stateChannels]
    if (typeof state !== 'object' || state === null) return false
    const members = state as ChannelValues
    return this.#stateChannels.every((channel) => Object.is(members[channel], values[channel]))
  }
}
