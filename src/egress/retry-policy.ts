/** Decides if and when a call is tried again. Pure. */

import { jittered } from '../../cluster/index.ts'

/** Waits between tries, in milliseconds. Each is shortened by chance, at most to its half. */
const waitsMs = [1_000, 5_000, 25_000, 60_000, 120_000] as const

/** Tries of a call, by default and at most. */
export const triesMax = waitsMs.length + 1

/** The wait for a server that asks for a longer one. */
const longestWaitMs = 120_000

/** Statuses that only say that this is not the time. Other 4xx are final. */
const passing = new Set([408, 425, 429])

/** True if the same call may be answered otherwise later. */
export function isPassing(status: number): boolean {
  return status >= 500 || passing.has(status)
}

/** Time to wait after try `tries`. `chance` is from 0 to 1. */
export function waitAfter({ tries, chance, askedMs }: {
  readonly tries: number
  readonly chance: number
  /** The wait that the answer asked for. */
  readonly askedMs: number
}): number {
  const ownMs = jittered(waitsMs[tries - 1]!, chance)
  return Math.max(ownMs, Math.min(askedMs, longestWaitMs))
}

/** The wait that a Retry-After asks for, in seconds or by a date; 0 if it says nothing. */
export function askedWaitMs(retryAfter: unknown, nowMs: number): number {
  if (typeof retryAfter !== 'string') return 0
  if (/^\s*\d+\s*$/.test(retryAfter)) return Number(retryAfter) * 1_000
  const untilMs = Date.parse(retryAfter)
  return Number.isNaN(untilMs) ? 0 : Math.max(0, untilMs - nowMs)
}
