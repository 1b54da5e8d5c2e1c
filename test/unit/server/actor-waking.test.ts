/** Threads whose rows a dead owner left behind: who waits until they are up to date. */

import { expect, it } from 'vitest'

import { HeddleError } from '../../../src/errors.ts'
import { openWaking } from '../../../src/server/actor-waking.ts'
import { virtualEnv } from '../../support/env.ts'

const threads = ['fine', 'late', 'broken', 'gone']
  .map((threadId) => ({ tenant: 't', threadId }))
const nothingDue = { due: async () => [], dueCrons: async () => [] }

it('Each is opened when it was awake, unless it is broken or gone.', async () => {
  const env = virtualEnv()
  let refusals = 2
  const waking = openWaking({
    env,
    ...nothingDue,
    epochOf: () => 1,
    activations: {
      ask: () => Promise.reject(new Error('nothing is asked')),
      wake: async ({ id }) => {
        if (id === 'broken') throw new HeddleError('internal')
        if (id === 'gone') throw new HeddleError('not_found')
        if (id === 'late' && refusals-- > 0) throw new HeddleError('unavailable')
      },
    },
  })
  let opened = false
  const all = waking.opened(threads).then(() => {
    opened = true
  })
  const turns = async () => {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
  }
  await turns()
  expect(opened).toBe(false)
  for (let tries = 0; tries < 2; tries++) {
    env.advance(10_000)
    await turns()
  }
  await all
  expect(opened).toBe(true)
  waking.close()
})

it('None counts as opened that is given back before it was awake.', async () => {
  const env = virtualEnv()
  let epoch: number | undefined = 1
  const waking = openWaking({
    env,
    ...nothingDue,
    epochOf: () => epoch,
    activations: {
      ask: () => Promise.reject(new Error('nothing is asked')),
      wake: () => Promise.reject(new HeddleError('unavailable')),
    },
  })
  const opened = expect(waking.opened(threads)).rejects.toMatchObject({ code: 'not_owner' })
  epoch = undefined
  await Promise.resolve()
  env.advance(10_000)
  await opened
  waking.close()
})
