/**
 * When a second host is asked what the first one has not answered yet ("hedged requests": Dean and
 * Barroso, The Tail at Scale). A host that is busy takes ten times as long for one read in four;
 * a second one seldom does so at the same moment.
 */

/** Of any statement that may be done twice. */
const patienceMs = 200
/** Of one that many wait for: so many times what it usually takes, within bounds. */
const promptTimes = 2
const [promptMinMs, promptMaxMs] = [2, 100]
/** The usual time follows what is heard by so much each time: it comes to rest at the median. */
const step = 1.05
/** Of a clock that does not move: from nothing it would never rise again. */
const leastMs = 0.1

/** A speculative execution policy of the driver. */
export class Hedge {
  /** By the text of a statement that many wait for: what it usually takes. */
  readonly #usualMs = new Map<string, number>()

  /** A statement that many wait for was answered. */
  heard(cql: string, tookMs: number): void {
    const usualMs = this.#usualMs.get(cql) ?? promptMinMs
    const nextMs = tookMs > usualMs ? usualMs * step : usualMs / step
    this.#usualMs.set(cql, Math.max(leastMs, nextMs))
  }

  newPlan(_keyspace: string, statement: string | readonly object[]):
  { nextExecution(): number } {
    const usualMs = typeof statement === 'string' ? this.#usualMs.get(statement) : undefined
    let next = usualMs === undefined ? patienceMs
      : Math.min(promptMaxMs, Math.max(promptMinMs, Math.round(promptTimes * usualMs)))
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
