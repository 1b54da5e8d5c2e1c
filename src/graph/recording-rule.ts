/** The rule by which outgoing calls of runs are recorded: for which share, and for how long. */

import { z } from 'zod'

/** Share of runs that are recorded, from 0 to 1, and days for which that is kept. */
export interface RecordingRule {
  readonly ratio: number
  readonly days: number
}

const form = 'must be "off", "all" or a share of runs like "10%"'
const daysForm = 'must be a number of days from 1 to 365'
/** Days for which recordings are kept at most. */
export const recordingDaysMax = 365
const usualDays = 14

/** `heddle.record` of a langgraph.json. */
export const recordShape = z.string(form)
  .regex(/^(?:off|all|(?:100|\d{1,2})(?:\.\d{1,4})?%)$/, form)
  .refine((text) => ratioOf(text) <= 1, form)

/** `heddle.record_days` of a langgraph.json. */
export const recordDaysShape = z.int(daysForm).min(1, daysForm).max(recordingDaysMax, daysForm)

/** The rule; undefined if nothing is recorded. */
export function recordingRuleOf(
  { record = 'off', record_days: days = usualDays }: { readonly record?: string | undefined;
    readonly record_days?: number | undefined } = {},
): RecordingRule | undefined {
  const ratio = ratioOf(record)
  return ratio > 0 ? { ratio, days } : undefined
}

function ratioOf(text: string): number {
  if (text === 'off') return 0
  return text === 'all' ? 1 : Number.parseFloat(text) / 100
}
