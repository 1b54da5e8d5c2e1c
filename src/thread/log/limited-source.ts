/** A thread's checkpoints for a question that may keep only so much of them in memory. */

import { bareTuple, toTuple } from '../../checkpoint/index.ts'
import type { ChannelSizes, ChannelView, CheckpointReader, CheckpointSource, LeftOut,
  ReadCheckpoint, StoredTuple } from '../../checkpoint/index.ts'
import { addsToValues } from '../../graph/index.ts'
import type { ReadAllowance } from '../../limits/index.ts'
import { sizesWritten } from './sizes-written.ts'

/** Bytes kept above which each further read, of milliseconds, gets a turn of the event loop. */
const longBytes = 1024 * 1024

/** Parts of checkpoints that a question does not need, or has already. */
export interface SourceScope {
  /** States that are remembered, by checkpoint. */
  readonly known?: (checkpointId: string) => ChannelView | undefined
  /** Parts of the root's checkpoints that are not read. */
  readonly unread?: LeftOut | undefined
  /** Parts of them that the engine does not get, as the answer is put together without it. */
  readonly unsent?: LeftOut | undefined
  /** Note how much each step wrote. */
  readonly sizes?: boolean
}

/** Remembers the states that it returns, so that their values need not be read again. */
export class LimitedSource implements CheckpointSource {
  readonly views = new Map<string, ChannelView>()
  /** Bytes that each checkpoint's step wrote, if that is asked for. */
  readonly sizes = new Map<string, ChannelSizes>()
  readonly #reader: CheckpointReader
  readonly #allowance: ReadAllowance
  readonly #scope: SourceScope
  readonly #failed = new AbortController()
  /** Aborts when the caller has gone, or with the error when a read has failed. */
  readonly cancelled: AbortSignal

  constructor(reader: CheckpointReader, allowance: ReadAllowance, scope: SourceScope = {}) {
    this.#reader = reader
    this.#allowance = allowance
    this.#scope = scope
    const { signal } = this.#failed
    this.cancelled = allowance.cancelled ? AbortSignal.any([signal, allowance.cancelled]) : signal
  }

  tuple: CheckpointSource['tuple'] = (ns, checkpointId) =>
    this.#noted(async () => {
      const read = await this.#checkpoint(ns, checkpointId)
      if (!read) return undefined
      await this.#note([read])
      return this.#shown(read, checkpointId !== null)
    })

  list: CheckpointSource['list'] = (query) =>
    this.#noted(async () => {
      const unread = query.ns === '' ? this.#scope.unread : undefined
      const page = await this.#reader.within(this.#allowance, (reader) => reader.page(query),
        unread)
      await this.#note(page)
      const shown: StoredTuple[] = []
      for (const read of page) shown.push(await this.#shown(read, true))
      return shown
    })

  #checkpoint(ns: string, id: string | null,
    unread = ns === '' ? this.#scope.unread : undefined): Promise<ReadCheckpoint | undefined> {
    return this.#reader.within(this.#allowance,
      (reader) => reader.checkpoint(ns, id, this.#scope.known), unread)
  }

  async #note(page: readonly ReadCheckpoint[]): Promise<void> {
    for (const read of page) {
      const { ns, id, parentId } = read.checkpoint
      if (ns === '') this.views.set(id, read.view)
      if (!this.#scope.sizes) continue
      const parent = async () =>
        page.find(({ checkpoint }) => checkpoint.ns === ns && checkpoint.id === parentId)
          ?? await this.#checkpoint(ns, parentId)
      this.sizes.set(id, await sizesWritten(read.checkpoint, parent))
    }
  }

  /** The checkpoint for the engine. It gets all of a state to which it adds writes of tasks. */
  async #shown(read: ReadCheckpoint, isNamed: boolean): Promise<StoredTuple> {
    const { checkpoint: { ns, id }, writes } = read
    const { unread, unsent } = this.#scope
    if (ns !== '' || unsent === undefined) return toTuple(read)
    if (!addsToValues(writes, isNamed)) return bareTuple(toTuple(read), unsent)
    const whole = unread &&
      await this.#reader.within(this.#allowance, (reader) => reader.checkpoint(ns, id))
    return toTuple(whole ?? read)
  }

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
