/** Messages that wait for the run which resumes an interrupted thread. */

import { expect, it } from 'vitest'

import { cancelAll, countAll } from '../../../../src/frontdoor/operations/cancel-runs.ts'
import type { CancelAll } from '../../../../src/frontdoor/operations/cancel-runs.ts'
import { openInterrupts } from '../../../../src/thread/index.ts'
import { aMessage, settled, ThreadHouse } from '../../../support/thread-house.ts'

const message = aMessage('a')

/** A thread that waits at an interrupt, with a message that waits for the resume. */
async function waiting() {
  const house = new ThreadHouse()
  await house.startRun('x')
  await house.host.step(house.host.only, 'one')
  const sent = house.run(message)
  await house.client.startRun('t', 'x', sent)
  await house.host.interrupt(house.host.only, 'task', 'i')
  house.host.end(house.host.only, { waiting: true, isMidStep: true,
    interrupts: '{"task":[{"id":"i","value":"?"}]}' })
  await settled()
  return { house, messageId: sent.runId }
}

const statusOf = async ({ client }: ThreadHouse, runId: string) =>
  (await client.getRun('t', 'x', runId)).status

it('A message that waits hides no interrupt, also next to a delayed run.', async () => {
  const { house } = await waiting()
  await house.startRun('x', { afterMs: 60_000 })
  const { row } = await house.client.get('t', 'x')
  expect(openInterrupts(row)).toHaveLength(1)
})

it.each<[string, Pick<CancelAll, 'status' | 'filter'>]>([
  ['all pending runs', { status: 'pending' }],
  ['all runs', { status: 'all' }],
  ['the runs of all interrupted threads', { status: 'all',
    filter: { tenant: 't', status: 'interrupted' } }],
])('A message that waits is cancelled with %s.', async (_what, options) => {
  const { house, messageId } = await waiting()
  const all = { ...options, cancel: { action: 'interrupt' } } as const
  expect(await countAll(house.client, 't', all)).toBe(1)
  await cancelAll(house.client, 't', all)
  expect(await statusOf(house, messageId)).toBe('interrupted')
  const { row } = await house.client.get('t', 'x')
  expect(row).toMatchObject({ status: 'interrupted', unfinished: [] })
})

it('A message that waits is not cancelled with all running runs.', async () => {
  const { house, messageId } = await waiting()
  await cancelAll(house.client, 't', { status: 'running', cancel: { action: 'interrupt' } })
  expect(await statusOf(house, messageId)).toBe('pending')
})
