/** Threads whose rows a dead owner left behind: who waits until they are up to date. */

import { expect, it } from 'vitest'

import { HeddleError } from '../../../src/errors.ts'
import { openWaking } from '../../../src/server/actor-waking.ts'
import { Recoveries } from '../../../src/thread/index.ts'
import { virtualEnv } from '../../support/env.ts'
import { settled, ThreadHouse } from '../../support/thread-house.ts'

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
    recoveries: new Recoveries(),
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
    recoveries: new Recoveries(),
    activations: {
      ask: () => Promise.reject(new Error('nothing is asked')),
      wake: () => Promise.reject(new HeddleError('unavailable')),
    },
  })
  const opened = expect(waking.opened(threads)).rejects.toMatchObject({ code: 'not_owner' })
  epoch = undefined
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
  env.advance(10_000)
  await opened
  waking.close()
})

it('loads threads for a recovery only if searches wait for them.', async () => {
  const recoveries = new Recoveries()
  const loaded: [string, boolean][] = []
  const waking = openWaking({ env: virtualEnv(), ...nothingDue, epochOf: () => 1, recoveries,
    activations: {
      ask: () => Promise.reject(new Error('nothing is asked')),
      wake: async ({ id }) => void loaded.push([id, recoveries.has('t', id)]),
    } })
  await waking.opened([{ tenant: 't', threadId: 'marked' }])
  await waking.wake([{ tenant: 't', threadId: 'unfinished' }])
  expect(loaded).toEqual([['marked', true], ['unfinished', false]])
  expect(recoveries.has('t', 'marked')).toBe(false)
  waking.close()
})

it('opens a marked thread although its tenant holds too many inputs.', async () => {
  const house = new ThreadHouse({ inputCharacters: 1_000 })
  const { env, activations, recoveries } = house
  await house.startRun('marked', { afterMs: 60_000, kwargs: { input: 'x'.repeat(500) } })
  env.advance(3_000)
  await settled()
  await house.startRun('busy', { kwargs: { input: 'x'.repeat(800) } })
  const waking = openWaking({ env, ...nothingDue, epochOf: () => 1, activations, recoveries })
  await waking.opened([{ tenant: 't', threadId: 'marked' }])
  expect(activations.has({ kind: 'thread', tenant: 't', id: 'marked' })).toBe(true)
  waking.close()
})
