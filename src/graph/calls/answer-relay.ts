/** The way of one answer to its client, past a watcher that may hold it back. */

import type { AnswerHead, CallEnd } from './call.ts'
import type { CallWatcher, HeldPart } from './call-gate.ts'

/** Bytes of an answer that are held back before it is passed on. */
export const heldBytesMax = 4 * 1024 * 1024

/** Gives a part of the answer to the client. False if the client takes no more for now. */
type Deliver = () => boolean | void

interface Waiting {
  readonly bytes: number
  readonly deliver: Deliver
}

/** Shows an answer to its watcher, and gives it to the client as far as the watcher lets it. */
export class AnswerRelay {
  readonly #watcher: CallWatcher | undefined
  readonly #holds: HeldPart
  /** Fails the call for its client. */
  readonly #fail: (error: Error) => void
  #waiting: Waiting[] = []
  #bytes = 0
  #isHeld: boolean
  #isPaused = false
  #isEnded = false
  #isCut = false

  constructor(watcher: CallWatcher | undefined, fail: (error: Error) => void) {
    this.#watcher = watcher
    this.#holds = watcher?.holds ?? 'nothing'
    this.#isHeld = this.#holds === 'answer'
    this.#fail = fail
  }

  /** True if the end of the call was seen. */
  get isEnded(): boolean {
    return this.#isEnded
  }

  /** False if the wire should wait. */
  head(head: AnswerHead, deliver: Deliver): boolean {
    if (this.#isEnded) return true
    quietly(() => this.#watcher?.head?.(head))
    return this.#give(0, deliver)
  }

  /** False if the wire should wait. */
  chunk(chunk: Uint8Array, deliver: Deliver): boolean {
    if (this.#isEnded) return true
    quietly(() => this.#watcher?.chunk?.(chunk))
    return this.#give(chunk.byteLength, deliver)
  }

  /** The answer or its failure is complete. What is delivered is the end, or the error. */
  end(end: CallEnd, deliver: Deliver): void {
    if (this.#isEnded) return
    this.#isEnded = true
    const settled = this.#settle(end)
    if (this.#holds === 'nothing' || settled === undefined) {
      settled?.catch(() => {})
      this.#release(deliver)
    } else {
      settled.then(() => this.#release(deliver), (error: unknown) => {
        // The client has got no part of an answer that is still held.
        if (this.#isHeld) this.#waiting = []
        this.#release(() => this.#fail(errorOf(error)))
      })
    }
  }

  /** The client has gone: nothing more reaches it. */
  cancel(mayHaveLeft: boolean): void {
    this.#isCut = true
    this.#waiting = []
    if (this.#isEnded) return
    this.#isEnded = true
    this.#settle({ kind: 'cancelled', mayHaveLeft })?.catch(() => {})
  }

  /** The client takes more. True if nothing waits for it here. */
  resume(): boolean {
    this.#isPaused = false
    return this.#pump()
  }

  #give(bytes: number, deliver: Deliver): boolean {
    this.#bytes += bytes
    this.#waiting.push({ bytes, deliver })
    if (this.#bytes > heldBytesMax) this.#isHeld = false
    if (!this.#isHeld) return this.#pump()
    return true
  }

  #release(last: Deliver): void {
    this.#isHeld = false
    this.#waiting.push({ bytes: 0, deliver: last })
    this.#pump()
  }

  #pump(): boolean {
    while (!this.#isHeld && !this.#isPaused && !this.#isCut) {
      const next = this.#waiting.shift()
      if (next === undefined) return true
      this.#bytes -= next.bytes
      if (next.deliver() === false) this.#isPaused = true
    }
    return this.#isHeld
  }

  #settle(end: CallEnd): Promise<void> | undefined {
    try {
      return this.#watcher?.ended?.(end) ?? undefined
    } catch (error) {
      return Promise.reject(errorOf(error))
    }
  }
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}

function quietly(work: () => void): void {
  try {
    work()
  } catch {
    // A watcher must not end a call.
  }
}
