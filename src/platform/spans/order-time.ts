/** The time in a segment of a dotted order, such as `20261126T143000123456Z`. */

import { readTimeUs, timeTextUs } from './time.ts'

const parts = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{6})Z$/

/** Microseconds since 1970; undefined if the text is not a time. */
export function readOrderTime(text: string): number | undefined {
  const [, year, month, day, hour, minute, second, fraction] = parts.exec(text) ?? []
  if (year === undefined) return undefined
  return readTimeUs(`${year}-${month}-${day}T${hour}:${minute}:${second}.${fraction}Z`)
}

/** The time as a segment of a dotted order has it. */
export function orderTime(us: number): string {
  return `${timeTextUs(us).replaceAll(/[-:.]/g, '')}Z`
}
