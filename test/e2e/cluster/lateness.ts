/** How late the timers of this process come: as late as those of all others on its machine. */

/** So often it looks. */
const lookMs = 100
/** What was long ago breaks nothing now. */
const rememberedMs = 60_000
/** Nobody can keep a time on a machine that keeps a process waiting for so long. */
const tooLateMs = 500

export class Lateness {
  readonly #timer: NodeJS.Timeout
  #lookedMs = performance.now()
  #tooLateAtMs = Number.NEGATIVE_INFINITY

  constructor() {
    this.#timer = setInterval(() => this.#look(), lookMs).unref()
  }

  /** Whether this machine was too busy of late for anybody to be in time. */
  get tooLate(): boolean {
    this.#look()
    return performance.now() - this.#tooLateAtMs < rememberedMs
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #look(): void {
    const nowMs = performance.now()
    if (nowMs - this.#lookedMs > lookMs + tooLateMs) this.#tooLateAtMs = nowMs
    this.#lookedMs = nowMs
  }
}
