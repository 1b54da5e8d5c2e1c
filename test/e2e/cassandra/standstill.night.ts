/** A server that stands still, like a paused machine: the store's answers arrived in time. */

import { setTimeout as pause } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { dropKeyspace, newKeyspace } from '../../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../../support/cassandra.ts'
import { startServer } from '../../support/server-process.ts'
import { Writers } from './writers.ts'

const cassandra = await cassandraForTests()

/** Longer than the server waits for an answer. */
const stillMs = 2_800

it.skipIf(!cassandra)('refuses no request and never takes its store for lost', async () => {
  const place = newKeyspace(cassandra!)
  onTestFinished(() => dropKeyspace(place))
  const server = await startServer({ project: 'conformance', cassandra: place })
  onTestFinished(() => server.close())
  const writers = new Writers(server.url, { makers: 6, speakers: 6 })
  for (let time = 0; time < 4; time++) {
    const seen = writers.seen.length
    await expect.poll(() => writers.seen.length).toBeGreaterThan(seen + 100)
    process.kill(server.pid, 'SIGSTOP')
    await pause(stillMs)
    process.kill(server.pid, 'SIGCONT')
  }
  await writers.nextGood()
  await writers.stop()
  await writers.check()
  expect(writers.refused).toBe(0)
  expect(server.output()).not.toContain('The store is out of reach')
})
