/** `npm run verify`: the current server with a new seed in each nightly run, and its own parts. */

import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

import { indexHistory } from '../../verify/checker/history-index.ts'
import type { Call } from '../../verify/history/history.ts'
import { checkLogs, hasGo } from '../../verify/linearizability/check.ts'

const go = hasGo()
const root = resolve(import.meta.dirname, '../..')
const seed = Number(process.env['HEDDLE_SEED'] ?? Date.now() % 1_000_000)

it(`Random operations and kills break no rule for 5 minutes (HEDDLE_SEED=${seed}).`, async () => {
  const history = await mkdtemp(join(tmpdir(), 'heddle-verify-'))
  // It rejects with the output if the exit code is not 0. The histories are kept then.
  const { stdout } = await promisify(execFile)(process.execPath, ['verify/main.ts', '--minutes',
    '5', '--seed', String(seed), '--history', history], { cwd: root })
  expect(stdout).toContain('none broken')
  await rm(history, { recursive: true })
})

/** Updates of one thread, with the time at which each starts, and reads of its log. */
type Step = readonly [startMs: number, step: { update: string } | { read: readonly string[] }]

function callOf([startMs, step]: Step): Call {
  const call = { type: 'call', client: 0, threadId: 't', method: 'GET', path: '/', status: 200,
    startMs, endMs: startMs + 10 } as const
  return 'update' in step
    ? { ...call, operation: 'state.update', body: { values: { log: [step.update] } } }
    : { ...call, operation: 'thread.state', response: { values: { log: step.read } } }
}

const created: Call = { ...callOf([0, { read: [] }]), threadId: undefined,
  operation: 'thread.create', response: { thread_id: 't' } }
const updates: readonly Step[] = [[20, { update: 'a' }], [25, { update: 'b' }]]

it.skipIf(!go).each<[string, readonly Step[], number]>([
  ['accepts concurrent updates in either order', [[26, { read: ['b'] }], [50, {
    read: ['b', 'a'],
  }]], 0],
  ['finds a read without an update that was acknowledged', [[50, { read: ['a'] }]], 1],
  ['finds two reads that disagree on an order', [[26, { read: ['a'] }], [50, { read: ['b', 'a'] }]],
    1],
])('The check for linearizability %s.', async (_what, reads, broken) => {
  const entries = [created, ...[...updates, ...reads].map(callOf)]
  expect(await checkLogs(indexHistory(entries))).toHaveLength(broken)
})
