/** Due times of a schedule: five fields of cron in a time zone. Pure. */

import { Cron } from 'croner'

import { messageOf } from '../errors.ts'

/** Times at which a cron is due. */
export interface Schedule {
  /** Minute, hour, day of the month, month, day of the week. */
  readonly schedule: string
  /** IANA name; empty for UTC. */
  readonly timezone: string
}

/** Fault of a schedule, with the field that has it. */
export interface ScheduleFault {
  readonly field: keyof Schedule
  readonly message: string
}

/** Characters of a schedule. Bounded, because each due time is found by reading all of it. */
const scheduleMax = 256

/** Fault of a schedule; undefined for one that is due at some time after `nowMs`. */
export function scheduleFault(given: Schedule, nowMs: number): ScheduleFault | undefined {
  const { schedule, timezone } = given
  if (!isZone(timezone)) {
    return { field: 'timezone', message: 'must be the IANA name of a time zone, as Europe/Paris' }
  }
  if (schedule.length > scheduleMax) {
    return { field: 'schedule', message: `must not be longer than ${scheduleMax} characters` }
  }
  if (schedule.trim().split(/\s+/).length !== 5) {
    return { field: 'schedule', message: 'must have five fields: minute, hour, day of the month, ' +
      'month and day of the week, as in `30 2 * * *`' }
  }
  try {
    if (nextDueMs(given, nowMs) !== 0) return undefined
    return { field: 'schedule', message: 'is never due' }
  } catch (error) {
    return { field: 'schedule', message: `cannot be read: ${messageOf(error)}` }
  }
}

/** The first due time after `afterMs`; 0 if there is none. */
export function nextDueMs({ schedule, timezone }: Schedule, afterMs: number): number {
  const cron = new Cron(schedule.trim(), { mode: '5-part', timezone: timezone || 'UTC' })
  return cron.nextRun(new Date(afterMs))?.getTime() ?? 0
}

/** The first due times after `afterMs`, up to `throughMs` where that is not 0; fewer if it ends. */
export function dueTimesMs(schedule: Schedule, afterMs: number, count: number,
  throughMs = 0): readonly number[] {
  const times: number[] = []
  for (let lastMs = afterMs; times.length < count;) {
    lastMs = nextDueMs(schedule, lastMs)
    if (lastMs === 0 || throughMs > 0 && lastMs > throughMs) break
    times.push(lastMs)
  }
  return times
}

/**
 * The newest due time up to `throughMs`, not before `dueMs`, which is one. Takes as many steps as
 * the time between has binary digits, however many due times lie in it.
 */
export function latestDueMs(schedule: Schedule, dueMs: number, throughMs: number): number {
  let latest = dueMs
  for (let end = throughMs; end > latest;) {
    const middle = latest + Math.floor((end - latest) / 2)
    const next = nextDueMs(schedule, middle)
    if (next !== 0 && next <= end) latest = next
    else if (middle === latest) return latest
    else end = middle
  }
  return latest
}

function isZone(timezone: string): boolean {
  if (timezone === '') return true
  try {
    new Date(0).toLocaleString('en', { timeZone: timezone })
    return true
  } catch {
    return false
  }
}
