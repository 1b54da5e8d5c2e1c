/** The execution that wrote the newest steps of a thread, if this activation observed its end. */

import type { RecordOf } from '../../checkpoint/index.ts'
import { concernsSteps } from '../model/thread-state.ts'

/** Tracks the execution whose worker has the newest steps in memory. */
export class NewestSteps {
  #execution: number | null = null

  /** Null if the end of that execution was not observed, or if anything was written after it. */
  get execution(): number | null {
    return this.#execution
  }

  /** Call when all steps of this execution are written. */
  ended(executionId: number): void {
    this.#execution = executionId
  }

  wrote(records: readonly RecordOf[]): void {
    // The memory of a worker includes the metadata of the checkpoint.
    const isChange = (record: RecordOf) =>
      concernsSteps(record) || record.$case === 'checkpointPatched'
    if (records.some(isChange)) this.#execution = null
  }
}
