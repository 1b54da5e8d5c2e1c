/** A thread's checkpoints for a question that may keep only so much of them in memory. */

import { toTuple } from '../../checkpoint/index.ts'
import type { ChannelView, CheckpointReader, CheckpointSource } from '../../checkpoint/index.ts'
import type { ReadAllowance } from '../../limits/index.ts'

/** To read more, and to send it on, takes some milliseconds each. */
const longBytes = 1024 * 1024

/** Remembers the states that it returns, so that their values need not be read again. */
export class LimitedSource implements CheckpointSource {
  readonly views = new Map<string, ChannelView>()
  readonly #reader: CheckpointReader
  readonly #allowance: ReadAllowance
  readonly #failed = new AbortController()
  /** Aborts when nobody waits any more, or with the error when a read has failed. */
  readonly cancelled: AbortSignal

  constructor(reader: CheckpointReader, allowance: ReadAllowance) {
    this.#reader = reader
    this.#allowance = allowance
    const { signal } = this.#failed
    this.cancelled = allowance.cancelled ? AbortSignal.any([signal, allowance.cancelled]) : signal
  }

  tuple: CheckpointSource['tuple'] = (ns, checkpointId) =>
    this.#noted(async () => {
      const read = await this.#reader.within(this.#allowance,
        (reader) => reader.checkpoint(ns, checkpointId))
      if (read && ns === '') this.views.set(read.checkpoint.id, read.view)
      return read && toTuple(read)
    })

  list: CheckpointSource['list'] = (query) =>
    this.#noted(async () => {
      const page = await this.#reader.within(this.#allowance, (reader) => reader.page(query))
      for (const { checkpoint, view } of page) {
        if (checkpoint.ns === '') this.views.set(checkpoint.id, view)
      }
      return page.map(toTuple)
    })

  async #noted<Found>(read: () => Promise<Found>): Promise<Found> {
    try {
      const found = await read()
      // To send on what was read is a step of its own: others have their turn before it.
      if (this.#allowance.kept > longBytes) await new Promise((turn) => setImmediate(turn))
      return found
    } catch (error) {
      this.#failed.abort(error)
      throw error
    }
  }
}
