/** Times of a thread if the clock of its machine is changed, or the machine sleeps. */

import { describe, expect, it, vi } from 'vitest'

import { clockAhead } from '../../../support/clock-ahead.ts'
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

describe('A thread with a time to live, whose id is used while the clock is ahead,', () => {
  const timeToLive = { strategy: 'delete', minutes: 43_200 } as const

  const create = ({ client }: ThreadHouse, ifExists: 'raise' | 'do_nothing', metadata = {}) =>
    client.create('t', { threadId: 'x', metadata, ifExists, supersteps: [], timeToLive })

  async function made(): Promise<ThreadHouse> {
    const house = new ThreadHouse()
    await create(house, 'raise', { made: 'first' })
    await house.runOnce('x', 'a')
    return house
  }

  it.each([
    ['created unless it exists', (house: ThreadHouse) => create(house, 'do_nothing')],
    ['created by a run', (house: ThreadHouse) => house.startRun('x', { ifMissing: 'create' })],
    ['created again',
      (house: ThreadHouse) =>
        expect(create(house, 'raise')).rejects.toMatchObject({ code: 'exists' })],
    ['copied to', (house: ThreadHouse) => {
      const origin = { threadId: 'y', branch: { id: 'b', ancestors: [] }, epoch: 1, through: 1,
        head: null, movedBack: false, status: 'idle', interruptsJson: '', metadataJson: '{}',
        configJson: '' }
      const key = { kind: 'thread', tenant: 't', id: 'x' }
      return expect(house.inbound.ask(key, { type: 'adopt', origin })).rejects
        .toMatchObject({ code: 'exists' })
    }],
  ])('is not deleted: %s', async (_, use) => {
    const house = await made()
    await clockAhead(house.env, async () => {
      await use(house)
      await settled()
    })
    const { row, values } = await house.client.get('t', 'x')
    expect(JSON.parse(row.metadataJson)).toMatchObject({ made: 'first' })
    expect(values).toBe('{"log":["a"]}')
  })
})
