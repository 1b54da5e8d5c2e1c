/** Choice of the worker that takes the next piece of work. */

import type { Holder, LoopLoad } from './loop-load.ts'

/** A worker as the choice sees it. */
export interface Candidate {
  /** Executions in progress. */
  readonly executions: number
  readonly silentMs: number
  /** Work that may hold its event loop. */
  readonly load: Pick<LoopLoad, 'aheadMs' | 'hasRoomFor'>
}

/** Silence after which a worker gets no new work. */
export const silentAfterMs = 1000
/** Executions after which a worker is full. They mostly wait for models. */
const executionsMax = 1000

/**
 * The preferred worker if it can take work; otherwise the first idle one, so that few workers stay
 * warm instead of many lukewarm; otherwise the one whose loop is held for the shortest time, and
 * the least busy of those. Undefined if none can take work.
 */
export function choose<C extends Candidate>(workers: readonly C[], preferred?: C): C | undefined {
  const able = workers.filter(isAble)
  if (preferred && able.includes(preferred)) return preferred
  const idle = able.find(({ executions }) => executions === 0)
  if (idle || able.length === 0) return idle
  return able.reduce((best, worker) => isBetter(worker, best) ? worker : best)
}

/** As `choose`, among the workers whose loop can begin the run soon. */
export function chooseFor<C extends Candidate>(holder: Holder, workers: readonly C[],
  preferred?: C): C | undefined {
  return choose(workers.filter(({ load }) => load.hasRoomFor(holder)), preferred)
}

function isBetter(one: Candidate, other: Candidate): boolean {
  const aheadMs = one.load.aheadMs - other.load.aheadMs
  return aheadMs === 0 ? one.executions < other.executions : aheadMs < 0
}

function isAble({ executions, silentMs }: Candidate): boolean {
  return silentMs < silentAfterMs && executions < executionsMax
}
