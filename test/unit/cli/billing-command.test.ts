/** The command that lists billing records, with and without a server on them. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, describe, expect, it, onTestFinished } from 'vitest'

import type { BillingRow } from '../../../src/billing/index.ts'
import { billedOn, billingArgs, printedBilling } from '../../support/billing-command.ts'
import { heddle } from '../../support/command.ts'
import { serveDirectory } from './served-directory.ts'

const root = mkdtempSync(join(tmpdir(), 'heddle-billing-'))
afterAll(() => rmSync(root, { recursive: true }))

const printed = (args: readonly string[]) => printedBilling(root, args)
const recordsOf = (data: string, day: string) => billedOn(root, data, day)

const aRecord: BillingRow = { tenant: 'local', day: '2026-11-20', runId: '', threadId: 'x',
  assistantId: 'a', graphId: 'g', status: 'success', startedMs: null, endedMs: 1 }

describe('the command "billing"', () => {
  const data = join(root, 'us')
  const first = { ...aRecord, runId: 'r', threadId: 't', startedMs: 1, endedMs: 2 }
  /** More than two pages. */
  const many = Array.from({ length: 2_001 },
    (_, number) => ({ ...aRecord, day: '2026-11-21', runId: String(number).padStart(6, '0') }))

  it('lists the records of a day while a server has them', async () => {
    const server = await serveDirectory(data)
    onTestFinished(server.close)
    await server.store.log.append([], [first, ...many].map((row) => ({ table: 'billing', row })))
    expect(await recordsOf(data, first.day)).toEqual([first])
    const { stdout } = await heddle('billing', ...billingArgs(data, first.day))
    expect(stdout).toMatch(/^run .* graph\nr +t .* g\n$/)
    expect(await printed(billingArgs(data, '2001-01-01'))).toMatch(/^There are no records .*\.\n$/)
    expect(await recordsOf(data, '2001-01-01')).toEqual([])
  })

  it('lists a day with more records than a page, without a server', async () => {
    expect(await recordsOf(data, '2026-11-21')).toEqual(many)
  })

  it('is not for the region eu, where a server with billing does not start', async () => {
    const refused = await heddle('--billing', 'on', '--region', 'eu', '--limits', 'off', '--data',
      join(root, 'none'))
    expect(refused).toMatchObject({ status: 2, stdout: '',
      stderr: expect.stringMatching(/^heddle: --billing on .*region eu\.\n$/) })
  })

  it.each([
    [['--tenant', 'acme', '--day', '2026-02-30'], /^--day must be .* "2026-02-30"\.$/],
    [['--tenant', 'a b', '--day', '2026-02-03'], /^--tenant: no tenant .* "a b"\.$/],
    [['--day', '2026-02-03'], /^required option '--tenant .*; see billing --help$/],
    [['--tenant', 'acme'], /^required option '--day .*; see billing --help$/],
  ])('answers %j with one sentence', async (args, message) => {
    await expect(printed([...args, '--data', root])).rejects.toMatchObject({ name: 'CommandError',
      message: expect.stringMatching(message) })
  })
})
