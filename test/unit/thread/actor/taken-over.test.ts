/** What a new owner of a thread repairs: rows that its last owner left behind the log. */

import { expect, it } from 'vitest'

import { settled, ThreadHouse } from '../../../support/thread-house.ts'

it('Rows of runs are brought up to date with the log.', async () => {
  const house = new ThreadHouse()
  house.log.shared = true
  const [ended, dropped] = [house.run(), house.run()]
  await house.client.startRun('t', 'x', ended)
  await house.client.startRun('t', 'x', dropped)
  const behind = [...house.log.updates]
  house.host.end(house.host.only)
  await settled()
  await house.client.deleteRun('t', 'x', dropped.runId)
  house.log.updates.splice(0, house.log.updates.length, ...behind)
  house.restart()
  await house.client.get('t', 'x')
  const { runs } = house.tables
  expect(await runs.get('t', 'x', ended.runId)).toMatchObject({ status: 'success' })
  expect(await runs.get('t', 'x', dropped.runId)).toBeUndefined()
})

it('A shared log is opened in the epoch of its new owner before it is read.', async () => {
  const house = new ThreadHouse()
  house.log.shared = true
  await house.startRun('x')
  const asked: unknown[] = []
  const { open, read } = house.log
  Object.assign(house.log, {
    open: async (...given: Parameters<typeof open>) => {
      await open.apply(house.log, given)
      asked.push(given[1])
    },
    read: (...given: Parameters<typeof read>) => {
      asked.push('read')
      return read.apply(house.log, given)
    },
  })
  house.restart()
  await house.client.get('t', 'x')
  expect(asked.slice(0, 2)).toEqual([2, 'read'])
})
