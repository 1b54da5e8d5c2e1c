/** The only node of Cassandra is lost while a server serves, and comes back. */

import { describe, expect, it, onTestFinished } from 'vitest'
import { startCassandra } from '../../../scripts/cassandra/cluster.ts'
import type { Cassandra } from '../../../scripts/cassandra/cluster.ts'
import { whatIsMissing } from '../../../scripts/cassandra/library.ts'
import { useGates } from '../../support/gate.ts'
import { startHeld } from '../../support/held-run.ts'
import { say, texts } from '../../support/run-events.ts'
import { startServer } from '../../support/server-process.ts'
import { clientOf } from '../../support/server.ts'
import { ask } from '../../support/wire.ts'
import { expectNothingIsRead, expectNothingIsServed, expectStoreIsMissed } from './questions.ts'
import { Writers } from './writers.ts'

const gate = useGates()

async function ownNode(): Promise<Cassandra> {
  const cluster = await startCassandra({ nodes: 1, firstAddress: '127.0.0.62', light: true })
  onTestFinished(() => cluster.close())
  return cluster
}

describe.skipIf(await whatIsMissing() !== undefined)('Cassandra that is lost while serving', () => {
  it.each([
    { how: 'answers nothing any more', lose: 'SIGSTOP' },
    ...[{ how: 'is killed', lose: 'SIGKILL' } as const],
  ] as const)('if it $how: 503, no crash, no loss, and all continues by itself', async (
    { lose },
  ) => {
    const { contactPoints, dataCenter, nodes } = await ownNode()
    const node = nodes[0]!
    const server = await startServer({
      project: 'conformance',
      cassandra: { contactPoints, dataCenter, keyspace: 'lost' },
    })
    onTestFinished(() => server.close())
    const client = clientOf(server.url)
    const { thread_id: cold } = await client.threads.create()
    await client.runs.wait(cold, 'echo', { input: say('cold') })
    await server.kill('SIGTERM')
    await server.restart()
    const { thread_id: warm } = await client.threads.create({ metadata: { warm: true } })
    await client.runs.wait(warm, 'echo', { input: say('warm') })
    const [holding, released] = [gate(), gate()]
    const ids = await Promise.all([0, 1].map(async () => (await client.threads.create()).thread_id))
    const runs = [await startHeld(client, ids[0]!, holding),
      await startHeld(client, ids[1]!, released)]
    for (const { stream } of runs) stream.rest().catch(() => undefined)
    const writers = new Writers(server.url, { makers: 3, speakers: 3 })
    await writers.nextGood()

    const lostMs = performance.now()
    await node.kill(lose)
    const latecomers = new Writers(server.url, { makers: 2, speakers: 2 })
    await Promise.all([
      expectStoreIsMissed(server.url),
      expectNothingIsRead(server.url, [warm, ...writers.spokenTo]),
    ])
    released.open()
    await expect.poll(() => server.output(), { timeout: 10_000 })
      .toContain('The store is out of reach')
    console.log(`${lose}: closed after ${(performance.now() - lostMs).toFixed(0)} ms`)
    await expectNothingIsServed(server.url, { warm, cold })
    await expectStoreIsMissed(server.url)
    await expect.poll(() => latecomers.refused).toBeGreaterThan(8)

    const backMs = performance.now()
    if (lose === 'SIGKILL') await node.start()
    else await node.kill('SIGCONT')
    const startedMs = performance.now()
    await writers.nextGood()
    console.log(`${lose}: serves ${(performance.now() - startedMs).toFixed(0)} ms after the node ` +
      `is back (${(startedMs - backMs).toFixed(0)} ms)`)
    holding.open()
    await latecomers.nextGood()
    await Promise.all([writers.stop(), latecomers.stop()])
    expect((await ask(server.url, 'GET', '/ok?check_db=1')).status).toBe(200)
    await everythingIsThere()
    expect(server.output()).not.toContain('nobody foresaw')
    await server.kill('SIGKILL')
    await server.restart()
    await everythingIsThere()

    async function everythingIsThere(): Promise<void> {
      await writers.check([lostMs, backMs])
      await latecomers.check([lostMs, backMs])
      for (const { runId, text } of runs) {
        const id = ids[runs.findIndex((run) => run.runId === runId)]!
        await client.runs.join(id, runId)
        expect(await client.runs.get(id, runId)).toMatchObject({ status: 'success' })
        expect(texts((await client.threads.get(id)).values))
          .toEqual([text, 'first', 'held', 'last'])
      }
      for (const [id, word] of [[warm, 'warm'], [cold, 'cold']] as const) {
        const { values, metadata } = await client.threads.get(id)
        expect(texts(values)).toEqual([word, `echo: ${word}`])
        expect(metadata).not.toHaveProperty('heard')
      }
      const threads = await client.threads.search({ limit: 1_000, select: ['thread_id', 'status'] })
      expect(threads.filter(({ status }) => status === 'busy')).toEqual([])
    }
  })
})
