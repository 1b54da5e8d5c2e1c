/** How a driver asks members, and takes over from another one. */

import { expect, it, vi } from 'vitest'

import { ready, ScriptedCluster } from '../../../support/rollout-members.ts'

const options = { by: 'me', wait: false }

async function begun(...parts: ConstructorParameters<typeof ScriptedCluster>) {
  const cluster = new ScriptedCluster(...parts)
  await cluster.rollouts.activate('shop', 'r2', options)
  await cluster.pass()
  return cluster
}

const eventsOf = ({ records }: ScriptedCluster) =>
  records.noted.map(({ kind, by, data }) =>
    [kind, by, data.member ?? data.active, data.phase ?? data.state, data.result]
      .filter((part) => part !== undefined).join(' ')
  )

it('rolls out step by step, and notes each', async () => {
  const cluster = await begun()
  expect(cluster.open).toEqual(['prepare a r2/0'])
  await cluster.answer('prepare a r2/0', ready)
  expect(cluster.records.revisionsByName.get('r2')?.state).toBe('ready')
  expect(cluster.open).toEqual(['prepare b r2/0', 'prepare c r2/0'])
  await cluster.answer('prepare c r2/0', ready)
  await cluster.answer('prepare b r2/0', ready)
  expect(cluster.records.deployment).toMatchObject({ active: 'r2', previous: 'r1' })
  for (const member of ['a', 'b', 'c']) await cluster.answer(`learn ${member}`)
  expect(cluster.open).toEqual(['a', 'b', 'c'].map((member) => `tally ${member} r1`))
  await cluster.pass(60_000)
  expect(cluster.open.slice(-3)).toEqual(['learn a', 'learn b', 'learn c'])
  expect(cluster.records.deployment).toMatchObject({ rollout: null,
    lastRollout: { result: 'done', members: [{ id: 'a', state: 'confirmed' }, { id: 'b' }, {
      id: 'c',
    }] } })
  expect(eventsOf(cluster)).toEqual(['rollout me preparing', 'member heddle a ready',
    'member heddle c ready', 'member heddle b ready', 'pointer me r2', 'rollout me confirming',
    'member heddle a confirmed', 'member heddle b confirmed', 'member heddle c confirmed',
    'rollout me watching', 'rollout me ended done'])
  expect(cluster.env.timers()).toBe(0)
})

it('does nothing without a roll-out, or for an owner elsewhere', async () => {
  const cluster = new ScriptedCluster()
  const list = vi.spyOn(cluster.records, 'list')
  cluster.owns = false
  cluster.driver.look()
  expect(list).not.toHaveBeenCalled()
  cluster.owns = true
  cluster.driver.look()
  await cluster.pass(10_000)
  expect(list).toHaveBeenCalledOnce()
  expect(cluster.env.timers()).toBe(0)
})

it('looks again half a second after the records could not be read', async () => {
  const cluster = await begun()
  await cluster.answer('prepare a r2/0', ready)
  cluster.driver.close()
  cluster.calls.length = 0
  const next = cluster.another('b')
  const list = vi.spyOn(cluster.records, 'list').mockRejectedValueOnce(new Error('Not yet.'))
  next.look()
  await cluster.pass()
  await cluster.pass(400)
  expect(cluster.open).toEqual([])
  await cluster.pass(100)
  expect(cluster.open).not.toEqual([])
  expect(list).toHaveBeenCalledTimes(2)
  next.close()
})

it('asks again after a failure, and gives up after 90 s with the reason', async () => {
  const cluster = await begun()
  await cluster.answer('prepare a r2/0', ready)
  await cluster.answer('prepare b r2/0', ready)
  await cluster.fail('prepare c r2/0', 'The store is away.')
  expect(cluster.open).toEqual([])
  await cluster.pass(2_000)
  expect(cluster.open).toEqual(['prepare c r2/0'])
  await cluster.pass(86_000)
  expect(cluster.records.deployment.rollout).not.toBeNull()
  await cluster.pass(3_000)
  expect(cluster.records.deployment).toMatchObject({ active: 'r1',
    lastRollout: { result: 'failed',
      reason: 'Member c did not load r2 within 90 s: The store is away.' } })
})

it('does not wait for a silent member that was fenced', async () => {
  const cluster = await begun()
  await cluster.answer('prepare a r2/0', ready)
  await cluster.answer('prepare b r2/0', ready)
  await cluster.pass(30_000)
  cluster.live = ['a', 'b']
  await cluster.pass(1_000)
  expect(cluster.records.deployment.active).toBe('r2')
})

it('sees a member that joins while the record is read', async () => {
  const cluster = await begun()
  await cluster.answer('prepare a r2/0', ready)
  await cluster.answer('prepare b r2/0', ready)
  const { revision } = cluster.records
  cluster.records.revision = async (...named) => {
    cluster.live = ['a', 'b', 'c', 'd']
    return await revision(...named)
  }
  await cluster.answer('prepare c r2/0', ready)
  expect(cluster.records.deployment.active).toBe('r1')
  expect(cluster.open).toEqual(['prepare d r2/0'])
})

it('decides anew if the record was changed meanwhile', async () => {
  const cluster = await begun()
  await cluster.answer('prepare a r2/0', ready)
  await cluster.answer('prepare b r2/0', ready)
  const { change } = cluster.records
  let others = 1
  cluster.records.change = async (before, ...changes) => {
    if (others-- > 0) await change(before, { paused: true })
    return await change(before, ...changes)
  }
  await cluster.answer('prepare c r2/0', ready)
  expect(cluster.records.deployment).toMatchObject({ active: 'r2', paused: true })
})

it('is taken over in each phase by another member', async () => {
  const cluster = await begun()
  const takeOver = async (driver: { close(): void }, self: string) => {
    driver.close()
    cluster.calls.length = 0
    const next = cluster.another(self)
    next.look()
    await cluster.pass()
    return next
  }
  await cluster.answer('prepare a r2/0', ready)
  cluster.live = ['b', 'c']
  let driver = await takeOver(cluster.driver, 'b')
  expect(cluster.open).toEqual(['prepare b r2/0', 'prepare c r2/0'])
  await cluster.answer('prepare b r2/0', ready)
  await cluster.answer('prepare c r2/0', ready)
  expect(cluster.records.deployment.rollout?.phase).toBe('confirming')
  driver = await takeOver(driver, 'c')
  expect(cluster.open).toEqual(['learn b', 'learn c'])
  await cluster.answer('learn b')
  await cluster.answer('learn c')
  expect(cluster.records.deployment.rollout?.phase).toBe('watching')
  await takeOver(driver, 'b')
  await cluster.pass(60_000)
  expect(cluster.records.deployment).toMatchObject({ active: 'r2', rollout: null,
    lastRollout: { result: 'done' } })
})

it('does no harm beside another driver', async () => {
  const cluster = await begun()
  cluster.another('b').look()
  await cluster.pass()
  expect(cluster.open).toEqual(['prepare a r2/0', 'prepare b r2/0'])
  await cluster.answer('prepare b r2/0', ready)
  await cluster.answer('prepare a r2/0', ready)
  await cluster.pass(1_000)
  await cluster.answer('prepare c r2/0', ready)
  expect(cluster.records.deployment).toMatchObject({ active: 'r2', previous: 'r1' })
  expect(cluster.records.noted.filter(({ kind }) => kind === 'pointer')).toHaveLength(1)
})

it('stops when it is no longer the owner', async () => {
  const cluster = await begun()
  cluster.owns = false
  await cluster.answer('prepare a r2/0', ready)
  await cluster.pass(2_000)
  expect(cluster.open).toEqual([])
  expect(cluster.env.timers()).toBe(0)
})

it('goes on when the store is back', async () => {
  const cluster = await begun()
  const { get } = cluster.records
  cluster.records.get = () => Promise.reject(new Error('away'))
  await cluster.answer('prepare a r2/0', ready)
  await cluster.pass(5_000)
  cluster.records.get = get
  await cluster.pass(1_000)
  expect(cluster.open).toEqual(['prepare b r2/0', 'prepare c r2/0'])
})

it('moves the pointer back when runs fail', async () => {
  const cluster = await begun()
  await cluster.roll()
  const tally = async (ended: number, failed: number) => {
    for (const member of ['a', 'b', 'c']) {
      await cluster.answer(`tally ${member} r2`, { ended, failed, deaths: 0 })
    }
  }
  for (const member of ['a', 'b', 'c']) {
    await cluster.answer(`tally ${member} r1`, { ended: 100, failed: 1, deaths: 0 })
  }
  await tally(0, 0)
  await cluster.pass(1_000)
  await tally(7, 7)
  expect(cluster.records.deployment).toMatchObject({ active: 'r1', rollout: null,
    lastRollout: { result: 'rolled_back', reason: '21 of 21 runs failed.' } })
  expect(cluster.open).toEqual(['learn a', 'learn b', 'learn c'])
})

it('reports what a check found, and lets old revisions go', async () => {
  const [report, retention] = [vi.fn(async () => ({ graphs_added: ['agent'] })), vi.fn()]
  const cluster = new ScriptedCluster({}, { report, retention: async (deployment) => {
    retention(deployment.active)
  } })
  await cluster.rollouts.check('shop', 'r2', options)
  await cluster.pass()
  await cluster.answer('prepare a r2/0', ready)
  expect(retention.mock.calls).toEqual([['r1']])
  expect(cluster.records.noted.at(-1)).toEqual({ kind: 'report', by: 'me',
    data: { graphs_added: ['agent'] } })
  expect(cluster.records.revisionsByName.get('r2')?.state).toBe('ready')
})
