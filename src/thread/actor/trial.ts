/** The suspect of a thread: waits for its turn in the quarantine of the member, and leaves it. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { ThreadContext } from '../context/thread-context.ts'

interface Place {
  readonly runId: string
  isOn: boolean
  leave(): void
}

export class Trial {
  readonly #context: ThreadContext
  #place: Place | undefined

  constructor(context: ThreadContext) {
    this.#context = context
  }

  /** Whether a run may start. A suspect waits for its turn, which comes as a `wake`. */
  admits({ runId, suspect, updatedAtMs }: RunRow): boolean {
    if (!suspect) return true
    if (this.#place?.runId === runId) return this.#place.isOn
    this.end()
    const { ports: { quarantine }, notify } = this.#context
    const place: Place = { runId, isOn: false, leave: quarantine.enter(updatedAtMs, () => {
      place.isOn = true
      notify({ type: 'wake' })
    }) }
    this.#place = place
    return false
  }

  /** Ends it if the run has ended, or has finished a superstep. */
  look(): void {
    if (this.#place === undefined) return
    const { runs } = this.#context.threadLog.state
    if (!runs.some(({ runId, suspect }) => suspect && runId === this.#place?.runId)) this.end()
  }

  end(): void {
    this.#place?.leave()
    this.#place = undefined
  }
}
