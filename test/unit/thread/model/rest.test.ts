/** The open interrupts of a thread, as the protocols and the notifications read them. */

import { expect, it } from 'vitest'

import { openInterrupts } from '../../../../src/thread/index.ts'
import { settled, ThreadHouse } from '../../../support/thread-house.ts'

async function asking(): Promise<ThreadHouse> {
  const house = new ThreadHouse()
  await house.startRun('x')
  await house.host.step(house.host.only, 'one')
  await house.host.interrupt(house.host.only, 'task', 'i')
  house.host.end(house.host.only, { waiting: true,
    interrupts: '{"task":[{"id":"i","value":"?"}]}' })
  await settled()
  return house
}

const idsOf = async ({ client }: ThreadHouse) =>
  openInterrupts((await client.get('t', 'x')).row).map((each) => (each as { id: string }).id)

it('are open while only delayed runs are pending', async () => {
  const house = await asking()
  expect(await idsOf(house)).toEqual(['i'])
  await house.startRun('x', { afterMs: 60_000 })
  expect(await idsOf(house)).toEqual(['i'])
})

it('are not open while a run may resume them', async () => {
  const house = await asking()
  await house.startRun('x', { kwargs: { input: null, command: { resume: 'yes' } } })
  expect(await idsOf(house)).toEqual([])
  house.host.end(house.host.only, { status: 'error' })
  await settled()
  expect(await idsOf(house)).toEqual(['i'])
})
