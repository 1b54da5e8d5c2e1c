/** The updates of channels since their last checkpoint, where the reducer is a known one. */

/** Operator of a channel, which combines its value with an update. */
export type Reducer = (left: unknown, right: unknown) => unknown

/**
 * Called by a known reducer. What `left` has and `update` does not have is unchanged in its result.
 */
export type Report = (update: readonly unknown[]) => void

/** Makes a reducer that reports; undefined if it is not known what an operator does. */
export type ReducerFor = (operator: Reducer, report: Report) => Reducer | undefined

interface Channel {
  value?: unknown
  operator: Reducer
}

/** `BinaryOperatorAggregate` of the project's own copy of the library. */
export interface ChannelClass {
  readonly prototype: {
    fromCheckpoint(this: Channel, value: unknown): Channel
    update(this: Channel, values: readonly unknown[]): boolean
    checkpoint(this: Channel): unknown
  }
}

type Note = (channel: Channel, values: readonly unknown[], update: () => boolean) => boolean

interface UpdateRecord {
  /** The channel's list at the last checkpoint; undefined if others may have it too. */
  base: unknown
  /** Parts of what it was updated with since; undefined if something else happened. */
  updates: unknown[] | undefined
  /** True if the reducer made the value. */
  isMade: boolean
}

/**
 * Replaces the operators of channels that are made from checkpoints, in graphs and subgraphs. A
 * checkpoint's list can then be distinguished from that of the one before.
 */
export class ChannelUpdates {
  readonly #reducerFor: ReducerFor
  readonly #reducers = new WeakMap<Reducer, Reducer>()
  readonly #records = new WeakMap<Channel, UpdateRecord>()
  readonly #made = new WeakMap<object, { readonly base: unknown; readonly updates: unknown[] }>()
  #reports: (readonly unknown[])[] = []

  constructor(reducerFor: ReducerFor) {
    this.#reducerFor = reducerFor
  }

  /** The parts of updates that made `list` of `base`; undefined if not known. Forgets them. */
  between(list: object, base: object): readonly unknown[] | undefined {
    const made = this.#made.get(list)
    this.#made.delete(list)
    return made?.base === base ? made.updates : undefined
  }

  /** Watches a class of channels. Returns a function that undoes it. */
  watch({ prototype }: ChannelClass): () => void {
    const { fromCheckpoint, update, checkpoint } = prototype
    const begin = (channel: Channel, base: unknown) => this.#begin(channel, base)
    const note: Note = (channel, values, run) => this.#note(channel, values, run)
    const end = (channel: Channel, value: unknown) => this.#end(channel, value)
    prototype.fromCheckpoint = function(value) {
      return begin(fromCheckpoint.call(this, value), value)
    }
    prototype.update = function(values) {
      return note(this, values, () => update.call(this, values))
    }
    prototype.checkpoint = function() {
      return end(this, checkpoint.call(this))
    }
    return () => Object.assign(prototype, { fromCheckpoint, update, checkpoint })
  }

  #begin(channel: Channel, base: unknown): Channel {
    const reducer = this.#reducerOf(channel.operator)
    if (!reducer) return channel
    channel.operator = reducer
    this.#records.set(channel, { base, updates: [], isMade: true })
    return channel
  }

  #reducerOf(operator: Reducer): Reducer | undefined {
    const known = this.#reducers.get(operator)
    if (known) return known
    const reducer = this.#reducerFor(operator, (update) => void this.#reports.push(update))
    if (!reducer) return undefined
    this.#reducers.set(operator, reducer)
    // A channel may be made from one that was made from a checkpoint.
    this.#reducers.set(reducer, reducer)
    return reducer
  }

  /**
   * Notes an update. Each value must have gone through the reducer, which a first or an overwriting
   * one does not.
   */
  #note(channel: Channel, values: readonly unknown[], update: () => boolean): boolean {
    const record = this.#records.get(channel)
    if (!record || values.length === 0) return update()
    const { updates } = record
    record.updates = undefined
    record.isMade = false
    this.#reports = []
    const updated = update()
    record.isMade = this.#reports.length === values.length
    if (updates && record.isMade) record.updates = updates.concat(...this.#reports)
    return updated
  }

  #end(channel: Channel, value: unknown): unknown {
    const record = this.#records.get(channel)
    if (!record || typeof value !== 'object' || value === null) return value
    const { base, updates, isMade } = record
    if (updates && base !== value) this.#made.set(value, { base, updates })
    else this.#made.delete(value)
    record.base = isMade ? value : undefined
    record.updates = []
    return value
  }
}
