/** Threads of a paused deployment: nothing starts, and whatever waited starts when it resumes. */

import { describe, expect, it } from 'vitest'

import type { StartRun } from '../../../../src/thread/index.ts'
import { aGraph, FakeDeployments, shop } from '../../../support/fake-deployments.ts'
import { ScriptedHost } from '../../../support/scripted-host.ts'
import { settled, ThreadHouse } from '../../../support/thread-house.ts'

/** A thread of a deployment with one revision. */
function oneRevision() {
  const deployed = new FakeDeployments()
  const host = new ScriptedHost()
  host.graphs = () => [aGraph('agent', 'model')]
  host.describe = () => aGraph('agent', 'model')
  deployed.hosts.set('r1', host)
  const house = new ThreadHouse({}, undefined, deployed)
  const start = (run: Partial<StartRun> = {}) => house.client.startRun(shop, 'x', house.run(run))
  const statuses = async () =>
    (await house.client.listRuns({ tenant: shop, threadId: 'x', limit: 10, offset: 0 }))
      .map(({ status }) => status).toReversed()
  const change = async (paused: boolean) => {
    deployed.change({ paused })
    await settled()
  }
  const restart = async () => {
    host.running.clear()
    deployed.watchers.clear()
    house.restart()
    await house.client.get(shop, 'x')
    await settled()
  }
  return { deployed, house, host, start, statuses, change, restart }
}

describe('a run of a paused deployment', () => {
  it('waits, and starts when the deployment resumes, without a timer', async () => {
    const { host, start, statuses, change } = oneRevision()
    await change(true)
    await start()
    await settled()
    expect([host.executions.length, await statuses()]).toEqual([0, ['pending']])
    await change(true)
    expect(host.executions).toEqual([])
    await change(false)
    expect(host.only.execution.attempt).toBe(1)
    host.end(host.only)
    await settled()
    expect(await statuses()).toEqual(['success'])
  })

  it('stays in the queue when the run before it ends, which goes on to its end', async () => {
    const { host, start, statuses, change } = oneRevision()
    await start()
    await start()
    await change(true)
    await host.step(host.only, 'one')
    host.lose(host.only, 'crashed')
    await settled()
    expect(host.only.execution.attempt).toBe(2)
    host.end(host.only)
    await settled()
    expect([host.running.size, await statuses()]).toEqual([0, ['success', 'pending']])
    await change(false)
    expect(host.running.size).toBe(1)
  })

  it('is due and waits, if it was delayed', async () => {
    const { house, host, start, statuses, change } = oneRevision()
    await start({ afterMs: 120_000 })
    await change(true)
    house.env.advance(3_600_000)
    await settled()
    expect([host.executions.length, await statuses()]).toEqual([0, ['pending']])
    await change(false)
    expect(host.running.size).toBe(1)
  })

  it('waits after a restart too, and what had started goes on', async () => {
    const { host, start, statuses, change, restart } = oneRevision()
    await start()
    await start()
    await change(true)
    await restart()
    host.end(host.only, { status: 'drained' })
    await settled()
    await restart()
    host.end(host.only)
    await settled()
    await restart()
    expect([host.running.size, await statuses()]).toEqual([0, ['success', 'pending']])
    await change(false)
    expect(host.running.size).toBe(1)
  })

  it('can be cancelled while it waits, and is not started then', async () => {
    const { house, host, start, statuses, change } = oneRevision()
    await change(true)
    const { runId } = await start()
    await house.client.cancelRun(shop, 'x', runId, { action: 'interrupt' })
    await change(false)
    expect([host.executions.length, await statuses()]).toEqual([0, ['interrupted']])
  })

  it('starts all the same if it is a trial', async () => {
    const { house, host, start, change } = oneRevision()
    await change(true)
    await start({ plan: { ...house.run().plan, trial: true } })
    expect(host.running.size).toBe(1)
  })
})

it('A thread that has left its member watches nothing.', async () => {
  const { deployed, house, start, change } = oneRevision()
  await change(true)
  await start()
  await settled()
  expect(deployed.watchers.size).toBe(1)
  await house.activations.close(AbortSignal.abort())
  expect(deployed.watchers.size).toBe(0)
})
