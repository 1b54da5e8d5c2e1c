/** A limit on reports of what happens again and again: so that it does not fill the log. */

import type { Env } from '../runtime/env.ts'

/** Reports at most once in `quietMs`; `omitted` is how many reports were left out before. */
export function throttleLog(env: Pick<Env, 'monotonicMs'>,
  quietMs: number): (report: (omitted: number) => void) => void {
  let quietUntilMs = Number.NEGATIVE_INFINITY
  let leftOut = 0
  return (report) => {
    const nowMs = env.monotonicMs()
    if (nowMs < quietUntilMs) return void leftOut++
    report(leftOut)
    quietUntilMs = nowMs + quietMs
    leftOut = 0
  }
}
