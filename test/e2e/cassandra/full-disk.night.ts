/** A member whose own disk is full: it ends with a sentence, and the others keep serving. */

import { describe, expect, it, onTestFinished } from 'vitest'
import { dropKeyspace, newKeyspace } from '../../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../../support/cassandra.ts'
import { say, texts } from '../../support/run-events.ts'
import { startServer } from '../../support/server-process.ts'
import type { Exit, ServerOptions } from '../../support/server-process.ts'
import { clientOf } from '../../support/server.ts'

const cassandra = await cassandraForTests()

/** Enough for the index of an empty keyspace. */
const fileKiB = 3_072
const mostRuns = 400

describe.skipIf(!cassandra)('a member whose disk is full', () => {
  it('ends and says why, and no acknowledged write is lost', async () => {
    const place = newKeyspace(cassandra!)
    onTestFinished(() => dropKeyspace(place))
    const serve = async (options: ServerOptions = {}) => {
      const server = await startServer({ project: 'conformance', cassandra: place, ...options })
      onTestFinished(() => server.close())
      return server
    }
    const full = await serve({ fileKiB })
    const other = await serve()
    const [client, heir] = [full, other].map(({ url }) => clientOf(url)) as [
      ReturnType<typeof clientOf>,
      ReturnType<typeof clientOf>,
    ]

    const acknowledged: string[] = []
    for (let number = 0; number < mostRuns; number += 1) {
      const { thread_id: id } = await heir.threads.create()
      const done = await client.runs.wait(id, 'echo', { input: say(id) })
        .then(() => true, () => false)
      if (!done) break
      acknowledged.push(id)
    }
    expect(await full.exited()).toEqual<Exit>({ code: 1, signal: null })
    expect(full.output()).toMatch(/The disk of .*heddle\.db .*This member cannot go on/)
    expect(acknowledged.length).toBeGreaterThan(0)
    console.log(`${acknowledged.length} runs until the disk was full`)
    for (const id of acknowledged) {
      expect(texts((await heir.threads.get(id)).values)).toEqual([id, `echo: ${id}`])
    }
    const found = await heir.threads.search({ limit: 1_000 })
    expect(found.map(({ thread_id: id }) => id)).toEqual(expect.arrayContaining(acknowledged))
  })
})
