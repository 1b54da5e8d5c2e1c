/** Times of a thread if the clock of its machine is changed, or the machine sleeps. */

import { expect, it, vi } from 'vitest'

import { settled, ThreadHouse } from '../../../support/thread-house.ts'

/** A house, and a function that moves its wall clock, but no timer. */
function houseWithClock() {
  const house = new ThreadHouse()
  let aheadMs = 0
  const nowMs = house.env.nowMs.bind(house.env)
  vi.spyOn(house.env, 'nowMs').mockImplementation(() => nowMs() + aheadMs)
  return { house, move: (ms: number) => {
    aheadMs += ms
  } }
}

it('Times of a thread never go back, and its newest run comes first.', async () => {
  const { house, move } = houseWithClock()
  const runIds: string[] = []
  for (const backMs of [0, 3_600_000, 3_600_000]) {
    move(-backMs)
    const run = house.run()
    runIds.unshift(run.runId)
    await house.client.startRun('t', 'x', run)
    move(-1_000)
    await house.host.step(house.host.only, 'one')
    house.host.end(house.host.only)
    await settled()
  }
  const page = { tenant: 't', threadId: 'x', limit: 9, offset: 0 }
  const runs = await house.client.listRuns(page)
  expect(runs.map(({ runId }) => runId)).toEqual(runIds)
  for (const run of runs) {
    expect(run.startedAtMs).toBeGreaterThanOrEqual(run.createdAtMs)
    expect(run.updatedAtMs).toBeGreaterThanOrEqual(run.startedAtMs)
  }
  const { row } = await house.client.get('t', 'x')
  expect(row.updatedAtMs).toBeGreaterThanOrEqual(runs[0]!.updatedAtMs)
  expect(row.stateUpdatedAtMs).toBeGreaterThanOrEqual(row.createdAtMs)
})

it('A delayed run begins in time even if the clock was wrong before, or the machine sleeps.',
  async () => {
    const { house, move } = houseWithClock()
    move(3_600_000)
    await house.client.create('t', { threadId: 'x', metadata: {}, ifExists: 'raise',
      supersteps: [] })
    move(-3_600_000)
    await house.client.startRun('t', 'x', house.run({ afterMs: 1_800_000 }))
    move(1_800_000)
    house.env.advance(60_000)
    await settled()
    expect(house.host.running.size).toBe(1)
  })
