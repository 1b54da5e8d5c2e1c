/** The command `heddle billing`: lists the billing records of a tenant and day. */

import { Command } from 'commander'

import { isTenant } from '../access/index.ts'
import { firstPlace, isDay } from '../billing/index.ts'
import type { BillingRow, BillingTable } from '../billing/index.ts'
import { CommandError, withAdminAccess, runCommand } from './admin-command.ts'
import type { CommandSource, TypedFormat } from './admin-command.ts'

interface Typed extends TypedFormat {
  readonly tenant: string
  readonly day: string
}

/** Records that are read and printed at a time: a day may have millions. */
const pageRows = 1_000

/** Prints the billing records of one tenant and day. Throws CommandError. */
export function runBillingCommand(source: CommandSource): Promise<void> {
  const command = new Command('heddle billing')
    .description('Lists the records of the runs that ended on a day, for a bill.')
    .requiredOption('--tenant <name>', 'Whose runs.')
    .requiredOption('--day <date>', 'The day on which they ended, in UTC: 2026-11-20.')
    .action(async (typed: Typed) => {
      requireGood(typed)
      await withAdminAccess(source, command,
        ({ billing }) =>
          (typed.json ? printJson : printTable)(pagesOf(billing, typed), source.print))
    })
  return runCommand(command, source, 'say whose runs, and of which day')
}

function requireGood({ tenant, day }: Typed): void {
  if (!isTenant(tenant))
    throw new CommandError(`--tenant: no tenant has the name "${tenant}".`, 'misused')
  if (!isDay(day))
    throw new CommandError(`--day must be a day like 2026-11-20, not "${day}".`, 'misused')
}

async function* pagesOf(billing: BillingTable,
  { tenant, day }: Typed): AsyncGenerator<readonly BillingRow[]> {
  for (let after = firstPlace;;) {
    const page = await billing.page({ tenant, day, after, limit: pageRows })
    yield page
    if (page.length < pageRows) return
    after = page.at(-1)!
  }
}

type Pages = AsyncIterable<readonly BillingRow[]>

/** One array, a record a line. */
async function printJson(pages: Pages, print: CommandSource['print']): Promise<void> {
  let before = '['
  for await (const page of pages) {
    for (const row of page) {
      print(`${before}${JSON.stringify(row)}`)
      before = ',\n'
    }
  }
  print(before === '[' ? '[]\n' : ']\n')
}

const widths = [36, 36, 36, 11, 19, 19]

async function printTable(pages: Pages, print: CommandSource['print']): Promise<void> {
  let some = false
  for await (const page of pages) {
    if (page.length > 0 && !some) {
      print(lineOf(['run', 'thread', 'assistant', 'status', 'started', 'ended', 'graph']))
    }
    some ||= page.length > 0
    for (const { runId, threadId, assistantId, status, startedMs, endedMs, graphId } of page) {
      print(
        lineOf([runId, threadId, assistantId, status,
          startedMs === null ? 'never' : secondOf(startedMs), secondOf(endedMs), graphId]),
      )
    }
  }
  if (!some) print('There are no records of runs that ended on that day.\n')
}

function lineOf(texts: readonly string[]): string {
  return `${texts.map((text, index) => text.padEnd(widths[index] ?? 0)).join('  ').trimEnd()}\n`
}

function secondOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
}
