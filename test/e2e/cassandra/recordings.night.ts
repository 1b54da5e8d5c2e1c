/** Recorded calls of two front doors on one keyspace: written by one, read and removed by both. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import type { RunCallBodies, RunCalls } from '../../../src/api/index.ts'
import { openCallStub } from '../../support/call-stub.ts'
import type { CallStub } from '../../support/call-stub.ts'
import { dropKeyspace, newKeyspace } from '../../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../../support/cassandra.ts'
import { eventually } from '../../support/eventually.ts'
import { clientOf } from '../../support/server.ts'
import { oneWorker, startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'
import { ask } from '../../support/wire.ts'

const cassandra = await cassandraForTests()
const keyspace = cassandra && newKeyspace(cassandra)
const secret = 'canary-4d1be07a55c2'

describe.skipIf(keyspace === undefined)('two front doors on one keyspace', () => {
  let doors: readonly ServerProcess[] = []
  let stub: CallStub

  beforeAll(async () => {
    stub = await openCallStub()
    const start = () =>
      startServer({ project: 'recorded', cassandra: keyspace, args: oneWorker,
        env: { BANK_KEY: secret } })
    doors = [await start(), await start()]
  }, 240_000)
  afterAll(async () => {
    await Promise.all(doors.map((door) => door.close()))
    stub.close()
    await dropKeyspace(keyspace!)
  }, 60_000)

  it('show the calls of a run with their bodies, and none of a thread that is deleted',
    async () => {
      const [writer, other] = doors as [ServerProcess, ServerProcess]
      const { threads, runs } = clientOf(writer.url)
      const { thread_id: id } = await threads.create()
      await runs.wait(id, 'caller', {
        input: {
          calls: [{ url: `${stub.url}/echo`, body: '{"key":"SECRET"}' }, {
            url: `${stub.url}/pieces`,
          }],
        },
      })
      const [run] = await runs.list(id)
      const path = `/threads/${id}/runs/${run!.run_id}/calls`
      for (const { url } of [writer, other]) {
        await eventually(async () => {
          const { body } = await ask(url, 'GET', path)
          expect(body as RunCalls).toMatchObject({ is_recorded: true, is_cut: false,
            calls: [{ status: 200 }, { status: 200 }] })
        })
        const { body } = await ask(url, 'GET', `${path}/0`)
        expect((body as RunCallBodies).answer.text)
          .toBe(`{"key":"${'*'.repeat(secret.length)}"}`)
      }
      await clientOf(other.url).threads.delete(id)
      for (const { url } of doors) expect((await ask(url, 'GET', path)).status).toBe(404)
    }, 120_000)
})
