/**
 * The frames of one socket, carried out one after another: a client may rely on the order of its
 * commands. While some wait, nothing more is read from the socket.
 */

import { setImmediate as turn } from 'node:timers/promises'

/** Frames, and their bytes, that may wait while the socket is still read. */
const waitingMax = { frames: 16, bytes: 1024 * 1024 }

/** Callbacks of a queue: for its frames, and for reading from the socket. */
export interface FrameQueueOptions {
  /** Carries out a frame. Never rejects. */
  handle(frame: Frame): Promise<void>
  /** Called when all frames that have come were carried out. Never rejects. */
  idle(): Promise<void>
  /** Called with a frame that is not carried out, as the socket has closed. */
  dropped(frame: Frame): void
  /** Stops reading from the socket. */
  pause(): void
  resume(): void
}

/** A frame as it came. */
export interface Frame {
  readonly bytes: Buffer
  readonly isBinary: boolean
}

/** Frames of one socket, which owns it. */
export class FrameQueue {
  readonly #options: FrameQueueOptions
  #waiting: Frame[] = []
  #waitingBytes = 0
  #isBusy = false
  #closed = false
  /** True while nothing is read from the socket. */
  paused = false

  constructor(options: FrameQueueOptions) {
    this.#options = options
  }

  add(frame: Frame): void {
    if (this.#closed) return this.#options.dropped(frame)
    this.#waiting.push(frame)
    this.#waitingBytes += frame.bytes.length
    if (!this.#isBusy) void this.#work()
    const { frames, bytes } = waitingMax
    if (this.paused || (this.#waiting.length < frames && this.#waitingBytes < bytes)) return
    this.paused = true
    this.#options.pause()
  }

  close(): void {
    this.#closed = true
    for (const frame of this.#waiting.splice(0)) this.#options.dropped(frame)
  }

  async #work(): Promise<void> {
    this.#isBusy = true
    for (let frame = this.#waiting.shift(); frame; frame = this.#waiting.shift()) {
      this.#waitingBytes -= frame.bytes.length
      await this.#options.handle(frame)
      if (this.#waiting.length > 0) continue
      this.#resume()
      // What was sent together with this frame may not be read yet.
      await turn()
      if (this.#waiting.length === 0) await this.#options.idle()
    }
    this.#isBusy = false
  }

  #resume(): void {
    if (!this.paused || this.#closed) return
    this.paused = false
    this.#options.resume()
  }
}
