/**
 * When a second host is asked what the first one has not answered yet ("hedged requests": Dean and
 * Barroso, The Tail at Scale). A host that is busy takes ten times as long for one read in four;
 * a second one seldom does so at the same moment.
 */

import { UsualTime } from './usual-time.ts'

/** Of any statement that may be done twice. */
export const patienceMs = 200
/** Of one that many wait for: so many times what it usually takes, within bounds. */
const promptTimes = 2
const [promptMinMs, promptMaxMs] = [2, 100]

/** A speculative execution policy of the driver. */
export class Hedge {
  /** By the text of a statement that many wait for: what it usually takes. */
  readonly #usual = new Map<string, UsualTime>()

  /** A statement that many wait for was answered. */
  heard(cql: string, tookMs: number): void {
    const usual = this.#usual.get(cql) ?? new UsualTime(promptMinMs)
    this.#usual.set(cql, usual)
    usual.heard(tookMs)
  }

  newPlan(_keyspace: string, statement: string | readonly object[]):
  { nextExecution(): number } {
    const usual = typeof statement === 'string' ? this.#usual.get(statement) : undefined
    let next = usual === undefined ? patienceMs
      : Math.min(promptMaxMs, Math.max(promptMinMs, Math.round(promptTimes * usual.ms)))
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
