/** Webhooks are sent even if the server is killed after the run ended and before it sent them. */

import { expect, it } from 'vitest'

import { firstFreePort } from '../support/port.ts'
import { openReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'
import { say } from '../support/run-events.ts'
import { oneWorker, startServer } from '../support/server-process.ts'
import { clientOf } from '../support/server.ts'

/** Of the server that has many webhooks to send. */
const killsInTotal = 3

it(
  'A webhook of a stateless run is sent once, after a kill before its receiver listened',
  async () => {
    const port = await firstFreePort()
    const server = await startServer({ project: 'conformance',
      args: ['--egress-allow', '127.0.0.1', ...oneWorker] })
    let receiver: Receiver | undefined
    try {
      const { runs } = clientOf(server.url)
      await runs.wait(null, 'echo', { input: say('a'), webhook: `http://127.0.0.1:${port}/` })
      await server.kill('SIGKILL')
      receiver = await openReceiver(undefined, '127.0.0.1', port)
      await server.restart()
      await receiver.arrived(1)
      await runs.wait(null, 'echo', { input: say('b') })
      await server.kill('SIGTERM')
      await server.restart()
      await runs.wait(null, 'echo', { input: say('c') })
      expect(receiver.received).toHaveLength(1)
    } finally {
      await server.close()
      await receiver?.close()
    }
  },
)

it('Every acknowledged run sends its webhook, whenever the server is killed', async () => {
  const answered = new Set<unknown>()
  const failed = new Set<unknown>()
  let count = 0
  /** How many requests may still hang until the server is killed again. */
  let hanging = 0
  const receiver = await openReceiver(({ headers }, response) => {
    const id = headers['x-heddle-delivery']
    // Some fail at first, some hang until the server is killed.
    const fate = ++count % 5
    if (fate === 1 && !failed.has(id)) {
      failed.add(id)
      return void response.writeHead(503).end()
    }
    if (fate === 3 && hanging-- > 0) return
    answered.add(id)
    response.end()
  })
  const server = await startServer({ project: 'conformance',
    args: ['--egress-allow', '127.0.0.1', ...oneWorker] })
  const acknowledged = new Set<string>()
  const work = async () => {
    const { runs } = clientOf(server.url)
    try {
      for (let n = 0;; n++) {
        const thread = n % 2 === 0 ? null : crypto.randomUUID()
        const { run_id: id } = await runs.create(thread, 'echo', { input: say('a'),
          ifNotExists: 'create', webhook: receiver.url })
        acknowledged.add(id)
      }
    } catch {
      // Killed: what was not acknowledged may or may not be.
    }
  }
  try {
    for (let kills = 1; kills <= killsInTotal; kills++) {
      hanging = 3
      const goal = receiver.received.length + 10 * kills
      const working = Promise.all([work(), work(), work()])
      await receiver.arrived(goal)
      await server.kill('SIGKILL')
      hanging = 0
      await working
      await server.restart()
    }
    const undelivered = () => [...acknowledged].filter((id) => !answered.has(id))
    while (undelivered().length > 0) await receiver.arrived(receiver.received.length + 1)
    expect(acknowledged.size).toBeGreaterThan(5 * killsInTotal)
  } finally {
    await server.close()
    await receiver.close()
  }
})
