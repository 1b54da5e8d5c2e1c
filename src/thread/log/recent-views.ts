/** The states of a thread at its recent checkpoints, which events may still refer to. */

import type { ByteBudget } from '../../../cluster/index.ts'
import type { ChannelView } from '../../checkpoint/index.ts'

const viewsMax = 8

/** States by checkpoint, as long as the member has room for them. */
export class RecentViews {
  readonly #budget: ByteBudget<object>
  /** The oldest first. No LRUCache: it reserves memory, and there is one of these a thread. */
  readonly #views = new Map<string, ChannelView>()

  /** `budget` is shared by all threads of the member. */
  constructor(budget: ByteBudget<object>) {
    this.#budget = budget
  }

  /** Undefined for a state that is not remembered. */
  get(checkpointId: string): ChannelView | undefined {
    return this.#views.get(checkpointId)
  }

  /** The state is the newest from now on. */
  remember(checkpointId: string, view: ChannelView): void {
    this.#views.delete(checkpointId)
    this.#views.set(checkpointId, view)
    const [oldest] = this.#views.keys()
    if (this.#views.size > viewsMax && oldest !== undefined) this.#views.delete(oldest)
    this.#charge()
  }

  /** Forgets all states but one. */
  keepOnly(checkpointId: string | undefined): void {
    for (const id of this.#views.keys()) if (id !== checkpointId) this.#views.delete(id)
    this.#charge()
  }

  /** Forgets all states. */
  release(): void {
    this.#views.clear()
    this.#charge()
  }

  /** Charges the bytes of all states. Those of one base share what the newest one holds. */
  #charge(): void {
    if (this.#views.size === 0) return this.#budget.release(this)
    const newest = new Map([...this.#views.values()].map(({ base, bytes }) => [base, bytes]))
    const bytes = [...newest.values()].reduce((sum, each) => sum + each, 0)
    this.#budget.hold(this, bytes, () => this.#views.clear())
  }
}
