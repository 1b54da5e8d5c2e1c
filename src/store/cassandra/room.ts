/** Room for bytes that are held for a while: whoever would bring more waits until there is some. */

export class Room {
  #left: number
  #waiting: (() => void)[] = []

  /** Those who come while it is open may overfill it: how much they bring they learn later. */
  constructor(bytes: number) {
    this.#left = bytes
  }

  /** Resolves when it is not full. */
  async open(): Promise<void> {
    if (this.#left <= 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  take(bytes: number): void {
    this.#left -= bytes
  }

  leave(bytes: number): void {
    this.#left += bytes
    if (this.#left > 0) for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
