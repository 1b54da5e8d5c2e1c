/** By night, three members get another secret one after the other while requests come. */

import { afterAll, describe, expect, it } from 'vitest'
import { dropKeyspace, newKeyspace } from '../../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../../support/cassandra.ts'
import { say } from '../../support/run-events.ts'
import { oneWorker, startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'
import { ask } from '../../support/wire.ts'

const cassandra = await cassandraForTests()
const keyspace = cassandra && newKeyspace(cassandra)
const [older, newer] = ['the-secret-of-before', 'the-secret-from-now-on']

describe.skipIf(keyspace === undefined)('three members', () => {
  const doors: ServerProcess[] = []
  afterAll(async () => {
    await Promise.all(doors.map((door) => door.close()))
    await dropKeyspace(keyspace!)
  })
  const start = (secret: string) =>
    startServer({ project: 'conformance', cassandra: keyspace, args: oneWorker,
      env: { HEDDLE_CLUSTER_SECRET: secret } })

  it('replace their secret without a failed request', async () => {
    for (let member = 0; member < 3; member++) doors.push(await start(older!))
    const statuses = new Map<number, number>()
    const done = new AbortController()
    const open = new Set<{ readonly door: ServerProcess; readonly answer: Promise<unknown> }>()
    let turn = 0
    const clients = Array.from({ length: 4 }, async () => {
      while (!done.signal.aborted) {
        const door = doors[turn++ % doors.length]!
        const answer = ask(door.url, 'POST', '/runs/wait', { assistant_id: 'echo',
          input: say('hello') })
        const call = { door, answer }
        open.add(call)
        const { status } = await answer
        open.delete(call)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
    })
    for (const secret of [`${older},${newer}`, `${newer},${older}`, newer!]) {
      for (let member = 0; member < 3; member++) {
        // As a balancer does: it sends nothing new there, and lets what it has sent be answered.
        const leaving = doors.shift()!
        await Promise.all([...open].filter(({ door }) => door === leaving)
          .map(({ answer }) => answer))
        expect(await leaving.kill('SIGTERM')).toEqual({ code: 0, signal: null })
        await leaving.close()
        doors.push(await start(secret))
      }
    }
    done.abort()
    await Promise.all(clients)
    console.log(`${[...statuses]} while nine members were replaced`)
    expect([...statuses.keys()]).toEqual([200])
  })
})
