/** Updates of deployments: who waits for the next one hears of it, and leaves nothing behind. */

import { expect, it } from 'vitest'

import { DeploymentUpdates } from '../../../../src/deployment/index.ts'
import { virtualEnv } from '../../../support/env.ts'
import { ServingWorld } from './serving-world.ts'

function opened() {
  const env = virtualEnv()
  const updates = new DeploymentUpdates(env)
  const next = (after: number | null, cancelled?: AbortSignal) =>
    updates.next({ deployment: 'shop', after }, cancelled)
  return { env, updates, next }
}

it('answers at once what is not known yet', async () => {
  const { env, updates, next } = opened()
  const first = await next(null)
  updates.add('shop')
  const second = await next(first)
  expect(second).not.toBe(first)
  expect(await next(null)).toBe(second)
  expect(env.timers()).toBe(0)
})

it('answers with the next update of this deployment, and of no other one', async () => {
  const { env, updates, next } = opened()
  const first = await next(null)
  const second = next(first)
  updates.add('other')
  expect(env.timers()).toBe(1)
  updates.add('shop')
  expect(await second).not.toBe(first)
  expect(env.timers()).toBe(0)
})

it('answers after a while that nothing happened', async () => {
  const { env, next } = opened()
  const first = await next(null)
  const second = next(first)
  env.advance(8_000)
  expect(await second).toBe(first)
})

it('keeps nothing of who stops waiting, and nobody when it closes', async () => {
  const { env, updates, next } = opened()
  const first = await next(null)
  const left = new AbortController()
  const cancelled = next(first, left.signal)
  const waiting = next(first)
  left.abort()
  await cancelled
  expect(env.timers()).toBe(1)
  updates.close()
  await expect(waiting).rejects.toMatchObject({ code: 'unavailable' })
  await expect(next(null)).rejects.toMatchObject({ code: 'unavailable' })
  expect(env.timers()).toBe(0)
})

it('counts the lines of code', async () => {
  const world = new ServingWorld()
  world.deploy('shop')
  const written: string[] = []
  const serving = await world.open({ written: (deployment) => written.push(deployment) })
  const run = world.run(serving)
  const process = await world.executing(run)
  process.print(run.execution, 'one')
  process.options.printed?.('two', 'info')
  expect(written).toEqual(['id-shop', 'id-shop'])
})
