/** Runs that have ended are reported: once they are on disk, and again by the next owner. */

import { expect, it } from 'vitest'

import type { RunRow } from '../../../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../../../../src/errors.ts'
import { settled, ThreadHouse } from '../../../support/thread-house.ts'

const reported = ({ endedRuns }: ThreadHouse) =>
  endedRuns.map(({ runId, status }) => [runId, status])

it('A run is reported when its end is on disk, and not again while its owner lives.', async () => {
  const house = new ThreadHouse()
  const run = house.run({ metadata: { customer: 'c' } })
  await house.client.startRun('t', 'x', run)
  await settled()
  expect(reported(house)).toEqual([])
  house.host.end(house.host.only)
  await settled()
  expect(reported(house)).toEqual([[run.runId, 'success']])
  await house.client.get('t', 'x')
  expect(house.endedRuns).toHaveLength(1)
})

it('The next owner reports the last runs again: the one before may have died.', async () => {
  const house = new ThreadHouse()
  await house.runOnce('x', 'long before')
  house.env.advance(3_600_000)
  await house.runOnce('x', 'one')
  await house.runOnce('x', 'two')
  const [, one, two] = reported(house)
  const waiting = house.run()
  house.endedRuns.splice(0)
  house.restart()
  await house.client.get('t', 'x')
  await settled()
  expect(reported(house)).toEqual([two, one])
  expect(JSON.parse(house.endedRuns[0]!.planJson)).toMatchObject({ graphId: 'agent' })
  await house.client.startRun('t', 'x', waiting)
  expect(house.endedRuns).toHaveLength(2)
})

it('A thread that another owner deleted is not reported.', async () => {
  const house = new ThreadHouse()
  await house.runOnce('x', 'one')
  await house.client.delete('t', 'x')
  house.endedRuns.splice(0)
  house.restart()
  await house.client.get('t', 'x').catch(() => {})
  await settled()
  expect(house.endedRuns).toEqual([])
})

it('Runs of long ago are not reported again.', async () => {
  const house = new ThreadHouse()
  await house.runOnce('x', 'one')
  house.endedRuns.splice(0)
  house.env.advance(25 * 3_600_000)
  house.restart()
  await house.client.get('t', 'x')
  await settled()
  expect(house.endedRuns).toEqual([])
})

/** A run that is being executed. */
async function running(house: ThreadHouse) {
  const run = house.run()
  await house.client.startRun('t', 'x', run)
  await settled()
  return run
}

it('A run that is rolled back or deleted before its end is never reported.', async () => {
  const house = new ThreadHouse()
  const [rolledBack, deleted] = [await running(house), house.run()]
  await house.client.cancelRun('t', 'x', rolledBack.runId, { action: 'rollback' })
  await house.client.startRun('t', 'x', deleted)
  await settled()
  await house.client.deleteRun('t', 'x', deleted.runId)
  const cancelled = await running(house)
  await house.client.cancelRun('t', 'x', cancelled.runId, { action: 'interrupt' })
  await running(house)
  await house.client.delete('t', 'x')
  await settled()
  expect(reported(house)).toEqual([[cancelled.runId, 'interrupted']])
  expect(house.goneRuns.slice(0, 2)).toEqual([rolledBack.runId, deleted.runId])
})

it('The traces of a run are removed first: if they cannot be, it is not deleted.', async () => {
  const house = new ThreadHouse()
  await house.runOnce('x', 'one')
  const [{ runId }] = house.endedRuns as [RunRow]
  house.removesTraces = () => Promise.reject(new HeddleError('unavailable'))
  await expect(house.client.deleteRun('t', 'x', runId)).rejects.toMatchObject({
    code: 'unavailable',
  })
  expect(await house.client.getRun('t', 'x', runId)).toMatchObject({ status: 'success' })
  house.removesTraces = () => Promise.resolve()
  await house.client.deleteRun('t', 'x', runId)
  expect(house.goneRuns).toEqual([runId])
})

it('The traces of a deleted thread are removed by its next owner, if this one dies.', async () => {
  const house = new ThreadHouse()
  await house.runOnce('x', 'one')
  const [{ runId }] = house.endedRuns as [RunRow]
  house.removesTraces = () => Promise.reject(new HeddleError('unavailable'))
  await house.client.delete('t', 'x')
  expect([house.goneRuns, house.log.purged]).toEqual([[], []])
  house.removesTraces = () => Promise.resolve()
  house.restart()
  await expect(house.client.get('t', 'x')).rejects.toMatchObject({ code: 'not_found' })
  expect([house.goneRuns, house.log.purged]).toMatchObject([[runId], [{ id: 'x' }]])
})

it('The traces of a stateless run stay when its thread goes.', async () => {
  const house = new ThreadHouse()
  const plan = { ...house.run().plan, temporary: true }
  await house.startRun('x', { ifMissing: 'hidden', plan })
  await settled()
  house.host.end(house.host.only)
  house.env.advance(3_600_000)
  await settled()
  expect([house.goneRuns, house.log.purged]).toMatchObject([[], [{ id: 'x' }]])
})

it('The traces of a stateless run go with its thread if somebody deletes that.', async () => {
  const house = new ThreadHouse()
  const run = house.run({ ifMissing: 'hidden', plan: { ...house.run().plan, temporary: true } })
  await house.client.startRun('t', 'x', run)
  await settled()
  house.host.end(house.host.only)
  await settled()
  house.removesTraces = () => Promise.reject(new HeddleError('unavailable'))
  await expect(house.client.delete('t', 'x')).rejects.toMatchObject({ code: 'unavailable' })
  house.removesTraces = () => Promise.resolve()
  await house.client.delete('t', 'x')
  expect([house.goneRuns, house.log.purged]).toMatchObject([[run.runId], [{ id: 'x' }]])
})

it('So do those of one that is deleted while it is executed.', async () => {
  const house = new ThreadHouse()
  const run = house.run({ ifMissing: 'hidden', plan: { ...house.run().plan, temporary: true } })
  await house.client.startRun('t', 'x', run)
  await settled()
  await house.client.delete('t', 'x')
  expect(house.goneRuns).toContain(run.runId)
})
