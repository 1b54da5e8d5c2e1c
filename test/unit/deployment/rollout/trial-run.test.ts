/** The trial run in a roll-out: after the first member has loaded, before all others do. */

import { expect, it } from 'vitest'

import { ready, ScriptedCluster } from '../../../support/rollout-members.ts'

/** A cluster whose r2 has a trial run, and the runs that were asked for. */
function clusterWithTrial() {
  const trials: { end(reason: string | null): void; fail(): void; signal: AbortSignal }[] = []
  const cluster = new ScriptedCluster({}, { tryOut: (_deployment, _revision, signal) => {
    const { promise, resolve, reject } = Promise.withResolvers<string | null>()
    trials.push({ end: resolve, fail: () => reject(new Error('away')), signal })
    return promise
  } })
  const { revisionsByName } = cluster.records
  revisionsByName.set('r2', { ...revisionsByName.get('r2')!,
    trial: { graphId: 'agent', inputJson: '{}' } })
  return { cluster, trials }
}

const options = { by: 'me', wait: false }

it('comes before all others load it, and is made once', async () => {
  const { cluster, trials } = clusterWithTrial()
  await cluster.rollouts.check('shop', 'r2', options)
  await cluster.pass()
  await cluster.answer('prepare a r2/0', ready)
  await cluster.pass(2_000)
  expect([cluster.open, trials.length]).toEqual([[], 1])
  trials[0]!.end(null)
  await cluster.pass(1_000)
  expect(cluster.records.deployment).toMatchObject({ active: 'r1', rollout: null,
    lastRollout: { result: 'done' } })
  await cluster.rollouts.activate('shop', 'r2', options)
  await cluster.pass()
  await cluster.answer('prepare a r2/0', ready)
  expect(cluster.open).toEqual(['prepare b r2/0', 'prepare c r2/0'])
  await cluster.answer('prepare b r2/0', ready)
  await cluster.answer('prepare c r2/0', ready)
  expect([cluster.records.deployment.active, trials.length]).toEqual(['r2', 1])
})

it('refuses the roll-out with its sentence, and not the revision', async () => {
  const { cluster, trials } = clusterWithTrial()
  await cluster.rollouts.activate('shop', 'r2', options)
  await cluster.pass()
  await cluster.answer('prepare a r2/0', ready)
  trials[0]!.end('The trial run of "agent" failed: no key')
  await cluster.pass(1_000)
  expect(cluster.records.deployment).toMatchObject({ active: 'r1', rollout: null,
    lastRollout: { result: 'refused', reason: 'The trial run of "agent" failed: no key',
      failures: [{ graph_id: 'agent' }] } })
  expect(cluster.records.revisionsByName.get('r2')).toMatchObject({ state: 'ready' })
  await cluster.rollouts.activate('shop', 'r2', options)
  await cluster.pass()
  await cluster.answer('prepare a r2/0', ready)
  expect(trials).toHaveLength(2)
})

it('is made again if it could not be made, until the time is over', async () => {
  const { cluster, trials } = clusterWithTrial()
  await cluster.rollouts.activate('shop', 'r2', { ...options, prepareMs: 10_000 })
  await cluster.pass()
  await cluster.answer('prepare a r2/0', ready)
  trials[0]!.fail()
  await cluster.pass(2_000)
  expect(trials).toHaveLength(2)
  await cluster.pass(10_000)
  expect(cluster.records.deployment).toMatchObject({ active: 'r1', rollout: null,
    lastRollout: { result: 'failed', reason: 'The trial run of r2 was not done within 10 s.' } })
})

it('is ended with the roll-out by its deadline, by its end otherwise, and with its driver',
  async () => {
    const { cluster, trials } = clusterWithTrial()
    const begun = async (prepareMs: number) => {
      await cluster.rollouts.activate('shop', 'r2', { ...options, prepareMs })
      await cluster.pass()
      await cluster.answer('prepare a r2/0', ready)
      return trials.at(-1)!.signal
    }
    const late = await begun(10_000)
    await cluster.pass(9_000)
    expect(late.aborted).toBe(false)
    await cluster.pass(2_000)
    expect([late.aborted, cluster.records.deployment.rollout]).toEqual([true, null])
    const removed = await begun(60_000)
    cluster.records.deployment = { ...cluster.records.deployment, rollout: null }
    cluster.driver.look('shop')
    await cluster.pass(1_000)
    expect(removed.aborted).toBe(true)
    const closed = await begun(60_000)
    cluster.driver.close()
    await cluster.pass()
    expect(closed.aborted).toBe(true)
  })

it('is made anew by the next driver, and not for what has served', async () => {
  const { cluster, trials } = clusterWithTrial()
  await cluster.rollouts.activate('shop', 'r2', options)
  await cluster.pass()
  await cluster.answer('prepare a r2/0', ready)
  cluster.driver.close()
  const other = cluster.another('b', { tryOut: async () => null })
  other.look()
  await cluster.pass(1_000)
  expect(trials).toHaveLength(1)
  expect(cluster.open).toEqual(['prepare b r2/0', 'prepare c r2/0'])
  other.close()
  const { revisionsByName } = cluster.records
  revisionsByName.set('r1', { ...revisionsByName.get('r1')!,
    trial: { graphId: 'agent', inputJson: '{}' } })
  cluster.records.deployment = { ...cluster.records.deployment, rollout: null }
  cluster.calls.length = 0
  await cluster.rollouts.loadSecrets('shop', { ...options, change: [] })
  await cluster.pass(1_000)
  expect(trials).toHaveLength(1)
})
