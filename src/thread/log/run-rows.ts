/** Changes by several records together to the rows of runs. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { RowUpdate } from '../../checkpoint/index.ts'
import type { RunChanges } from '../model/run-changes.ts'

/** The rows of runs as a row of the log leaves them. */
export class RunRows {
  readonly changed = new Map<string, RunRow>()
  readonly removedRunIds = new Set<string>()
  readonly ended: RunRow[] = []

  /** Those that have ended and are still there: neither rolled back nor deleted. */
  get kept(): readonly RunRow[] {
    return this.ended.filter(({ runId }) => !this.removedRunIds.has(runId))
  }

  /**
   * The rows of all these runs, also of removed ones. The owner before may have written a part of a
   * row, or still be about to; who removes all runs of a thread finds them by their order.
   */
  get whole(): RowUpdate[] {
    return [...this.changed.values()].map((row) => ({ table: 'run', row }))
  }

  /** Adds what one more record changes. */
  note({ changed, removedRunIds, ended }: RunChanges): void {
    this.ended.push(...ended)
    if (changed) this.changed.set(changed.runId, changed)
    for (const runId of removedRunIds) this.removedRunIds.add(runId)
  }
}
