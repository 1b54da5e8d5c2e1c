/** Repeated starts: their run is found without reading the inputs of the other runs. */

import { expect, it } from 'vitest'

import { aRun, settled, ThreadHouse } from '../../../support/thread-house.ts'
import { ThreadPair } from '../../../support/thread-pair.ts'

it('A run is found by its Idempotency-Key without reading the inputs of other runs.', async () => {
  const house = new ThreadHouse()
  const { list, get } = house.tables.runs
  const asked: unknown[] = []
  const got: string[] = []
  Object.assign(house.tables.runs, {
    list: (query: Parameters<typeof list>[0]) => {
      // Runs of an owner that may have died are reported again; that reads no inputs either.
      if (!query.texts?.includes('planJson')) asked.push(query.texts)
      return list(query)
    },
    get: (...name: Parameters<typeof get>) => {
      got.push(name[2])
      return get(...name)
    },
  })
  house.restart()
  const runs = []
  for (const commandId of ['k1', 'k2', 'k3']) {
    const run = house.run({ commandId, kwargs: { input: commandId } })
    runs.push(run)
    await house.client.startRun('t', 'x', run)
    house.host.end(house.host.only)
  }
  // Read once: the keys of later runs are remembered.
  expect(asked).toEqual([[]])
  const again = await house.client.startRun('t', 'x', house.run({ commandId: 'k2' }))
  expect(got).toEqual([runs[1]!.runId])
  expect(again).toMatchObject({ runId: runs[1]!.runId, kwargsJson: '{"input":"k2"}',
    status: 'success' })
  await house.client.startRun('t', 'x', house.run({ commandId: 'k4' }))
  expect(got).toHaveLength(1)
  expect(asked).toHaveLength(1)
  house.restart()
  expect(await house.client.startRun('t', 'x', house.run({ commandId: 'k1' })))
    .toMatchObject({ runId: runs[0]!.runId })
  expect(asked).toEqual([[], []])
  await house.client.deleteRun('t', 'x', runs[1]!.runId)
  const deleted = house.client.startRun('t', 'x', house.run({ commandId: 'k2' }))
  await expect(deleted).rejects.toMatchObject({ code: 'not_found' })
  expect(asked).toHaveLength(2)
})

it('A repeated start finds its unfinished run by id, whatever came since.', async () => {
  const pair = new ThreadPair()
  for (const strategy of ['interrupt', 'reject'] as const) {
    const run = aRun(`r-${strategy}`, { strategy })
    await pair.client.startRun('t', strategy, run)
    for (let more = 0; more < 40; more++) await pair.client.patch('t', strategy, { more })
    pair.kill()
    const again = await pair.client.startRun('t', strategy, run)
    expect(again).toMatchObject({ runId: run.runId, status: 'running' })
    await settled()
    const ended = pair.log.updates.some((update) =>
      update.table === 'run' && update.row.status === 'interrupted'
    )
    expect(ended).toBe(false)
  }
})
