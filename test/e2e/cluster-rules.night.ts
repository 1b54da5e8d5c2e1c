/** Rules and deletions on two members: each effect exists once, whichever owner dies. */

import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'

import { untilWhole } from '../bench/ownership-view.ts'
import { dropKeyspace, newKeyspace } from '../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../support/cassandra.ts'
import { startCluster } from '../support/cluster.ts'
import { openReceiver } from '../support/receiver.ts'
import { eventually, ruleWire } from '../support/rules.ts'

const cassandra = await cassandraForTests()
const spans = 250
/** Enough that both members own some of them. */
const tellers = 4

describe.skipIf(!cassandra)('a cluster of two', () => {
  it('deletes what a question finds at once, whoever is asked', async () => {
    const place = newKeyspace(cassandra!)
    const cluster = await startCluster({ members: 2, cassandra: place, project: 'judging' })
    try {
      await untilWhole(cluster, 0)
      for (const url of cluster.frontDoors) {
        const wire = ruleWire({ url })
        const project = await wire.project(`of ${url}`)
        const runs = Array.from({ length: 3 }, (_, at) => ({ id: randomUUID(), name: `run ${at}` }))
        await wire.end(project, runs)
        const { body } = await wire.send('POST', '/bulk-deletions', { session: [project],
          filter: 'neq(name, "run 1")' })
        const { id } = body as { readonly id: string }
        // Without the word to its owner, it would take a minute.
        await eventually(async () => {
          expect((await wire.send('GET', `/bulk-deletions/${id}`)).body)
            .toMatchObject({ status: 'Completed', deleted_traces: 2 })
        }, 25_000)
        expect((await wire.send('POST', '/runs/query', { session: [project], select: ['name'] }))
          .body).toMatchObject({ runs: [{ name: 'run 1' }] })
      }
    } finally {
      await cluster.close()
      await dropKeyspace(place)
    }
  }, 200_000)

  it('has each effect of each rule once, whichever owner dies', async () => {
    const place = newKeyspace(cassandra!)
    const receiver = await openReceiver()
    const cluster = await startCluster({ members: 2, cassandra: place, project: 'judging',
      args: ['--workers', '1', '--egress-allow', '127.0.0.1'] })
    try {
      await untilWhole(cluster, 0)
      const [one, other] = cluster.frontDoors.map((url) => ruleWire({ url }))
      const project = await one!.project('killed')
      const rules = await Promise.all(
        Array.from({ length: tellers }, (_, at) =>
          (at % 2 === 0 ? one! : other!).rule({ display_name: `Rule ${at}`, session_id: project,
            webhooks: [{ url: receiver.url }] })),
      )
      const judged = await one!.rule({ display_name: 'Judged', session_id: project,
        sampling_rate: 0.1, evaluators: [{ graph_id: 'judge' }] })
      const ids = Array.from({ length: spans }, () =>
        randomUUID())
      for (let at = 0; at < spans; at += 50) {
        await (at % 100 === 0 ? one! : other!).end(project,
          ids.slice(at, at + 50).map((id) => ({ id, outputs: { answer: id } })))
      }
      for (const [at, member] of cluster.members.entries()) {
        await receiver.arrived(100 + at * 400)
        await member.kill('SIGKILL')
        await member.restart()
      }
      await eventually(async () => {
        for (const rule of [...rules, judged]) {
          const { body } = await other!.send('GET', `/runs/rules/${rule}/last_applied`)
          expect(body).toMatchObject({ looked_at: spans, failed: 0 })
        }
      }, 150_000)
      const keysOf = (rule: string) =>
        new Set(receiver.received.filter(({ body }) => body.includes(rule))
          .map(({ headers }) => headers['idempotency-key']))
      for (const rule of rules) expect(keysOf(rule).size).toBe(spans)
      const { body } = await one!.send('GET', `/runs/rules/${judged}/last_applied`)
      const { applied } = body as { readonly applied: number }
      const all = (await one!.send('GET', `/feedback?session=${project}&limit=100`))
        .body as readonly { readonly run_id: string }[]
      expect(new Set(all.map(({ run_id: id }) => id)).size).toBe(applied)
      expect(all).toHaveLength(applied)
    } catch (error) {
      console.log(cluster.story())
      throw error
    } finally {
      await cluster.close()
      await receiver.close()
      await dropKeyspace(place)
    }
  }, 380_000)
})
