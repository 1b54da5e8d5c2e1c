/**
 * The branches that this member writes to: those with rows in flight, and the most recent others.
 */

import { LRUCache } from '../../../../cluster/index.ts'
import type { BranchWriter } from './branch-writer.ts'

/** Bytes of all idle writers. */
const idleBytesMax = 32 * 1024 * 1024

/** Caches branch writers. Belongs to `LogTable`. */
export class BranchCache {
  /**
   * Branches with rows in flight. They are never forgotten: only their writer knows what it sent.
   */
  readonly #busy = new Map<string, BranchWriter>()
  readonly #idle: LRUCache<string, BranchWriter>

  /** `limit`: number of idle writers. */
  constructor(limit: number, limitBytes = idleBytesMax) {
    this.#idle = new LRUCache({ max: limit, maxSize: limitBytes,
      sizeCalculation: ({ heldBytes }) => heldBytes })
  }

  get(branchId: string): BranchWriter | undefined {
    return this.#busy.get(branchId) ?? this.#idle.get(branchId)
  }

  /**
   * Call for a branch writer when it is made, when it gets rows, and when its last row has ended.
   */
  put(branchWriter: BranchWriter): void {
    const { branchId } = branchWriter
    this.forget(branchId)
    if (branchWriter.lost) return
    if (branchWriter.idle) this.#idle.set(branchId, branchWriter)
    else this.#busy.set(branchId, branchWriter)
  }

  forget(branchId: string): void {
    this.#busy.delete(branchId)
    this.#idle.delete(branchId)
  }

  /** Forgets branches without rows in flight, since another member may write to them. */
  forgetIdle(): void {
    this.#idle.clear()
  }

  /** Resolves when no row is in flight. */
  async quiet(): Promise<void> {
    while (this.#busy.size > 0) {
      await Promise.all([...this.#busy.values()].map(({ quiet }) => quiet))
    }
  }
}
