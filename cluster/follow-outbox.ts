/**
 * What waits to be sent to one follower in another member.
 *
 * Whoever tells never waits: calls gather while the ones before them are on their way, and go
 * together. Where more waits than may wait, no more is taken, and the follower is told so behind
 * what he gets: he comes back for the rest.
 */

/**
 * open    calls come
 * last    the last one has come, and may still wait
 * left    the follower wants no more
 * lagged  too much waited
 * gone    nobody takes anything any more
 */
type OutboxState = 'open' | 'last' | 'left' | 'lagged' | 'gone'

/** What may wait: a follower that comes late gets all its past at once. */
const waitingBytesMax = 32 * 1024 * 1024

/** Calls go together up to about this size. */
const batchBytes = 256 * 1024

export class FollowOutbox {
  #calls: Uint8Array[] = []
  #bytes = 0
  #state: OutboxState = 'open'
  #wake = () => {}
  readonly #onLag: () => void
  readonly #bytesMax: number

  /** `onLag` is called when too much waits: nobody may come to take anything for a long time. */
  constructor(onLag: () => void, bytesMax = waitingBytesMax) {
    this.#onLag = onLag
    this.#bytesMax = bytesMax
  }

  get lagged(): boolean { return this.#state === 'lagged' }
  /** It was let go before the last call came. */
  get broken(): boolean { return this.#state === 'gone' }

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

  /** Ends it in peace. */
  leave(): void {
    this.#drop('left')
  }

  /** Nothing is taken from it any more. */
  letGo(): void {
    this.#drop('gone')
  }

  /** Calls, as many at once as are there; ends behind the last one. */
  async* batches(): AsyncGenerator<Uint8Array[]> {
    for (;;) {
      if (this.#calls.length === 0) {
        if (this.#state !== 'open') return
        await new Promise<void>((wake) => { this.#wake = wake })
        // What else is told in this tick goes along.
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
