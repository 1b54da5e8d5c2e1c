/** Partitions of a span, of its trace and of its id. */

import { hash } from 'node:crypto'

import type { Hour, Uuid } from '../../../../platform/index.ts'

/**
 * Hours of a bucket: a partition of the heads of a project. A rare term in 14 days is looked up 56
 * times, which takes a third of the time of 336 look-ups. An index read takes the same time in a
 * bucket of 300 000 heads as in a small one.
 */
const bucketHours = 6

const minuteUs = 60_000_000
/** Length of an hour in microseconds. */
export const hourUs = 60 * minuteUs

/** Partitions of the locations of ids that say no time. */
const timelessPartitions = 4_096n

/** The hour of a time. */
export function hourOf(us: number): Hour {
  return Math.floor(us / hourUs)
}

/** The bucket of an hour. */
export function bucketOf(hour: Hour): number {
  return Math.floor(hour / bucketHours)
}

/** The minute in which a trace began, as its partition has it. */
export function minuteOf(us: number): bigint {
  return BigInt(Math.floor(us / minuteUs))
}

/** The partition of an id: the minute of a version 7 id, or a negative number by its hash. */
export function idMinute(id: Uuid): bigint {
  if (id[14] === '7') return minuteOf(parseInt(id.slice(0, 8) + id.slice(9, 13), 16) * 1_000)
  const number = hash('sha1', id, 'buffer').readUInt32BE()
  return -1n - BigInt(number) % timelessPartitions
}

/** Months since 1970, of 30 days each. */
export function monthOf(hour: Hour): number {
  return Math.floor(hour / (24 * 30))
}

/** Seconds after which no late operation of a removed trace is expected any more. */
export const goneS = 400 * 24 * 60 * 60
