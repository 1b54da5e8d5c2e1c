/** Lists of runs: exactly those that the thread has, even while rows are still on their way. */

import { expect, it } from 'vitest'

import { aRun as aRunRow } from '../../../contract/rows.ts'
import { settled, ThreadHouse } from '../../../support/thread-house.ts'

const page = { tenant: 't', threadId: 'x', limit: 9, offset: 0 } as const

async function houseWithRun() {
  const house = new ThreadHouse()
  const run = house.run()
  await house.client.startRun('t', 'x', run)
  const list = async () => (await house.client.listRuns(page)).map(({ runId }) => runId)
  return { house, runId: run.runId, list }
}

// An owner may leave such rows if it fails while it creates the thread.
it('A list lacks unfinished runs in the table that the thread does not have.', async () => {
  const { house, runId, list } = await houseWithRun()
  for (const status of ['pending', 'running']) {
    const row = aRunRow({ tenant: 't', threadId: 'x', status })
    await house.log.append([], [{ table: 'run', row }])
  }
  expect(await list()).toEqual([runId])
})

it('A list has a run that ends while the list waits for earlier writes.', async () => {
  const { house, runId, list } = await houseWithRun()
  const disk = Promise.withResolvers<void>()
  house.log.gate = disk.promise
  void house.client.patch('t', 'x', {})
  await settled()
  const listed = list()
  await settled()
  house.log.gate = new Promise(() => {})
  house.host.end(house.host.only)
  await settled()
  disk.resolve()
  expect(await listed).toEqual([runId])
})

it('A list has a run that begins while the list is read.', async () => {
  const { house, runId, list } = await houseWithRun()
  const { runs } = house.tables
  const read = runs.list.bind(runs)
  const next = house.run()
  runs.list = async (query) => {
    await house.client.startRun('t', 'x', next)
    return read(query)
  }
  expect(await list()).toEqual([next.runId, runId])
})
