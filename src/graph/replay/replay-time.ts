/** The clock and the chance of a worker that replays: the day of the recording, and a seed. */

import { createHash } from 'node:crypto'

/** Sets the clock and the chance for the next execution. */
export interface ReplayTime {
  begin(startedAtMs: number, seed: string): void
}

/** Replaces `Date` and `Math.random`. The clock runs on from where it is set. */
export function openReplayTime(): ReplayTime {
  const Real = Date
  const realNow = Real.now.bind(Real)
  const realRandom = Math.random
  let [offsetMs, next] = [0, realRandom]
  const now = () => realNow() + offsetMs
  globalThis.Date = new Proxy(Real, {
    construct: (target, given: unknown[], made) =>
      Reflect.construct(target, given.length === 0 ? [now()] : given, made) as object,
    apply: () => new Real(now()).toString(),
    get: (target, name, receiver) =>
      name === 'now' ? now : Reflect.get(target, name, receiver) as unknown,
  })
  Real.prototype.constructor = globalThis.Date
  Math.random = () => next()
  return {
    begin: (startedAtMs, seed) => {
      offsetMs = startedAtMs - realNow()
      next = seeded(seed)
    },
  }
}

/** Numbers from 0 to below 1 that a seed decides. */
function seeded(seed: string): () => number {
  let state = createHash('sha256').update(seed).digest().readUInt32LE(0)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
