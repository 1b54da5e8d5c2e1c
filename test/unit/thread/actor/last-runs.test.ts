/** Runs that have ended are reported: once they are on disk, and again by the next owner. */

import { expect, it } from 'vitest'

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
