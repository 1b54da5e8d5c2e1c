/** The bytes that recordings may hold: of one run, and of all of a worker that wait. */

/** Bytes and calls of a run, and bytes of a worker that are not written yet. */
export const recordingMax = { runBytes: 16 * 1024 * 1024, runCalls: 2_000,
  waitingBytes: 64 * 1024 * 1024 } as const

/** The bytes of one run that are kept. */
export class RecordingRoom {
  readonly #waiting: { bytes: number }
  #bytes = 0

  constructor(waiting: { bytes: number }) {
    this.#waiting = waiting
  }

  /** Takes room for bytes. False if there is none. */
  take(bytes: number): boolean {
    const fits = this.#bytes + bytes <= recordingMax.runBytes
      && this.#waiting.bytes + bytes <= recordingMax.waitingBytes
    if (!fits) return false
    this.#bytes += bytes
    this.#waiting.bytes += bytes
    return true
  }

  /** Gives back the room of bytes that are dropped. */
  free(bytes: number): void {
    this.#bytes -= bytes
    this.#waiting.bytes -= bytes
  }

  /** Gives back the room of bytes that are written: they still count as the run's. */
  written(bytes: number): void {
    this.#waiting.bytes -= bytes
  }
}
