/** Waits with a timeout, whose error names what was waited for. */

import { setTimeout as pause } from 'node:timers/promises'

/** The result, unless it takes longer; `what` completes "… has not come". */
export async function within<Result>(ms: number, what: string,
  result: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(tooLate(ms, what)), ms)
  })
  try {
    return await Promise.race([result, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Polls `look` until it finds something, and returns that. */
export async function until<Found>(ms: number, what: string, look: () => Promise<Found | undefined>,
  againMs = 50): Promise<Found> {
  const end = performance.now() + ms
  for (;;) {
    const found = await within(ms, what, look())
    if (found !== undefined) return found
    if (performance.now() > end) throw tooLate(ms, what)
    await pause(againMs)
  }
}

function tooLate(ms: number, what: string): Error {
  return new Error(`After ${(ms / 1_000).toFixed(0)} s ${what} has not come.`)
}
