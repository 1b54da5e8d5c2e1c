/**
 * When to ask a second host for what the first one has not answered yet ("hedged requests": Dean
 * and Barroso, The Tail at Scale). A busy host takes ten times as long for one read in four, and a
 * second host is seldom slow at the same moment.
 */

import { RunningMedian } from './running-median.ts'

/** Time for any statement that may be executed twice. */
export const patienceMs = 200
/** Time for a statement that many callers wait for: a multiple of its usual time, within bounds. */
const promptTimes = 2
const [promptMinMs, promptMaxMs] = [2, 100]

/** A speculative execution policy of the driver. */
export class Hedge {
  /** The usual time of statements that many callers wait for, by their text. */
  readonly #median = new Map<string, RunningMedian>()

  /** Records the time of a statement that many callers wait for. */
  answered(cql: string, tookMs: number): void {
    const median = this.#median.get(cql) ?? new RunningMedian(promptMinMs)
    this.#median.set(cql, median)
    median.add(tookMs)
  }

  newPlan(_keyspace: string, statement: string | readonly object[]): { nextExecution(): number } {
    const median = typeof statement === 'string' ? this.#median.get(statement) : undefined
    let next = median === undefined
      ? patienceMs
      : Math.min(promptMaxMs, Math.max(promptMinMs, Math.round(promptTimes * median.ms)))
    return {
      nextExecution: () => {
        const delayMs = next
        next = -1
        return delayMs
      },
    }
  }

  init(): void {}

  shutdown(): void {}

  getOptions(): Map<string, object> {
    return new Map()
  }
}
