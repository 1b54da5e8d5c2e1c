/**
 * Times of a cron in which no due time was settled. Under a clock that is ahead, due times are
 * settled far from those before them. When the clock is right again, those between are still to
 * come. Pure.
 */

import type { CronGap, CronRow } from '../../proto/gen/storage/v1/row.ts'
import { nextDueMs } from './schedule.ts'

/** Gaps that are remembered; the oldest are forgotten first. */
const gapsMax = 16

type Fired = Pick<CronRow, 'schedule' | 'timezone' | 'firedMs' | 'nextMs' | 'gaps'>

/** True if a due time up to `firedMs` is not settled. */
export function isInGap({ gaps }: Pick<CronRow, 'gaps'>, dueMs: number): boolean {
  return gaps.some(({ fromMs, throughMs }) => fromMs <= dueMs && dueMs <= throughMs)
}

/** The first due time in a gap after `afterMs`; 0 if there is none. */
export function nextInGaps({ gaps, ...schedule }: Pick<CronRow, 'gaps' | 'schedule' | 'timezone'>,
  afterMs: number): number {
  const found = gaps.filter(({ throughMs }) => throughMs > afterMs).map(({ fromMs, throughMs }) => {
    const dueMs = nextDueMs(schedule, Math.max(afterMs, fromMs - 1))
    return dueMs <= throughMs ? dueMs : 0
  }).filter((dueMs) => dueMs > 0)
  return found.length === 0 ? 0 : Math.min(...found)
}

/** The gaps after a due time is settled: it is in none, and what it passed over is in one. */
export function gapsAfterFiring(row: Fired, dueMs: number): CronGap[] {
  const { gaps, firedMs, nextMs } = row
  const left = gaps.flatMap((gap) =>
    isInGap({ gaps: [gap] }, dueMs)
      ? [{ ...gap, throughMs: dueMs - 1 }, { ...gap, fromMs: dueMs + 1 }]
        .filter((part) => hasDue(row, part))
      : [gap]
  )
  const passed = { fromMs: nextMs > firedMs ? nextMs : firedMs + 1, throughMs: dueMs - 1 }
  return [...left, ...nextMs > 0 && hasDue(row, passed) ? [passed] : []].slice(-gapsMax)
}

/** The gaps after the due times were set: nothing was settled between `firedMs` and then. */
export function gapsAfterSaving({ gaps, firedMs }: Pick<CronRow, 'gaps' | 'firedMs'>,
  atMs: number): CronGap[] {
  const before = gaps.filter(({ fromMs }) => fromMs <= firedMs)
  if (atMs <= firedMs) return before
  return [...before, { fromMs: firedMs + 1, throughMs: atMs }].slice(-gapsMax)
}

function hasDue(schedule: Pick<CronRow, 'schedule' | 'timezone'>,
  { fromMs, throughMs }: CronGap): boolean {
  if (fromMs > throughMs) return false
  const dueMs = nextDueMs(schedule, fromMs - 1)
  return dueMs > 0 && dueMs <= throughMs
}
