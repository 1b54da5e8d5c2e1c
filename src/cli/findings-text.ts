/** Prints the findings of the doctor. */

import { styleText } from 'node:util'

import type { Finding, Verdict } from '../server/doctor/checks.ts'
import { CommandError } from './admin-command.ts'
import type { CommandSource } from './admin-command.ts'

const colours: Readonly<Record<Verdict, 'green' | 'yellow' | 'red'>> = { ok: 'green',
  warn: 'yellow', bad: 'red' }

/** Prints a line for each finding. Throws CommandError if one is bad. */
export function reportFindings(findings: readonly Finding[],
  { json, print }: { readonly json: boolean; readonly print: CommandSource['print'] }): void {
  print(json ? `${JSON.stringify(findings)}\n` : findings.map(lineOf).join(''))
  const bad = findings.filter(({ verdict }) => verdict === 'bad')
  if (bad.length > 0) throw new CommandError(`${bad.length} of ${findings.length} are bad.`)
}

function lineOf({ check, verdict, message, cure }: Finding): string {
  const mark = styleText(colours[verdict], verdict.padEnd(4))
  return `${mark}  ${check.padEnd(14)}  ${message}${cure === undefined ? '' : ` ${cure}`}\n`
}
