/** The line in which suspects of a crash wait: each resumes late, and alone among them. */

import type { Env } from '../../../cluster/index.ts'

/** A run, as the marks of a process name it. */
export interface RunName {
  readonly tenant: string
  readonly threadId: string
  readonly runId: string
}

interface Waiting {
  readonly runsSinceMs: number
  readonly start: () => void
}

/** Time after which the next suspect starts, though the one before has not finished a superstep. */
export const trialMs = 10_000

/** The suspects of one member: one is on trial, the others wait. */
export class Quarantine {
  readonly #env: Pick<Env, 'after'>
  readonly #marked: ReadonlySet<string>
  readonly #waiting = new Set<Waiting>()
  #onTrial: Waiting | undefined
  #stopTrial = () => {}
  #isOpen = false

  /** `marked`: the runs whose code was being executed when the process before this one died. */
  constructor(env: Pick<Env, 'after'>, marked: Iterable<RunName> = []) {
    this.#env = env
    this.#marked = new Set([...marked].map(textOf))
  }

  isMarked(run: RunName): boolean {
    return this.#marked.has(textOf(run))
  }

  /** Lets suspects start from now on: clients are answered, and innocent runs continue. */
  open(): void {
    this.#isOpen = true
    this.#next()
  }

  /**
   * Calls `start` when it is the run's turn, never within this call. The one that was started last
   * goes first: those before it had survived. Returns a function that ends the wait or the trial.
   */
  enter(runsSinceMs: number, start: () => void): () => void {
    const waiting = { runsSinceMs, start }
    this.#waiting.add(waiting)
    queueMicrotask(() => this.#next())
    return () => {
      this.#waiting.delete(waiting)
      if (this.#onTrial === waiting) this.#end()
    }
  }

  #next(): void {
    if (!this.#isOpen || this.#onTrial) return
    const [first] = [...this.#waiting].sort((a, b) => b.runsSinceMs - a.runsSinceMs)
    if (!first) return
    this.#waiting.delete(first)
    this.#onTrial = first
    this.#stopTrial = this.#env.after(trialMs, () => this.#end())
    first.start()
  }

  #end(): void {
    this.#stopTrial()
    this.#onTrial = undefined
    queueMicrotask(() => this.#next())
  }
}

function textOf({ tenant, threadId, runId }: RunName): string {
  return `${tenant}\n${threadId}\n${runId}`
}
