/** The branches that this member writes to: those with rows on their way, and the recent others. */

import { Recent } from '../../recent.ts'
import type { BranchView } from './branch-writer.ts'

export class ViewShelf {
  /** Never forgotten: nobody else knows what they sent. */
  readonly #busy = new Map<string, BranchView>()
  readonly #idle: Recent<string, BranchView>

  constructor(limit: number) {
    this.#idle = new Recent(limit)
  }

  get(branchId: string): BranchView | undefined {
    return this.#busy.get(branchId) ?? this.#idle.get(branchId)
  }

  /** To be told of a view when it is made, when it gets rows, and when its last row has ended. */
  put(view: BranchView): void {
    const { branchId } = view
    this.forget(branchId)
    if (view.lost) return
    if (view.idle) this.#idle.set(branchId, view)
    else this.#busy.set(branchId, view)
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
