/** A limit on reports of what happens again and again: so that it does not fill the log. */

import type { Env } from '../runtime/env.ts'

/** Reports at most once in `quietMs`; `untold` is how many reports were left out before. */
export function seldom(env: Pick<Env, 'monotonicMs'>, quietMs: number):
(report: (untold: number) => void) => void {
  let quietUntilMs = Number.NEGATIVE_INFINITY
  let untold = 0
  return (report) => {
    const nowMs = env.monotonicMs()
    if (nowMs < quietUntilMs) return void untold++
    report(untold)
    quietUntilMs = nowMs + quietMs
    untold = 0
  }
}
