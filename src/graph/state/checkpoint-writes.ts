/** Assigns pending writes to their checkpoints, also before the checkpoint is put. */

import { PendingWrites } from './pending-writes.ts'
import type { ThreadMemory } from './thread-memory.ts'

/** The pending writes of one execution's checkpoints. */
export class CheckpointWrites {
  readonly #memory: ThreadMemory
  /** Writes on checkpoints that are not the newest, or not put yet. */
  readonly #strays = new Map<string, PendingWrites>()

  constructor(memory: ThreadMemory) {
    this.#memory = memory
  }

  /** Those of a checkpoint: what is written on it is added to them. */
  of(ns: string, checkpointId: string): PendingWrites {
    const newest = this.#memory.newest.get(ns)
    if (newest?.id === checkpointId) return newest.writes
    const key = keyOf(ns, checkpointId)
    const stray = this.#strays.get(key) ?? new PendingWrites()
    this.#strays.set(key, stray)
    return stray
  }

  /**
   * Those of a checkpoint that is put now. The engine may put a task's writes before the checkpoint
   * that they belong to.
   */
  adopt(ns: string, checkpointId: string): PendingWrites {
    const key = keyOf(ns, checkpointId)
    const stray = this.#strays.get(key)
    this.#strays.delete(key)
    return stray ?? new PendingWrites()
  }
}

/** One key for a checkpoint of a namespace. */
export function keyOf(ns: string, checkpointId: string): string {
  return `${ns}\n${checkpointId}`
}
