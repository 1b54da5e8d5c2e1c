/** Firing a cron: which run is made, what a repeat finds, and what each refusal means. */

import { describe, expect, it } from 'vitest'

import type { RunRow } from '../../../../proto/gen/storage/v1/row.ts'
import { runIdOf } from '../../../../src/crons/index.ts'
import { HeddleError } from '../../../../src/errors.ts'
import type { ErrorCode } from '../../../../src/errors.ts'
import { cronFiring } from '../../../../src/frontdoor/operations/cron-firing.ts'
import type { RunOnThread } from '../../../../src/frontdoor/operations/runs.ts'
import { aCron, anAssistant, aRun } from '../../../contract/rows.ts'

const dueMs = Date.UTC(2026, 0, 1)
const missing = new HeddleError('not_found', 'It is not there.')

/** What fires crons, where runs exist or not and starts succeed or fail. */
function firing(
  { known, assistant, start, isPaused = false }: { readonly known?: RunRow | HeddleError;
    readonly assistant?: HeddleError; readonly start?: HeddleError; readonly isPaused?: boolean } =
      {},
) {
  const started: RunOnThread[] = []
  const fire = cronFiring({
    graphs: { isPaused: () => isPaused },
    threads: { getRun: async () => {
      if (known === undefined || known instanceof HeddleError) throw known ?? missing
      return known
    } },
    runs: {
      assistantFor: async () => {
        if (assistant) throw assistant
        return { row: anAssistant(), context: {} }
      },
      start: async (_, asked) => {
        if (start) throw start
        started.push(asked)
        return aRun()
      },
    },
  })
  return { fire, started }
}

const payload = { payloadJson: '{"input":{"a":1}}', metadataJson: '{"team":"north"}',
  userId: 'ann' }

describe('a cron fires', () => {
  it('a run on its thread, with the id of the due time as its key', async () => {
    const { fire, started } = firing()
    const threadId = '11111111-1111-4111-8111-111111111111'
    const cron = aCron({ ...payload, threadId })
    const runId = runIdOf('local', cron.cronId, dueMs)
    expect(await fire(cron, dueMs)).toEqual({ kind: 'fired', runId })
    expect(started).toMatchObject([{ threadId,
      run: { runId, commandId: runId, ifMissing: 'reject', strategy: 'enqueue',
        metadata: { team: 'north', cron_id: cron.cronId }, kwargs: { input: { a: 1 } },
        plan: { userId: 'ann', temporary: false, headers: {} } } }])
  })

  it.each([['delete', true, 'hidden'], ['keep', false, 'create']] as const)(
    'a run with a thread of its own: %s',
    async (onRunCompleted, temporary, ifMissing) => {
      const { fire, started } = firing()
      const cron = aCron({ ...payload, onRunCompleted })
      const runId = runIdOf('local', cron.cronId, dueMs)
      expect(await fire(cron, dueMs)).toEqual({ kind: 'fired', runId })
      expect(started).toMatchObject([{ threadId: runId,
        run: { runId, ifMissing, plan: { temporary } } }])
    },
  )

  it('nothing if the run is there already', async () => {
    const { fire, started } = firing({ known: aRun() })
    expect(await fire(aCron(payload), dueMs)).toMatchObject({ kind: 'fired' })
    expect(started).toEqual([])
  })

  it('another run at another time, or for another cron or tenant', () => {
    const ids = new Set([runIdOf('t', 'c', 1), runIdOf('t', 'c', 2), runIdOf('t', 'd', 1),
      runIdOf('u', 'c', 1)])
    expect(ids.size).toBe(4)
  })
})

describe('a cron that cannot fire', () => {
  it('is of no use without its thread or its assistant', async () => {
    const cron = aCron({ ...payload, threadId: '11111111-1111-4111-8111-111111111111' })
    expect(await firing({ start: missing }).fire(cron, dueMs)).toMatchObject({ kind: 'gone' })
    expect(await firing({ assistant: missing }).fire(cron, dueMs)).toMatchObject({ kind: 'gone' })
  })

  it('skips the due time while its deployment is paused, and makes no run', async () => {
    const { fire, started } = firing({ isPaused: true })
    expect(await fire(aCron(payload), dueMs)).toMatchObject({ kind: 'skipped' })
    expect(started).toEqual([])
    expect(await firing({ isPaused: true, known: aRun() }).fire(aCron(payload), dueMs))
      .toMatchObject({ kind: 'fired' })
  })

  it.each<[ErrorCode, boolean]>([['full', true], ['over_quota', true], ['out_of_quota', true], [
    'rejected',
    false,
  ], ['invalid', false], ['missing_node', false], ['not_found', false]])(
    'for %s: may pass is %s',
    async (code, mayPass) => {
      const { fire } = firing({ start: new HeddleError(code) })
      expect(await fire(aCron(payload), dueMs)).toMatchObject({ kind: 'refused', mayPass })
    },
  )

  it.each<ErrorCode>(['unavailable', 'not_owner', 'stale_append'])(
    'for %s does not know, and is fired again',
    async (code) => {
      const error = new HeddleError(code)
      await expect(firing({ start: error }).fire(aCron(payload), dueMs)).rejects.toBe(error)
      await expect(firing({ known: error }).fire(aCron(payload), dueMs)).rejects.toBe(error)
    },
  )
})
