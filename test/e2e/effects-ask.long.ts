/** HTTP calls that ask: their server is killed while the receiver has them, a person decides. */

import { afterAll, beforeAll, expect, it } from 'vitest'

import { eventually } from '../support/eventually.ts'
import { openReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'
import { clientOf } from '../support/server.ts'
import { oneWorker, startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'

let receiver: Receiver
let server: ServerProcess
let answers = false

beforeAll(async () => {
  receiver = await openReceiver((_, response) => {
    if (answers) response.end('sent')
  }, '127.0.0.1', 8_472)
  server = await startServer({ project: 'effects', args: oneWorker })
}, 120_000)
afterAll(async () => {
  await server.close()
  await receiver.close()
})

const sentFor = (order: string) =>
  receiver.received.filter(({ body }) => body === JSON.stringify({ order }))

it('A mail that may have left is sent again only as a person decides.', async () => {
  const decisions = ['done', 'do', 'fail'] as const
  const { threads, runs } = clientOf(server.url)
  const mails = await Promise.all(decisions.map(async (order) => {
    const { thread_id: id } = await threads.create()
    await runs.create(id, 'posting', { input: { order } })
    return { order, id }
  }))
  await eventually(() => {
    for (const { order } of mails) expect(sentFor(order)).toHaveLength(1)
  })
  await server.kill('SIGKILL')
  await server.restart()
  answers = true
  for (const { order, id } of mails) {
    const asking = await eventually(async () => {
      const thread = await threads.get(id)
      expect(thread.status).toBe('interrupted')
      return thread
    })
    expect(Object.values(asking.interrupts).flat()).toMatchObject([{
      value: { reason: 'effect',
        choices: [{ label: 'It was done' }, { label: 'Do it now' }, { label: 'Fail the step' }],
        input: { method: 'POST', body: { order } } },
    }])
    expect(sentFor(order)).toHaveLength(1)
  }
  const [done, again, failed] = await Promise.all(mails.map(async ({ order, id }) => {
    await runs.wait(id, 'posting', { command: { resume: order } }).catch(() => {})
    const { status, values } = await threads.get(id)
    return { status, sent: (values as { readonly sent?: string }).sent }
  }))
  expect(done).toEqual({ status: 'idle', sent: '' })
  expect(again).toEqual({ status: 'idle', sent: 'sent' })
  expect(failed).toEqual({ status: 'error', sent: undefined })
  expect(mails.map(({ order }) => sentFor(order).length)).toEqual([1, 2, 1])
}, 120_000)
