/** Numbers as people type them. */

import { CommandError } from '../admin-command.ts'

/** A whole number within bounds. Throws CommandError that names the option. */
export function wholeNumber(option: string, typed: string,
  { least, most }: { readonly least: number; readonly most: number }): number {
  const number = /^\d{1,9}$/.test(typed) ? Number(typed) : NaN
  if (number >= least && number <= most) return number
  throw new CommandError(`${option} must be a whole number from ${least} to ${most}, ` +
    `not "${typed}"`, 'misused')
}
