/**
 * The calls that wait to be sent to one follower in another member.
 *
 * The actor never waits: calls gather while earlier ones are being sent, and are sent together.
 * When too much waits, no more is accepted, and the follower is asked so after the rest: it comes
 * back for what it missed.
 */

/**
 * open    calls are accepted
 * last    the last one was put, and may still wait
 * left    the follower wants no more
 * lagged  too much waited
 * gone    the connection is gone: nothing is taken any more
 */
type OutboxState = 'open' | 'last' | 'left' | 'lagged' | 'gone'

/** Bytes that may wait: a late follower gets all that it missed at once. */
const waitingBytesMax = 32 * 1024 * 1024

/** Calls are sent together up to about this size. */
const batchBytes = 256 * 1024

/** Holds calls of one follow until the connection takes them. */
export class FollowOutbox {
  #calls: Uint8Array[] = []
  #bytes = 0
  #state: OutboxState = 'open'
  #wake = () => {}
  readonly #onLag: () => void
  readonly #bytesMax: number

  /** `onLag` is called when too much waits, even if nothing is taken for a long time. */
  constructor(onLag: () => void, bytesMax = waitingBytesMax) {
    this.#onLag = onLag
    this.#bytesMax = bytesMax
  }

  get lagged(): boolean {
    return this.#state === 'lagged'
  }
  /** True if the connection broke before the last call was put. */
  get broken(): boolean {
    return this.#state === 'gone'
  }

  /** Adds a call. `last`: the actor makes no more of them. */
  put(call: Uint8Array, last: boolean): void {
    if (this.#state !== 'open') return
    // One call alone is never too much.
    if (this.#calls.length > 0 && this.#bytes + call.length > this.#bytesMax) {
      this.#state = 'lagged'
      this.#onLag()
    } else {
      this.#calls.push(call)
      this.#bytes += call.length
      if (last) this.#state = 'last'
    }
    this.#wake()
  }

  /** The follower leaves: an orderly end. */
  leave(): void {
    this.#drop('left')
  }

  /** Nothing is taken from it any more. */
  release(): void {
    this.#drop('gone')
  }

  /** Calls, as many at once as are there; ends behind the last one. */
  async *batches(): AsyncGenerator<Uint8Array[]> {
    for (;;) {
      if (this.#calls.length === 0) {
        if (this.#state !== 'open') return
        await new Promise<void>((wake) => {
          this.#wake = wake
        })
        // Whatever else is put in this tick is sent with it.
        await new Promise((nextTick) => setImmediate(nextTick))
      }
      const batch = this.#take()
      if (batch.length > 0) yield batch
    }
  }

  #take(): Uint8Array[] {
    let bytes = 0
    let count = 0
    while (count < this.#calls.length && bytes < batchBytes) bytes += this.#calls[count++]!.length
    this.#bytes -= bytes
    if (count < this.#calls.length) return this.#calls.splice(0, count)
    const all = this.#calls
    this.#calls = []
    return all
  }

  #drop(state: 'left' | 'gone'): void {
    this.#state = state
    this.#calls = []
    this.#bytes = 0
    this.#wake()
  }
}
