/** Runs that wait to be handed over to the platform. */

import { expect, it } from 'vitest'

import type { RunRow } from '../../../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../../../../src/errors.ts'
import type { ErrorCode } from '../../../../src/errors.ts'
import type { OwnRun, Platform } from '../../../../src/platform/index.ts'
import { OwnRuns } from '../../../../src/server/own-traces/own-runs.ts'
import { virtualEnv } from '../../../support/env.ts'
import { settled } from '../../../support/thread-house.ts'

interface HandOver {
  readonly tenant: string
  readonly runs: readonly OwnRun[]
}

function opened() {
  const env = virtualEnv()
  const calls: HandOver[] = []
  const failing: { times: number; tenant?: string; code: ErrorCode } = { times: 0,
    code: 'unavailable' }
  const ownRuns = async (call: HandOver) => {
    const isFailing = failing.tenant === undefined || failing.tenant === call.tenant
    if (isFailing && failing.times-- > 0) throw new HeddleError(failing.code)
    calls.push(call)
  }
  const runs = new OwnRuns(env)
  runs.handOverTo({ ingest: { ownRuns } as unknown as Platform['ingest'] })
  return { env, calls, runs, failing }
}

let made = 0
const row = (changes: Partial<RunRow> = {}) => {
  const runId = `00000000-0000-7000-8000-${String(++made).padStart(12, '0')}`
  return { tenant: 't', threadId: 'x', runId, assistantId: 'a', status: 'success',
    planJson: '{"graphId":"agent"}', metadataJson: '', startedAtMs: 1_000, updatedAtMs: 3_000,
    ...changes } as RunRow
}
const idsIn = (calls: readonly HandOver[]) => calls.flatMap((call) => call.runs.map(({ id }) => id))

it('Runs are handed over together after a while, by tenant.', async () => {
  const { env, calls, runs } = opened()
  const [one, two, three] = [row(), row({ tenant: 'u' }), row()]
  runs.ended([one])
  runs.ended([two, three])
  expect(calls).toEqual([])
  env.advance(1_000)
  await settled()
  expect(calls.map(({ tenant, runs: own }) => [tenant, own.length])).toEqual([['t', 2], ['u', 1]])
  expect(env.timers()).toBe(0)
})

it('A question waits for the runs that ended before it, and for nothing else.', async () => {
  const { calls, runs } = opened()
  expect(runs.settled()).toBeUndefined()
  runs.ended(Array.from({ length: 2_500 }, () => row()))
  await runs.settled()
  expect(calls.map(({ runs: own }) => own.length)).toEqual([1_000, 1_000, 500])
  expect(runs.settled()).toBeUndefined()
})

it('Of a run only what its head needs is kept: no input, and no long metadata.', async () => {
  const { calls, runs } = opened()
  const [run, long] = [row({ status: 'timeout', metadataJson: '{"customer":"c"}' }),
    row({ metadataJson: JSON.stringify('x'.repeat(70_000)) })]
  runs.ended([run, long, row({ startedAtMs: 0 })])
  await runs.settled()
  const kept = { thread: 'x', assistant: 'a', graph: 'agent', startMs: 1_000, endMs: 3_000 }
  expect(calls.flatMap((call) => call.runs)).toEqual([
    { ...kept, id: run.runId, failed: true, metadataJson: '{"customer":"c"}' },
    { ...kept, id: long.runId, failed: false, metadataJson: '' },
  ])
})

it('A run that is reported again is handed over once.', async () => {
  const { env, calls, runs } = opened()
  const run = row()
  runs.ended([run])
  await runs.settled()
  runs.ended([run])
  expect(runs.settled()).toBeUndefined()
  expect([calls.length, env.timers()]).toEqual([1, 0])
})

it('What could not be written is handed over again, in its order.', async () => {
  const { env, calls, runs, failing } = opened()
  failing.times = 2
  const all = [row(), row(), row()]
  runs.ended(all.slice(0, 2))
  await runs.settled()
  runs.ended(all.slice(2))
  env.advance(5_000)
  await settled()
  expect(calls).toEqual([])
  env.advance(5_000)
  await settled()
  expect(idsIn(calls)).toEqual(all.map(({ runId }) => runId))
})

it('A tenant whose runs cannot be written holds up nobody else.', async () => {
  const { env, calls, runs, failing } = opened()
  Object.assign(failing, { times: 1, tenant: 't' })
  const [mine, other] = [row(), row({ tenant: 'u' })]
  runs.ended([mine, other])
  await runs.settled()
  expect(idsIn(calls)).toEqual([other.runId])
  env.advance(5_000)
  await runs.settled()
  expect(idsIn(calls)).toEqual([other.runId, mine.runId])
})

it('Runs that are refused are left out, and that is said.', async () => {
  const { env, calls, runs, failing } = opened()
  Object.assign(failing, { times: 1, code: 'over_quota' })
  runs.ended([row()])
  await runs.settled()
  expect([calls.length, env.timers()]).toEqual([0, 0])
  expect(env.lines).toMatchObject([{ level: 'warn',
    message: 'Runs are left out of the traces: they are refused.' }])
})

it('Of very many that wait, the oldest are left out, and that is said.', async () => {
  const { env, calls, runs, failing } = opened()
  failing.times = 1
  const all = Array.from({ length: 10_051 }, () => row())
  runs.ended(all.slice(0, 50))
  await runs.settled()
  for (const run of all.slice(50)) runs.ended([run])
  expect(calls).toEqual([])
  env.advance(5_000)
  await runs.settled()
  expect(idsIn(calls)).toEqual(all.slice(1_001).map(({ runId }) => runId))
  expect(env.lines.filter(({ message }) => message.includes('left out'))).toHaveLength(1)
})

it('A question does not wait for runs that end after it.', async () => {
  const { runs } = opened()
  const answered: boolean[] = []
  runs.ended([row()])
  const question = runs.settled()!.then(() => void answered.push(true))
  for (let n = 0; n < 100 && answered.length === 0; n++) {
    runs.ended([row()])
    await Promise.resolve()
  }
  expect(answered).toEqual([true])
  await question
})

it('Closing hands over what waits, and nothing asks a closed platform later.', async () => {
  const { env, calls, runs } = opened()
  const [run, late] = [row(), row()]
  runs.ended([run])
  await runs.close()
  expect(idsIn(calls)).toEqual([run.runId])
  runs.ended([late])
  expect([env.timers(), runs.settled()]).toEqual([0, undefined])
  const other = opened()
  other.failing.times = 1
  other.runs.ended([row()])
  await other.runs.close()
  expect([other.env.timers(), other.runs.settled()]).toEqual([0, undefined])
})

it('A platform that refuses to be asked is one that fails.', async () => {
  const { env, runs } = opened()
  runs.handOverTo({ get ingest(): Platform['ingest'] {
    throw new HeddleError('unavailable')
  } })
  runs.ended([row()])
  await runs.settled()
  expect(env.timers()).toBe(1)
})

it('Tenants with the same id of a run keep nothing from each other.', async () => {
  const { calls, runs } = opened()
  const run = row()
  runs.ended([run, { ...run, tenant: 'u' }])
  await runs.settled()
  expect(calls.map(({ tenant }) => tenant)).toEqual(['t', 'u'])
})

it('A run that is deleted is handed over neither now nor later.', async () => {
  const { calls, runs } = opened()
  const [gone, kept] = [row(), row({ status: 'interrupted' })]
  runs.ended([gone, kept])
  runs.forget([gone])
  runs.ended([gone])
  await runs.settled()
  expect(calls.flatMap((call) => call.runs)).toMatchObject([{ id: kept.runId, failed: true }])
})

it('hands over a run whose deletion failed', async () => {
  const { calls, runs } = opened()
  const one = row()
  runs.ended([one])
  const takeBack = runs.forget([one])
  await runs.settled()
  expect(calls).toEqual([])
  takeBack()
  await runs.settled()
  expect(calls.flatMap((call) => call.runs)).toMatchObject([{ id: one.runId }])
})

it('takes a run that was not known when its deletion failed, when it is reported', async () => {
  const { calls, runs } = opened()
  const one = row()
  runs.forget([one])()
  runs.ended([one], true)
  await runs.settled()
  expect(calls.flatMap((call) => call.runs)).toMatchObject([{ id: one.runId, repeated: true }])
})

it('does not hand over a run again that was deleted during a hand-over that failed', async () => {
  const { calls, runs, failing } = opened()
  const [gone, kept] = [row(), row()]
  failing.times = 1
  runs.ended([gone, kept])
  const failed = runs.settled()
  runs.forget([gone])
  await failed
  await runs.settled()
  expect(idsIn(calls)).toEqual([kept.runId])
})

it('hands over a run again whose deletion and hand-over failed', async () => {
  const { calls, runs, failing } = opened()
  const one = row()
  failing.times = 1
  runs.ended([one])
  const failed = runs.settled()
  const takeBack = runs.forget([one])
  await failed
  takeBack()
  await runs.settled()
  expect(idsIn(calls)).toEqual([one.runId])
})
