/** Three nodes of Cassandra under load: losing one goes unnoticed, losing two stops all. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Client } from '@langchain/langgraph-sdk'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFailed } from 'vitest'
import { systemEnv } from '../../../cluster/index.ts'
import { startCassandra } from '../../../scripts/cassandra/cluster.ts'
import type { Cassandra } from '../../../scripts/cassandra/cluster.ts'
import { isNight } from '../../support/repeats.ts'
import { say } from '../../support/run-events.ts'
import { startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'
import { clientOf } from '../../support/server.ts'
import { allowedMs } from '../../support/stillness.ts'
import { ask } from '../../support/wire.ts'
import { workersOf } from '../crash/rounds.ts'
import { RunKeeper } from '../crash/run-keeper.ts'
import { workUntilDeath, workUntilRefused } from '../crash/worker.ts'
import { answerMs, expectNothingIsRead, expectNothingIsServed,
  expectStoreIsMissed } from './questions.ts'
import { QuorumWatch } from './quorum-watch.ts'
import { Writers } from './writers.ts'

/** How long the load continues in each state of the cluster. */
const exposureMs = 6_000
const keyspace = 'nodes'

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`

/** `missing` says why Cassandra cannot run here. */
export function describeLostNodes(missing: string | undefined): void {
  describe.skipIf(missing !== undefined)('three nodes of Cassandra', () => {
    let cluster: Cassandra
    let server: ServerProcess
    let client: Client
    let scratch: string
    let file: string

    beforeAll(async () => {
      scratch = await mkdtemp(join(tmpdir(), 'heddle-nodes-'))
      file = join(scratch, 'executions')
      await writeFile(file, '')
      cluster = await startCassandra({ nodes: 3, firstAddress: '127.0.0.63', light: true })
      const { contactPoints, dataCenter } = cluster
      server = await startServer({
        project: 'conformance',
        cassandra: { contactPoints, dataCenter, keyspace },
      })
      client = clientOf(server.url)
    }, 240_000)
    afterAll(async () => {
      await server?.close()
      await cluster?.close()
      await rm(scratch, { recursive: true, force: true })
    }, 120_000)

    beforeEach(() => onTestFailed(() => console.log(server.output())))

    /** Writers at work, so far without a failure. */
    async function writing(): Promise<Writers> {
      const writers = new Writers(server.url, { makers: 3, speakers: 3 })
      await expect.poll(() => writers.seen.length).toBeGreaterThan(200)
      return writers
    }

    it.each([
      { which: 0, how: 'is killed', lose: 'SIGKILL' },
      { which: 1, how: 'answers nothing any more', lose: 'SIGSTOP' },
    ] as const)('serve on without a failure when node $which $how, and when it comes back',
      async ({ which, lose }) => {
        const node = cluster.nodes[which]!
        const workers = workersOf(file)
        const stopped = new AbortController()
        const watch = new QuorumWatch({ env: systemEnv({ level: 'silent' }), keyspace,
          contactPoints: cluster.contactPoints, localDataCenter: cluster.dataCenter })
        const calmMs = performance.now()
        const writers = await writing()
        const loops = Promise.all(
          workers.map((worker) => workUntilRefused(worker, client, stopped.signal)),
        )
        const failed = new Promise<never>((_, fail) => {
          loops.catch(fail)
        })
        await Promise.race([pause(exposureMs), failed])
        const lostMs = performance.now()
        await node.kill(lose)
        await Promise.race([pause(exposureMs), failed])
        // Lists, searches and counts find all runs without that node.
        const keeper = new RunKeeper(server.url)
        await keeper.act(client)
        await keeper.check(client)
        const backMs = performance.now()
        const seenBefore = writers.seen.length
        if (lose === 'SIGKILL') await node.start()
        else node.kill('SIGCONT')
        await cluster.whole()
        // After a short pause, the others may not even have missed the node.
        await expect.poll(() => writers.seen.length).toBeGreaterThan(seenBefore + 100)
        const endMs = performance.now()
        stopped.abort()
        const stops = await loops
        await Promise.all([writers.stop(), watch.close()])
        console.log(`Node ${which}: longest write ${seconds(writers.worstMs(calmMs, lostMs))} ` +
          `before, ${seconds(writers.worstMs(lostMs, backMs))} after ${lose}, ` +
          `${seconds(writers.worstMs(backMs, endMs))} when it came back; ` +
          `${writers.seen.length} writes, ${writers.refused} of them refused`)
        // If Cassandra itself stood still because of the machine, that is no fault of ours.
        const refusedMs = [
          ...writers.seen.filter(({ answer }) => answer !== 200)
            .map(({ atMs, tookMs }) => atMs + tookMs),
          ...stops.filter((atMs) => atMs !== undefined),
        ]
        const askedMs = (atMs: number) => atMs - allowedMs(answerMs, atMs - answerMs, atMs)
        expect(refusedMs.filter((atMs) => !watch.missed(askedMs(atMs), atMs))).toEqual([])
        await writers.check()
        for (const worker of workers) await worker.check(client)
      }, 300_000)

    it.runIf(isNight)('stop all service when two are lost, and serve again when those come back',
      async () => {
        const { thread_id: cold } = await client.threads.create()
        await client.runs.wait(cold, 'echo', { input: say('cold') })
        await server.kill('SIGTERM')
        await server.restart()
        const { thread_id: warm } = await client.threads.create()
        const workers = workersOf(file)
        const died = new AbortController()
        const writers = await writing()
        const stops = Promise.all(
          workers.map((worker) => workUntilDeath(worker, client, died.signal, 503)),
        )
        await Promise.race([pause(exposureMs), stops])

        const lost = cluster.nodes.slice(1)
        const lostMs = performance.now()
        died.abort()
        await Promise.all(lost.map((node) => node.kill('SIGKILL')))
        const latecomers = new Writers(server.url, { makers: 2, speakers: 2 })
        await Promise.all([
          expectStoreIsMissed(server.url),
          expectNothingIsRead(server.url, [warm, ...writers.spokenTo]),
        ])
        await expect.poll(() => server.output(), { timeout: 10_000 })
          .toContain('The store is out of reach')
        const closedMs = performance.now()
        await expectNothingIsServed(server.url, { warm, cold })
        await pause(exposureMs)
        await expectNothingIsServed(server.url, { warm, cold })
        await expectStoreIsMissed(server.url)

        const startedMs = performance.now()
        const starts = lost.map((node) => node.start().then(() => performance.now()))
        const backMs = Promise.race(starts)
        const starting = Promise.all(starts).then(() => cluster.whole())
        await writers.nextGood()
        const servedMs = performance.now()
        await starting
        console.log(`Two nodes lost: closed after ${seconds(closedMs - lostMs)}; a node accepts ` +
          `clients ${seconds(await backMs - startedMs)} after both were started, and after ` +
          `${seconds(servedMs - startedMs)} all is served`)
        await latecomers.nextGood()
        await Promise.all([writers.stop(), latecomers.stop(), stops])
        await everythingIsThere()
        expect((await ask(server.url, 'GET', '/ok?check_db=1')).status).toBe(200)
        expect(server.output()).not.toContain('nobody foresaw')
        await server.kill('SIGKILL')
        await server.restart()
        await everythingIsThere()

        const waited = writers.seen.filter(({ answer, tookMs }) => answer === 200 && tookMs > 3_000)
        console.log(`Of those who were writing ${writers.refused} were refused and ` +
          `${waited.length} waited until it was known; ${latecomers.refused} latecomers were ` +
          'refused')
        expect(latecomers.refused).toBeGreaterThan(8)

        async function everythingIsThere(): Promise<void> {
          await writers.check([lostMs, startedMs])
          await latecomers.check([lostMs, startedMs])
          for (const worker of workers) await worker.check(client)
          const busy = await client.threads.search({ status: 'busy', select: ['thread_id'] })
          expect(busy).toEqual([])
        }
      }, 400_000)
  })
}
