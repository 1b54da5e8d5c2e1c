/** Webhooks of threads whose member is killed: the next owner sends them, as the same delivery. */

import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'

import { dropKeyspace, newKeyspace } from '../../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../../support/cassandra.ts'
import { startCluster } from '../../support/cluster.ts'
import { openReceiver } from '../../support/receiver.ts'
import { say } from '../../support/run-events.ts'
import { oneWorker } from '../../support/server-process.ts'
import { clientOf } from '../../support/server.ts'

const cassandra = await cassandraForTests()
const threads = 12

describe.skipIf(!cassandra)('a cluster of two', () => {
  it('sends every webhook that was due when a member was killed', async () => {
    const place = newKeyspace(cassandra!)
    const held: ServerResponse[] = []
    let answers = false
    const answered = new Set<unknown>()
    const receiver = await openReceiver(({ headers }, response) => {
      if (!answers) return void held.push(response)
      answered.add(headers['x-heddle-delivery'])
      response.end()
    })
    const cluster = await startCluster({ members: 2, cassandra: place, project: 'conformance',
      args: ['--egress-allow', '127.0.0.1', ...oneWorker] })
    try {
      const { runs } = clientOf(cluster.frontDoors[1]!)
      const ids = await Promise.all(
        Array.from({ length: threads }, async () =>
          (await runs.create(crypto.randomUUID(), 'echo', { input: say('a'), ifNotExists: 'create',
            webhook: receiver.url })).run_id),
      )
      await receiver.arrived(threads)
      answers = true
      await cluster.members[0]!.kill('SIGKILL')
      // The webhooks of the other member are retried.
      for (const response of held)
        response.writeHead(503).end()
      for (let count = threads; answered.size < threads; count++)
        await receiver.arrived(count + 1)
      expect(answered).toEqual(new Set(ids))
      // Those of the surviving member were answered.
      const cut = held.filter(({ writableFinished }) =>
        !writableFinished
      )
      expect(cut.length).toBeGreaterThan(0)
    } finally {
      await cluster.close()
      await receiver.close()
      await dropKeyspace(place)
    }
  })
})
