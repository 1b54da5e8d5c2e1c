/** A webhook is told also where the server was killed between the end of the run and that. */

import { expect, it } from 'vitest'

import { openReceiver } from '../support/receiver.ts'
import { say } from '../support/run-events.ts'
import { clientOf } from '../support/server.ts'
import { startServer } from '../support/server-process.ts'

it('A webhook that hung when the server was killed is told after the restart, as the same delivery',
  async () => {
    let answers = false
    const receiver = await openReceiver((_, response) => {
      if (answers) response.end()
    })
    const server = await startServer({ project: 'conformance',
      args: ['--egress-allow', '127.0.0.1'] })
    try {
      const { runs, threads } = clientOf(server.url)
      const { thread_id: id } = await threads.create()
      const values = await runs.wait(id, 'echo', { input: say('a'), webhook: receiver.url })
      await receiver.heard(1)
      await server.kill('SIGKILL')
      answers = true
      await server.restart()
      await receiver.heard(2)
      const [before, after] = receiver.received.map(({ headers, body }) =>
        ({ id: headers['x-heddle-delivery'], run: JSON.parse(body) as { values: unknown } }))
      expect(after!.id).toBe(before!.id)
      expect(after!.run.values).toEqual(values)
    } finally {
      await server.close()
      await receiver.close()
    }
  })

it('A webhook of a stateless run is told after a kill before anybody listened, and only once',
  async () => {
    const receiver = await openReceiver()
    await receiver.close()
    const server = await startServer({ project: 'conformance',
      args: ['--egress-allow', '127.0.0.1'] })
    try {
      const { runs } = clientOf(server.url)
      await runs.wait(null, 'echo', { input: say('a'), webhook: receiver.url })
      await server.kill('SIGKILL')
      const back = await openReceiver(undefined, '127.0.0.1', receiver.port)
      await server.restart()
      await back.heard(1)
      await runs.wait(null, 'echo', { input: say('b') })
      await server.kill('SIGTERM')
      await server.restart()
      await runs.wait(null, 'echo', { input: say('c') })
      expect(back.received).toHaveLength(1)
      await back.close()
    } finally {
      await server.close()
    }
  })
