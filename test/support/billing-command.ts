/** The command that lists billing records, called in the process of a test. */

import type { BillingRow } from '../../src/billing/index.ts'
import { runBillingCommand } from '../../src/cli/billing-command.ts'

/** Arguments for the records of a day in a data directory. */
export function billingArgs(data: string, day: string): string[] {
  return ['--tenant', 'local', '--day', day, '--data', data]
}

/** What the command prints. Throws what it refuses with. `folder` has no project. */
export async function printedBilling(folder: string, args: readonly string[]): Promise<string> {
  let text = ''
  await runBillingCommand({ args, folder, starter: folder, environment: {}, print: (more) => {
    text += more
  } })
  return text
}

/** The records of a day, as the command prints them for programs. */
export async function billedOn(folder: string, data: string, day: string): Promise<BillingRow[]> {
  const text = await printedBilling(folder, [...billingArgs(data, day), '--json'])
  return JSON.parse(text) as BillingRow[]
}
