/** Which worker takes the next piece of work. */

/** What the choice looks at. */
export interface Candidate {
  /** Executions in progress. */
  readonly executions: number
  readonly silentMs: number
}

/** Silence after which a worker gets no new work. */
export const silentAfterMs = 1000
/** Executions after which a worker is full. They mostly wait for models. */
const executionsMax = 1000

/**
 * The preferred worker if it can take work; otherwise the first idle one, so that few workers stay
 * warm instead of many lukewarm; otherwise the least busy. Undefined if none can take work.
 */
export function choose<C extends Candidate>(workers: readonly C[], preferred?: C): C | undefined {
  const able = workers.filter(isAble)
  if (preferred && able.includes(preferred)) return preferred
  const idle = able.find(({ executions }) => executions === 0)
  if (idle || able.length === 0) return idle
  return able.reduce((best, worker) => worker.executions < best.executions ? worker : best)
}

function isAble({ executions, silentMs }: Candidate): boolean {
  return silentMs < silentAfterMs && executions < executionsMax
}
