/** Work that waits while more of its kind keeps coming. */

import type { Env } from '../runtime/env.ts'

/** Bounds of the wait of postponed work, in milliseconds. */
export interface DebounceOptions {
  readonly env: Pick<Env, 'after' | 'monotonicMs'>
  /** All of it is done when nothing has come for this long. */
  readonly calmMs: number
  /** Nothing waits longer than this, whatever comes. */
  readonly latestMs: number
}

/** The function that it returns takes work and does it later, in the order in which it came. */
export function debounce({ env, calmMs, latestMs }: DebounceOptions): (work: () => void) => void {
  let waiting: (() => void)[] = []
  let sinceMs = 0
  let stopWaiting = () => {}
  const doAll = () => {
    const all = waiting
    waiting = []
    for (const work of all) work()
  }
  return (work) => {
    const nowMs = env.monotonicMs()
    if (waiting.length === 0) sinceMs = nowMs
    waiting.push(work)
    stopWaiting()
    stopWaiting = env.after(Math.max(0, Math.min(calmMs, sinceMs + latestMs - nowMs)), doAll)
  }
}
