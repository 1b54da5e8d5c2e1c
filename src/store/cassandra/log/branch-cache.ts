/** The branches that this member writes to: those with rows on their way, and the recent others. */

import { LRUCache } from '../../../../cluster/index.ts'
import type { BranchWriter } from './branch-writer.ts'

export class BranchCache {
  /** Never forgotten: nobody else knows what they sent. */
  readonly #busy = new Map<string, BranchWriter>()
  readonly #idle: LRUCache<string, BranchWriter>

  constructor(limit: number) {
    this.#idle = new LRUCache({ max: limit })
  }

  get(branchId: string): BranchWriter | undefined {
    return this.#busy.get(branchId) ?? this.#idle.get(branchId)
  }

  /**
   * To be notified of a view when it is made, when it gets rows, and when its last row has ended.
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

  /** Another member may write to branches that nothing is on its way to. */
  forgetIdle(): void {
    this.#idle.clear()
  }

  /** Resolves when nothing is on its way any more. */
  async quiet(): Promise<void> {
    while (this.#busy.size > 0) {
      await Promise.all([...this.#busy.values()].map(({ quiet }) => quiet))
    }
  }
}
