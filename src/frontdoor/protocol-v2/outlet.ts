/**
 * Frames that wait for one reader. While the reader takes no more, they wait here up to a limit. A
 * reader beyond it, or one that takes nothing for a minute, is disconnected.
 */

import { backlog } from '../http/backlog.ts'
import { Backpressure } from '../http/backpressure.ts'

/** Destination of frames: the connection of one reader. */
export interface Sink {
  /** False if it takes no more until it is drained. */
  write(frames: readonly string[]): boolean
  /** Disconnects the reader, so that it comes back. */
  cut(): void
}

/** The way to one reader, which owns it. */
export class Outlet {
  readonly #sink: Sink
  readonly #backpressure = new Backpressure()
  #full = false
  #fullTicks = 0
  #waiting: string[] = []
  #waitingCharacters = 0
  #closed = false

  constructor(sink: Sink) {
    this.#sink = sink
  }

  /** True while the reader takes no more. */
  get full(): boolean {
    return this.#full
  }

  send(frames: readonly string[]): void {
    if (this.#closed || frames.length === 0) return
    if (!this.#full) {
      this.#full = !this.#sink.write(frames)
      return
    }
    if (this.#waiting.length >= backlog.events) return this.#sink.cut()
    if (this.#waitingCharacters >= backlog.characters) return this.#sink.cut()
    for (const frame of frames) {
      this.#waiting.push(frame)
      this.#waitingCharacters += frame.length
    }
  }

  /** Call when the reader takes more. */
  drained(): void {
    this.#full = false
    this.#fullTicks = 0
    const frames = this.#waiting
    this.#waiting = []
    this.#waitingCharacters = 0
    this.send(frames)
    if (!this.#full) this.#backpressure.notify()
  }

  /** Resolves when the reader takes more, or has gone; undefined if it does now. */
  ready(): Promise<void> | undefined {
    return this.#full && !this.#closed ? this.#backpressure.wait() : undefined
  }

  /** Counts the ticks in which the reader took nothing. */
  tick(): void {
    if (this.#full && ++this.#fullTicks >= backlog.ticks) this.#sink.cut()
  }

  /** Nothing more is sent. All that wait go on. */
  close(): void {
    this.#closed = true
    this.#waiting = []
    this.#backpressure.notify()
  }
}
