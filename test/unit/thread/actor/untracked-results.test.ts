/** Results of runs whose state has values that no checkpoint contains. */

import { describe, expect, it } from 'vitest'

import { decodeRow } from '../../../../src/checkpoint/index.ts'
import type { ExecutionOutcome } from '../../../../src/graph/index.ts'
import { settled, ThreadHouse } from '../../../support/thread-house.ts'

const untracked = '{"structuredResponse":{"city":"Oslo"}}'
const result = { log: ['one'], structuredResponse: { city: 'Oslo' } }
const asked = { id: 'i', value: 'Sure?' }
const waits = { waiting: true, interrupts: JSON.stringify({ task: [asked] }) }

/** Starts a run that makes one step. */
async function begun(house: ThreadHouse): Promise<string> {
  const run = house.run()
  await house.client.startRun('t', 'x', run)
  await settled()
  await house.host.step(house.host.only, 'one')
  return run.runId
}

/** A run that has ended; its id. */
async function ended(house: ThreadHouse, outcome: Partial<ExecutionOutcome>): Promise<string> {
  const runId = await begun(house)
  house.host.end(house.host.only, outcome)
  await settled()
  return runId
}

/** Lets the engine answer with the state after one step. */
function answerFor({ host }: ThreadHouse): void {
  host.ask = async () => [{ checkpointId: '', json: '{}', valuesOf: '', values: '{"log":["one"]}' }]
}

async function resultOf({ client }: ThreadHouse, runId: string): Promise<unknown> {
  return JSON.parse(await client.joinRun('t', 'x', runId))
}

describe('the result of a run with untracked values', () => {
  it('contains them for a client that waits', async () => {
    const house = new ThreadHouse()
    const runId = await begun(house)
    const waited = resultOf(house, runId)
    await settled()
    house.host.end(house.host.only, { untracked })
    expect(await waited).toEqual(result)
  })

  it('contains them for a client that joins after the end', async () => {
    const house = new ThreadHouse()
    const runId = await ended(house, { untracked })
    expect(await resultOf(house, runId)).toEqual(result)
  })

  it('contains them after a restart, and after a later run', async () => {
    const house = new ThreadHouse()
    const runId = await ended(house, { untracked })
    await house.runOnce('x', 'two')
    house.restart()
    expect(await resultOf(house, runId)).toEqual(result)
  })

  it('contains them beside the interrupts of a run that waits', async () => {
    const house = new ThreadHouse()
    const runId = await begun(house)
    const waited = resultOf(house, runId)
    await settled()
    answerFor(house)
    house.host.end(house.host.only, { untracked, ...waits })
    expect(await waited).toEqual({ ...result, __interrupt__: [asked] })
    expect(await resultOf(house, runId)).toEqual({ ...result, __interrupt__: [asked] })
  })

  it('contains those of its own run only', async () => {
    const house = new ThreadHouse()
    await ended(house, { untracked })
    const runId = await ended(house, {})
    expect(await resultOf(house, runId)).toEqual({ log: ['one', 'one'] })
  })

  it('has the value of the run where a checkpoint has an initial one', async () => {
    const house = new ThreadHouse()
    const runId = await ended(house, { untracked: '{"log":["changed"]}' })
    expect(await house.client.joinRun('t', 'x', runId)).toBe('{"log":["changed"]}')
  })

  it('is sent to its webhook', async () => {
    const house = new ThreadHouse()
    const run = house.run()
    const plan = { ...run.plan, webhook: 'https://example.org/hook' }
    await house.client.startRun('t', 'x', { ...run, plan })
    await house.host.step(house.host.only, 'one')
    house.host.end(house.host.only, { untracked })
    await settled()
    expect(await house.egress.sent[0]!.body()).toMatchObject({ values: result })
  })

  it.for([true, false])('contains them for a stateless run that is not written (plain state: %s)',
    async (plain) => {
      const house = new ThreadHouse()
      const { describe: described } = house.host
      house.host.describe = (id) => ({ ...described(id)!, plain })
      answerFor(house)
      const run = house.run({ ifMissing: 'hidden', awaited: true })
      const stateless = { ...run, plan: { ...run.plan, temporary: true } }
      const { result: wait } = await house.client.startAndWait('t', 'x', stateless)
      const waited = wait(new AbortController().signal)
      await house.host.step(house.host.only, 'one')
      house.host.end(house.host.only, { untracked })
      expect(JSON.parse(await waited)).toEqual(result)
      expect(house.log.rows).toEqual([])
    })
})

it('a run without untracked values stores nothing more, and its result reads no row', async () => {
  const house = new ThreadHouse()
  const runId = await ended(house, {})
  const ends = house.log.rows.flatMap(({ body }) => decodeRow(body))
    .flatMap((record) => record.$case === 'runEnded' ? [record.value] : [])
  expect(ends.map(({ untrackedJson }) => untrackedJson)).toEqual([undefined])
  const { rowsRead } = house.log
  expect(await resultOf(house, runId)).toEqual({ log: ['one'] })
  expect(house.log.rowsRead).toBe(rowsRead)
})
