/** Finds the checkpoint whose values a `values` event shows. The event then only names it. */

import { isObject } from '../../json/index.ts'
import type { GraphDescription } from '../execution.ts'
import type { ServedGraph } from '../project/graph-export.ts'
import { shapeOf } from '../project/library.ts'
import type { ChannelValues } from '../state/state-delta.ts'

interface Seen {
  readonly checkpointId: string
  readonly values: ChannelValues
}

/**
 * Compares states with checkpoints by identity, because the engine puts the same objects into
 * checkpoints and into `values` events. An event may come before its checkpoint, so call `of` when
 * both have come.
 */
export class ValuesReference {
  readonly #stateChannels: NonNullable<GraphDescription['stateChannels']>
  /** Number of checkpoints that are remembered, the newest ones. */
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

  /** True if this checkpoint holds exactly this state. */
  isOf(checkpointId: string, state: unknown): boolean {
    const seen = this.#seen.find((each) => each.checkpointId === checkpointId)
    return seen !== undefined && this.#isSame(state, seen.values)
  }

  #isSame(state: unknown, values: ChannelValues): boolean {
    if (typeof this.#stateChannels === 'string') return state === values[this.#stateChannels]
    if (!isObject(state)) return false
    return this.#stateChannels.every((channel) => Object.is(state[channel], values[channel]))
  }
}

/**
 * Undefined unless readers take the state from checkpoints, and see the same channels as this
 * graph.
 */
export function referenceFor(graph: ServedGraph, described: GraphDescription | undefined):
  | ValuesReference
  | undefined {
  const { plain, stateChannels } = shapeOf(graph)
  const same = JSON.stringify(stateChannels) === JSON.stringify(described?.stateChannels)
  if (!plain || described?.plain !== true || !same) return undefined
  return new ValuesReference(stateChannels, burst)
}

/** Checkpoints that may be put before the event about the first of them is sent. */
const burst = 32
