/** Durations as people type them: 90s, 5m, 2h, 7d. */

import { CommandError } from '../admin-command.ts'

const unitsMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** A typed duration in milliseconds. Throws CommandError that names the option. */
export function durationMs(option: string, typed: string): number {
  const [, count, unit] = /^(\d{1,6})(s|m|h|d)$/.exec(typed) ?? []
  const ms = Number(count) * unitsMs[unit as keyof typeof unitsMs]
  if (ms > 0) return ms
  throw new CommandError(`${option} must be like 90s, 5m, 2h or 7d, not "${typed}"`, 'misused')
}
