/** The suspect of a thread: waits for its turn in the quarantine of the member, and leaves it. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import type { QuarantinePlace } from '../decide/decision.ts'

interface Place extends QuarantinePlace {
  isOn: boolean
  leave(): void
}

/** The place in the quarantine that a thread has for one of its runs. */
export class Trial {
  readonly #context: ThreadContext
  #place: Place | undefined

  constructor(context: ThreadContext) {
    this.#context = context
  }

  /** Undefined if none of the runs is a suspect. */
  get place(): QuarantinePlace | undefined {
    return this.#place
  }

  /** Enters the quarantine. The command `wake` is sent when the trial may begin. */
  enter({ runId, updatedAtMs }: RunRow): void {
    const { ports: { quarantine }, notify } = this.#context
    const place: Place = { runId, isOn: false, leave: quarantine.enter(updatedAtMs, () => {
      place.isOn = true
      notify({ type: 'wake' })
    }) }
    this.#place = place
  }

  /** Ends the wait or the trial. */
  leave(): void {
    this.#place?.leave()
    this.#place = undefined
  }
}
