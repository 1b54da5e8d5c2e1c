/**
 * A bound on bytes that are held for a while. A caller that would add more waits until there is
 * room.
 */

/** Counts held bytes. Waiters go on together when there is room. */
export class ByteSemaphore {
  #left: number
  #waiting: (() => void)[] = []

  /** Callers that were let in may overfill it, because they learn only later how much they add. */
  constructor(bytes: number) {
    this.#left = bytes
  }

  /** Resolves when there is room. */
  async open(): Promise<void> {
    if (this.#left <= 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  take(bytes: number): void {
    this.#left -= bytes
  }

  leave(bytes: number): void {
    this.#left += bytes
    if (this.#left > 0) { for (const resolve of this.#waiting.splice(0)) resolve() }
  }
}
