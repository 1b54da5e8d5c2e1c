/** Listening to changes of owners. All listeners share one wait for the next change. */

import type { Ownership } from '../../cluster/index.ts'

/** Notifies listeners when any shard gets another owner. */
export class OwnerChanges {
  readonly #owners: Pick<Ownership, 'changed'>
  readonly #listeners = new Set<() => void>()
  #waiting = false

  constructor(owners: Pick<Ownership, 'changed'>) {
    this.#owners = owners
  }

  /** Adds a listener. The returned function removes it. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    this.#wait()
    return () => void this.#listeners.delete(listener)
  }

  #wait(): void {
    if (this.#waiting) return
    this.#waiting = true
    void this.#owners.changed().then(() => {
      this.#waiting = false
      for (const received of [...this.#listeners]) received()
      if (this.#listeners.size > 0) this.#wait()
    })
  }
}
