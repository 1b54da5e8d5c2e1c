/** The command that lists billing records, on the data of real servers. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, afterEach, describe, expect, it } from 'vitest'

import { billedOn, billingArgs, printedBilling } from '../../support/billing-command.ts'
import { heddleProcess } from '../../support/command.ts'
import { say } from '../../support/run-events.ts'
import { oneWorker, startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'
import { clientOf } from '../../support/server.ts'

const root = mkdtempSync(join(tmpdir(), 'heddle-billing-'))
afterAll(() => rmSync(root, { recursive: true }))

const printed = (args: readonly string[]) => printedBilling(root, args)
const recordsOf = (data: string, day: string) => billedOn(root, data, day)

describe('the command "billing"', () => {
  let server: ServerProcess | undefined
  afterEach(() => server?.close())

  it('lists each run once, even after a restart and after its thread is deleted', async () => {
    const data = join(root, 'us')
    server = await startServer({ project: 'conformance', dataDir: data,
      args: ['--billing', 'on', '--region', 'us', '--limits', 'off', ...oneWorker] })
    const { threads, runs } = clientOf(server.url)
    const { thread_id: threadId } = await threads.create()
    const { run_id: runId } = await runs.create(threadId, 'echo', { input: say('secret') })
    await runs.join(threadId, runId)
    const { updated_at: endedAt } = await runs.get(threadId, runId)
    const day = new Date(endedAt).toISOString().slice(0, 10)
    const before = await recordsOf(data, day)
    expect(before).toEqual([{ tenant: 'local', day, runId, threadId, graphId: 'echo',
      assistantId: expect.any(String), status: 'success', startedMs: expect.any(Number),
      endedMs: Date.parse(endedAt) }])
    await server.kill('SIGKILL')
    await server.restart()
    await runs.join(threadId, runId)
    expect(await recordsOf(data, day)).toEqual(before)
    await threads.delete(threadId)
    expect(await recordsOf(data, day)).toEqual(before)
    const table = await heddleProcess('billing', ...billingArgs(data, day))
    expect(table.stdout).toMatch(new RegExp(`^run .* graph\n${runId} +${threadId} .* echo\n$`))
    expect(await printed(billingArgs(data, '2001-01-01'))).toMatch(/^There are no records .*\.\n$/)
    expect(await recordsOf(data, '2001-01-01')).toEqual([])
    await server.kill('SIGTERM')
    expect(await recordsOf(data, day)).toEqual(before)
  })

  it('finds nothing in the region eu, where a server with billing does not start', async () => {
    const data = join(root, 'eu')
    const eu = ['--region', 'eu', '--limits', 'off']
    server = await startServer({ project: 'conformance', dataDir: data,
      args: [...eu, ...oneWorker] })
    const { thread_id: threadId } = await clientOf(server.url).threads.create()
    await clientOf(server.url).runs.wait(threadId, 'echo', { input: say('hello') })
    const [run] = await clientOf(server.url).runs.list(threadId)
    const day = new Date(run!.updated_at).toISOString().slice(0, 10)
    expect(await recordsOf(data, day)).toEqual([])
    const refused = await heddleProcess('--billing', 'on', ...eu, '--data', join(root, 'none'))
    expect(refused).toMatchObject({ status: 2, stdout: '',
      stderr: expect.stringMatching(/^heddle: --billing on .*region eu\.\n$/) })
  })
})
