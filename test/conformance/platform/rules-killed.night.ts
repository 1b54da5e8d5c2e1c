/** A server that is killed in the middle of a rule: each effect on each span exists once. */

import { randomUUID } from 'node:crypto'

import { expect, it } from 'vitest'

import { openReceiver } from '../../support/receiver.ts'
import { eventually, ruleWire } from '../../support/rules.ts'
import { useServer } from '../../support/server.ts'
import { oneWorker } from '../../support/server-process.ts'

const server = useServer({ project: 'judging',
  args: [...oneWorker, '--egress-allow', '127.0.0.1'] })

const spans = 500
/** Kills, each after so many calls of the webhook. */
const killedAfter = [40, 230, 480]

it('Each span has one verdict and one call, however often the server is killed', async () => {
  const receiver = await openReceiver()
  const wire = ruleWire(server)
  const project = await wire.project('killed')
  const rule = await wire.rule({ display_name: 'Killed', session_id: project,
    webhooks: [{ url: receiver.url }], filter: 'eq(name, "agent")' })
  const judged = await wire.rule({ display_name: 'Judged', session_id: project, sampling_rate: 0.1,
    evaluators: [{ graph_id: 'judge' }] })
  const ids = Array.from({ length: spans }, () => randomUUID())
  for (let at = 0; at < spans; at += 50) {
    await wire.end(project, ids.slice(at, at + 50).map((id) => ({ id, outputs: { answer: id } })))
  }
  for (const count of killedAfter) {
    await receiver.arrived(count)
    await server.process.kill('SIGKILL')
    await server.process.restart()
  }
  await eventually(async () => {
    const { body } = await wire.send('GET', `/runs/rules/${rule}/last_applied`)
    expect(body).toMatchObject({ looked_at: spans, applied: spans, failed: 0 })
    const other = await wire.send('GET', `/runs/rules/${judged}/last_applied`)
    expect(other.body).toMatchObject({ looked_at: spans })
  }, 90_000)
  const keys = Map.groupBy(receiver.received, ({ headers }) => headers['idempotency-key'])
  expect(keys.size).toBe(spans)
  const called = [...keys.values()].map(([one]) =>
    (JSON.parse(one!.body) as { readonly runs: readonly { readonly id: string }[] }).runs[0]!.id
  )
  expect(called.toSorted()).toEqual(ids.toSorted())
  const { body } = await wire.send('GET', `/runs/rules/${judged}/last_applied`)
  const { applied } = body as { readonly applied: number }
  const all = (await wire.send('GET', `/feedback?session=${project}&limit=100`)).body as readonly {
    readonly run_id: string
  }[]
  expect(all).toHaveLength(applied)
  expect(new Set(all.map(({ run_id: id }) => id)).size).toBe(applied)
  await receiver.close()
}, 180_000)
