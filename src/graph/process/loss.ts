/** Why executions were lost with their process, and which of them are suspects. Pure. */

import { LRUCache } from '../../../cluster/index.ts'
import type { Execution, LossReason } from '../execution.ts'

/**
 * memory   it used more than it may
 * ended    it ended by itself, or was ended from outside
 * silent   it did not answer for long
 * broken   it sent what is no message
 */
export type DeathCause = 'memory' | 'ended' | 'silent' | 'broken'

/** Circumstances of a process when it died. */
export interface Death {
  readonly cause: DeathCause
  /** True if the process was for one execution. */
  readonly isApart: boolean
  /** Executions that it had. */
  readonly executions: number
  /** True if suspects are remembered, so that each gets a process of its own the next time. */
  readonly remembers: boolean
}

/**
 * Reason for which each execution of a dead process is lost. A run that filled the memory of a
 * process of its own would do so again. Among several, the culprit is found the next time.
 */
export function lossOf({ cause, isApart, executions, remembers }: Death): LossReason {
  if (cause !== 'memory') return 'crashed'
  if (isApart) return 'full'
  if (remembers) return 'displaced'
  return executions === 1 ? 'full' : 'crashed'
}

/** Suspects that are remembered. The least recently noted are forgotten first. */
const remembered = 1_000

/**
 * Runs that a graph process died with. Each gets a process of its own the next time. One that
 * outlives the processes of a deployment keeps this through their deaths.
 */
export class Suspects {
  readonly #runs = new LRUCache<string, true>({ max: remembered })

  note(execution: Execution): void {
    this.#runs.set(nameOf(execution), true)
  }

  has(execution: Execution): boolean {
    return this.#runs.has(nameOf(execution))
  }

  /** Call when the run has ended. */
  clear(execution: Execution): void {
    this.#runs.delete(nameOf(execution))
  }
}

function nameOf({ tenant, threadId, runId }: Execution): string {
  return `${tenant}\n${threadId}\n${runId}`
}
