/** The checkpoints before a given one: those of this execution first, then those of the log. */

import { keyOf } from './checkpoint-writes.ts'
import type { Ancestor } from './delta-history.ts'
import type { KnownCheckpoints } from './known-checkpoints.ts'
import type { PendingWrites } from './pending-writes.ts'
import type { ChannelValues } from './state-delta.ts'
import type { ThreadMemory } from './thread-memory.ts'

/** A checkpoint that was put or written on here: the log may not have all of it yet. */
interface OwnCheckpoint {
  readonly parentId: string
  readonly values: ChannelValues
  readonly writes: PendingWrites
}

/** Keeps nothing until the engine has asked for the history of a DeltaChannel. */
export class OwnLine {
  readonly #known: KnownCheckpoints
  #own: Map<string, OwnCheckpoint> | undefined

  constructor(known: KnownCheckpoints) {
    this.#known = known
  }

  /** Keeps a parent that is about to be replaced: the log may not have its writes yet. */
  noteParent({ newest }: ThreadMemory, ns: string, id: string): void {
    const parent = newest.get(ns)
    if (!this.#own || parent?.id !== id || this.#own.has(keyOf(ns, id))) return
    const { parentId, channels, writes } = parent
    this.#own.set(keyOf(ns, id), { parentId, values: channels.values(), writes })
  }

  /** Newest first: only ancestors of the given checkpoint, none of other forks. */
  async *ancestors(ns: string, id: string | null): AsyncGenerator<Ancestor> {
    this.#own ??= new Map()
    let wanted = (await this.#known.find(ns, id))?.parentId
    for (let own; (own = this.#own.get(keyOf(ns, wanted ?? ''))); wanted = own.parentId) {
      yield { values: own.values, writes: own.writes.tuples() }
    }
    if (!wanted) return
    const parent = await this.#known.find(ns, wanted)
    if (!parent) return
    yield { values: parent.channels.values(), writes: parent.writes.tuples() }
    // Read only if the parent was not enough.
    yield* this.#older(ns, parent.id, parent.parentId)
  }

  async *#older(ns: string, before: string, newest: string): AsyncGenerator<Ancestor> {
    let wanted = newest
    if (wanted === '') return
    const query = { ns, checkpointId: null, before, limit: null, filter: null }
    for await (const { live } of this.#known.list(query)) {
      if (live.id !== wanted) continue
      yield { values: live.channels.values(), writes: live.writes.tuples() }
      wanted = live.parentId
      if (wanted === '') return
    }
  }
}
