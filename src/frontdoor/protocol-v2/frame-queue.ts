/**
 * The frames of one socket, carried out one after another: a client may rely on the order of its
 * commands. While some wait, nothing more is read from the socket.
 */

/** Frames that may wait while the socket is still read. */
const waitingMax = 16

/** What a queue does with the frames. */
export interface FrameQueueOptions {
  /** Carries out a frame. Never rejects. */
  handle(frame: Frame): Promise<void>
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
  #isBusy = false
  #closed = false
  /** True while nothing is read from the socket. */
  paused = false

  constructor(options: FrameQueueOptions) {
    this.#options = options
  }

  add(frame: Frame): void {
    if (this.#closed) return
    this.#waiting.push(frame)
    if (!this.#isBusy) void this.#work()
    if (this.#waiting.length < waitingMax || this.paused) return
    this.paused = true
    this.#options.pause()
  }

  close(): void {
    this.#closed = true
    this.#waiting = []
  }

  async #work(): Promise<void> {
    this.#isBusy = true
    while (this.#waiting.length > 0) {
      const frames = this.#waiting
      this.#waiting = []
      for (const frame of frames) {
        if (!this.#closed) await this.#options.handle(frame)
      }
      this.#resume()
    }
    this.#isBusy = false
  }

  #resume(): void {
    if (!this.paused || this.#closed) return
    this.paused = false
    this.#options.resume()
  }
}
