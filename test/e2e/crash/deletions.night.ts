/** Kills while traces that a question found are deleted: it goes on, and takes nothing else. */

import { randomUUID } from 'node:crypto'

import { afterAll, describe, expect, it, vi } from 'vitest'

import { dropKeyspace, newKeyspace } from '../../support/cassandra-keyspace.ts'
import type { CassandraKeyspace } from '../../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../../support/cassandra.ts'
import { oneWorker, startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'
import { ask } from '../../support/wire.ts'

/** Bodies of 2 000 roots, one of which in each body stays; and kills at most. */
const [bodies, killsMax] = [3, 3]

it('A deletion goes on over kills', () => rounds(), 900_000)

const cassandra = await cassandraForTests()

describe.skipIf(!cassandra)('on Cassandra', () => {
  const place = newKeyspace(cassandra!)
  afterAll(() => dropKeyspace(place), 120_000)

  it('A deletion goes on over kills', () => rounds(place), 1_800_000)
})

interface Deletion {
  readonly status: string
  readonly deleted_traces: number
}

async function rounds(place?: CassandraKeyspace): Promise<void> {
  const server = await startServer({ project: 'conformance', args: oneWorker, cassandra: place })
  const send = (method: string, path: string, body?: object) =>
    ask(server.url, method, `/api/v1${path}`, body)
  try {
    const { body: made } = await send('POST', '/sessions', { name: randomUUID() })
    const { id: session } = made as { readonly id: string }
    for (let no = 0; no < bodies; no++) await sendRoots(server, session, no)
    const asked = await send('POST', '/bulk-deletions', { session: [session],
      filter: 'eq(name, "gone")' })
    expect(asked.status).toBe(202)
    const path = `/bulk-deletions/${(asked.body as { readonly id: string }).id}`
    const shown = async () => (await send('GET', path)).body as Deletion
    let [deleted, kills] = [0, 0]
    while (kills < killsMax) {
      // Killed when it has gone on since the kill before.
      const seen = await vi.waitFor(async () => {
        const now = await shown()
        expect(now.status === 'Completed' || now.deleted_traces > deleted).toBe(true)
        return now
      }, { timeout: 60_000, interval: 10 })
      if (seen.status === 'Completed') break
      deleted = seen.deleted_traces
      await server.kill('SIGKILL')
      await server.restart()
      kills += 1
    }
    console.log(`${kills} kills; ${deleted} traces were deleted by the last one`)
    expect(kills).toBeGreaterThan(0)
    await vi.waitFor(async () => expect(await shown()).toMatchObject({ status: 'Completed' }), {
      timeout: 300_000,
      interval: 200,
    })
    const { body: stats } = await send('POST', '/runs/stats', { session: [session] })
    expect(stats).toMatchObject({ run_count: bodies })
    const { body: left } = await send('POST', '/runs/query', { session: [session],
      select: ['name'] })
    expect((left as { readonly runs: readonly { readonly name: string }[] }).runs
      .map(({ name }) => name)).toEqual(Array.from({ length: bodies }, () => 'kept'))
  } catch (error) {
    console.log(`The last that the server said:\n${server.output().slice(-4_000)}`)
    throw error
  } finally {
    await server.close()
  }
}

async function sendRoots(server: ServerProcess, session: string, no: number): Promise<void> {
  const now = Date.now()
  const stamp = `${new Date(now).toISOString().replaceAll(/[-:.Z]/g, '')}000Z`
  const post = Array.from({ length: 2_000 }, (_, at) => {
    const id = randomUUID()
    return { id, trace_id: id, name: at === 100 * no ? 'kept' : 'gone', run_type: 'chain',
      session_id: session, start_time: now, end_time: now + 1, inputs: {}, outputs: {},
      dotted_order: stamp + id }
  })
  const answer = await ask(server.url, 'POST', '/api/v1/runs/batch', { post, patch: [] })
  expect(answer.status).toBe(202)
}
