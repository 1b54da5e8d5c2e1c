/** A push notification is sent even if the server is killed between the end of a run and it. */

import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'

import { openReceiver } from '../support/receiver.ts'
import { isNight } from '../support/repeats.ts'
import { oneWorker, startServer } from '../support/server-process.ts'

it.runIf(isNight)(
  'A notification that hung when the server was killed comes after the restart, as the same one',
  async () => {
    let answers = false
    const receiver = await openReceiver((_, response) => {
      if (answers) response.end()
    })
    const server = await startServer({ project: 'conformance',
      args: ['--egress-allow', '127.0.0.1', ...oneWorker] })
    try {
      const params = {
        message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hi' }] },
        configuration: { taskPushNotificationConfig: { url: receiver.url, token: 'tok' } },
      }
      const sent = await fetch(`${server.url}/a2a/echo`, { method: 'POST',
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params }) })
      const { result: { task } } = await sent.json() as { result: { task: { id: string } } }
      await receiver.arrived(1)
      await server.kill('SIGKILL')
      answers = true
      await server.restart()
      await receiver.arrived(2)
      const [before, after] = receiver.received
      expect(after!.headers).toMatchObject({ 'x-a2a-notification-token': 'tok',
        'x-heddle-delivery': before!.headers['x-heddle-delivery'] })
      expect(JSON.parse(after!.body)).toMatchObject({
        task: { id: task.id, status: { state: 'TASK_STATE_COMPLETED' },
          artifacts: [{ parts: [{ text: 'echo: hi' }] }] },
      })
    } finally {
      await server.close()
      await receiver.close()
    }
  },
)
