/** When roll-outs are looked at without a word of anybody. */

import { expect, it } from 'vitest'

import { lookAtRollouts } from '../../../../src/server/deployments/rollout-poll.ts'
import { virtualEnv } from '../../../support/env.ts'
import { ready, ScriptedCluster } from '../../../support/rollout-members.ts'

it('A member that takes over looks within a fifth of a second, and then every five.', () => {
  const env = virtualEnv()
  let [isOwner, looks] = [false, 0]
  const stop = lookAtRollouts({ env, owns: () => isOwner, driver: { look: () => void looks++ } })
  env.advance(1_000)
  expect(looks).toBe(0)
  isOwner = true
  env.advance(200)
  expect(looks).toBe(1)
  env.advance(3_000)
  expect(looks).toBe(1)
  env.advance(800)
  expect(looks).toBe(2)
  isOwner = false
  env.advance(1_000)
  isOwner = true
  env.advance(200)
  expect(looks).toBe(3)
  stop()
  env.advance(20_000)
  expect(looks).toBe(3)
})

it('A roll-out goes on within a fifth of a second when another member takes over.', async () => {
  const cluster = new ScriptedCluster()
  let isOwner = false
  const owns = () => isOwner
  const driver = cluster.another('b', { owns })
  const stop = lookAtRollouts({ env: cluster.env, owns, driver })
  await cluster.rollouts.activate('shop', 'r2', { by: 'me', wait: false })
  await cluster.pass()
  await cluster.answer('prepare a r2/0', ready)
  // The owner dies while the others load.
  cluster.driver.close()
  cluster.live = ['b', 'c']
  cluster.calls.length = 0
  await cluster.pass(1_000)
  expect(cluster.open).toEqual([])
  isOwner = true
  await cluster.pass(200)
  expect(cluster.open).toEqual(['prepare b r2/0', 'prepare c r2/0'])
  for (const member of ['b', 'c']) await cluster.answer(`prepare ${member} r2/0`, ready)
  expect(cluster.records.deployment).toMatchObject({ active: 'r2', previous: 'r1' })
  stop()
  driver.close()
})
