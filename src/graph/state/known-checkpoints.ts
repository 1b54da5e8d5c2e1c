/** The checkpoints of one execution's thread: from memory if they are there, else from the log. */

import type { CheckpointSource, StoredTuple, TupleQuery } from '../execution.ts'
import type { StepSink } from './step-sink.ts'
import { liveCheckpoint } from './thread-memory.ts'
import type { LiveCheckpoint, ThreadMemory } from './thread-memory.ts'
import type { Decode } from './value-codec.ts'

/** Places that are searched for checkpoints: the memory first, then the log. */
export interface CheckpointPlaces {
  readonly memory: ThreadMemory
  readonly source: CheckpointSource
  readonly sink: Pick<StepSink, 'acknowledged'>
  readonly decode: Decode
}

/** A checkpoint of a list that may go over several namespaces. */
export interface Listed {
  readonly ns: string
  readonly live: LiveCheckpoint
}

/** A page of checkpoints has as many at most. */
const pageSize = 64

/** Reads the log only when everything that the execution wrote is in it. */
export class KnownCheckpoints {
  readonly #places: CheckpointPlaces

  constructor(places: CheckpointPlaces) {
    this.#places = places
  }

  /** The newest of the namespace if `id` is null; undefined if there is none. */
  async find(ns: string, id: string | null): Promise<LiveCheckpoint | undefined> {
    const { memory } = this.#places
    const known = memory.newest.get(ns)
    if (known && (id === null || id === known.id)) return known
    if (id === null && ns === '' && memory.empty) return undefined
    const stored = await this.#read((source) => source.tuple(ns, id))
    if (!stored) return undefined
    const live = await this.#live(stored)
    // A newer one may have been put while this one was read.
    if (stored.newest && !memory.newest.has(ns)) memory.newest.set(ns, live)
    return live
  }

  /** From the log, whatever the memory knows; undefined if there is none. */
  async stored(ns: string, id: string): Promise<LiveCheckpoint | undefined> {
    const stored = await this.#read((source) => source.tuple(ns, id))
    return stored && this.#live(stored)
  }

  /** From the log, newest first, and no more than the limit of the query. */
  async *list({ before: first, limit: all, ...query }: TupleQuery): AsyncGenerator<Listed> {
    let before = first
    for (let left = all ?? Number.POSITIVE_INFINITY; left > 0;) {
      const limit = Math.min(left, pageSize)
      const page = await this.#read((source) => source.list({ ...query, before, limit }))
      for (const stored of page) yield { ns: stored.ns, live: await this.#live(stored) }
      if (page.length < limit) return
      left -= page.length
      before = page.at(-1)!.id
    }
  }

  async #read<T>(read: (source: CheckpointSource) => Promise<T>): Promise<T> {
    await this.#places.sink.acknowledged()
    return read(this.#places.source)
  }

  #live(stored: StoredTuple): Promise<LiveCheckpoint> {
    return liveCheckpoint(stored, this.#places.decode)
  }
}
