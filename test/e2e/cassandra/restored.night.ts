/** Operators of a cluster: they list and drain members, and restore a snapshot. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { dropKeyspace, newKeyspace } from '../../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../../support/cassandra.ts'
import { heddleProcessIn } from '../../support/command.ts'
import { useGates } from '../../support/gate.ts'
import { startHeld } from '../../support/held-run.ts'
import { openReceiver } from '../../support/receiver.ts'
import { repeats } from '../../support/repeats.ts'
import { say } from '../../support/run-events.ts'
import { oneWorker, startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'
import { clientOf } from '../../support/server.ts'
import { Bystanders } from '../backup/bystanders.ts'
import { acceptedBy, executionsIn, faultsOfTalk, speak,
  wordsAcceptedBy } from '../backup/diary-talk.ts'
import type { Talk } from '../backup/diary-talk.ts'

const cassandra = await cassandraForTests()
const newGate = useGates()
const keyspace = cassandra && newKeyspace(cassandra)

describe.skipIf(keyspace === undefined)('operators of a cluster', () => {
  let servers: ServerProcess[] = []
  const start = async (env: Record<string, string> = {}) => {
    const server = await startServer({ project: 'conformance', cassandra: keyspace,
      args: [...oneWorker, '--egress-allow', '127.0.0.1'], env })
    servers.push(server)
    return server
  }
  const command = async (...args: readonly string[]) => {
    const { status, stdout, stderr } = await heddleProcessIn({
      HEDDLE_CLUSTER_SECRET: 'the-secret-of-before',
    }, ...args, '--json', '--store', 'cassandra', '--contact-points',
      keyspace!.contactPoints.join(','), '--local-datacenter', keyspace!.dataCenter, '--keyspace',
      keyspace!.keyspace)
    return { status, stderr, answer: JSON.parse(stdout || 'null') as unknown }
  }
  afterEach(async () => {
    await Promise.all(servers.map((server) => server.close()))
    servers = []
  })
  afterAll(() => dropKeyspace(keyspace!))

  it('list members, drain one, and replace the secret member by member', async () => {
    const [older, newer] = ['the-secret-of-before', 'the-secret-from-now-on']
    const first = await start({ HEDDLE_CLUSTER_SECRET: `${older},${newer}` })
    const client = clientOf(first.url)
    const { thread_id: id } = await client.threads.create()
    const second = await start({ HEDDLE_CLUSTER_SECRET: `${newer},${older}` })
    await expect.poll(async () => (await command('members', 'list')).answer)
      .toMatchObject([{ details: { version: expect.any(String) } }, { details: {} }])
    const other = clientOf(second.url)
    await other.runs.wait(id, 'echo', { input: say('one') })
    const { answer } = await command('members')
    const [drained] = answer as readonly { readonly id: string }[]
    const ends = Promise.race(servers.map((server) => server.exited()))
    const drain = await command('members', 'drain', drained!.id.slice(0, 13))
    expect([drain.status, drain.answer]).toMatchObject([0, { id: drained!.id }])
    expect(await ends).toMatchObject({ code: 0 })
    expect(await command('members', 'drain', 'nobody')).toMatchObject({ status: 3 })
    expect((await command('doctor')).answer).toEqual(expect.arrayContaining([
      expect.objectContaining({ check: 'shards', verdict: 'ok' }),
      expect.objectContaining({ check: 'schema', verdict: 'ok' }),
      expect.objectContaining({ check: 'repairs', verdict: 'ok' }),
    ]))
    expect(await command('restored')).toMatchObject({ status: 3,
      stderr: expect.stringContaining('end all members first') })
  })

  it('start nothing that was unfinished in a snapshot', async () => {
    const gate = newGate()
    const first = await start()
    const client = clientOf(first.url)
    const { thread_id: id } = await client.threads.create()
    const { runId } = await startHeld(client, id, gate)
    const { run_id: second } = await client.runs.create(id, 'echo', { input: say('second') })
    const { cron_id: cron } = await client.crons.create('echo', { schedule: '* * * * *',
      input: say('tick') })
    await first.kill('SIGKILL')
    const arrivals = gate.count()
    const beganMs = performance.now()
    const done = await command('restored')
    console.log(`restored in ${((performance.now() - beganMs) / 1_000).toFixed(1)} s`)
    expect(done).toMatchObject({ status: 0, stderr: '',
      answer: { stopped: { runs: 2, crons: 1 } } })
    const restored = clientOf((await start()).url)
    for (const run of [runId, second]) {
      expect(await restored.runs.get(id, run)).toMatchObject({ status: 'interrupted' })
    }
    expect(await restored.crons.search({ limit: 5 }))
      .toMatchObject([{ cron_id: cron, enabled: false }])
    await restored.runs.wait(id, 'echo', { input: say('new') })
    expect(gate.count()).toBe(arrivals)
  })

  it('restore whatever was under way, with all that was acknowledged', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'heddle-restored-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'executions')
    writeFileSync(file, '')
    const receiver = await openReceiver()
    onTestFinished(() => receiver.close())
    for (let round = 1; round <= repeats({ day: 1, night: 2 }); round++) {
      const member = await start()
      const client = clientOf(member.url)
      const others = new Bystanders(member.url, receiver.url)
      const talks: Talk[] = await Promise.all(Array.from({ length: 4 }, async () => ({
        threadId: (await client.threads.create()).thread_id,
        attempts: [],
      })))
      const stopping = new AbortController()
      // All of them end with the member.
      const loads = [others.load(stopping.signal), ...talks.map((talk) =>
        speak(client, talk, file, stopping.signal)
      )].map((load) => load.catch(() => {}))
      await expect.poll(() =>
        acceptedBy(talks, Infinity)
      ).toBeGreaterThan(12)
      const killedMs = Date.now()
      stopping.abort()
      await member.kill('SIGKILL')
      await Promise.all(loads)
      expect(await command('restored'), `round ${round}`).toMatchObject({ status: 0, stderr: '' })
      const again = await start()
      const there = clientOf(again.url)
      const executed = executionsIn(file)
      // A start that nobody was answered may be in the log alone: it begins with the next look.
      await expect.poll(async () => {
        const faults = await Promise.all(talks.map((talk) =>
          faultsOfTalk(there, talk, { atMs: killedMs, executed: executionsIn(file) })
        ))
        return faults.flat()
      }, { message: `round ${round}` }).toEqual([])
      const accepted = wordsAcceptedBy(talks, killedMs)
      expect(executionsIn(file).slice(executed.length).filter(({ word }) =>
        accepted.has(word)
      ), `round ${round}`).toEqual([])
      const time = { beganMs: killedMs, endedMs: killedMs }
      expect(await others.missingAt(again.url, time), `round ${round}`).toEqual([])
      await again.close()
    }
  })
})
