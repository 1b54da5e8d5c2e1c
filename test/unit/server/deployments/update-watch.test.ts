/** Followers of deployments wake by what happens on any member, and cost little while they wait. */

import { setImmediate } from 'node:timers/promises'

import { expect, it } from 'vitest'

import type { Member } from '../../../../cluster/index.ts'
import { DeploymentUpdates } from '../../../../src/deployment/index.ts'
import type { UpdateRequest } from '../../../../src/deployment/index.ts'
import { HeddleError } from '../../../../src/errors.ts'
import { updateService, UpdateWatch } from '../../../../src/server/deployments/update-watch.ts'
import { virtualEnv } from '../../../support/env.ts'
import { memberThat, transportWith, until } from '../../cluster/transport/grpc/grpc-house.ts'

const [own, other] = ['one', 'two'].map((id) => ({ id, address: `${id}:1` })) as [Member, Member]

/** Two members, one of which follows. */
function opened() {
  const env = virtualEnv()
  const updates = { one: new DeploymentUpdates(env), two: new DeploymentUpdates(env) }
  const asked: string[] = []
  let view = [own, other]
  let isReached = true
  const service = updateService(updates.one)
  const counted = { ...service, answer: (options: UpdateRequest, cancelled?: AbortSignal) => {
    asked.push(own.id)
    return service.answer(options, cancelled)
  } }
  const watch = new UpdateWatch({ env, service: counted, backend: {
    status: () => ({ member: own, view }) as never,
    askMember: async (member, _name, options, cancelled) => {
      asked.push(member.id)
      if (!isReached) throw new HeddleError('unavailable')
      return await updateService(updates.two).answer(options as UpdateRequest, cancelled)
    },
  } })
  const settle = async () => {
    for (let turn = 0; turn < 10; turn++) await setImmediate()
  }
  /** Lets time go on in steps, so that promises settle between timers. */
  const advance = async (ms: number) => {
    for (let step = 0; step < ms; step += 100) {
      env.advance(100)
      await settle()
    }
  }
  return { env, updates, asked, watch, settle, advance, see: (members: Member[]) => {
    view = members
  }, reach: (is: boolean) => {
    isReached = is
  } }
}

it('A follower wakes by an update on another member, while no time passes.', async () => {
  const { updates, watch, settle, advance } = opened()
  let woken = 0
  watch.watch('shop', () => woken++)
  await advance(1_000)
  const before = woken
  updates.two.add('shop')
  await settle()
  expect(woken).toBe(before + 1)
  updates.one.add('shop')
  await settle()
  expect(woken).toBe(before + 2)
})

it('A follower wakes over gRPC, while no time passes.', async () => {
  const env = virtualEnv()
  const updates = new DeploymentUpdates(env)
  const service = updateService(updates)
  const kinds = [service]
  const far = await memberThat({
    ask: (_key, options, { cancelled } = {}) => service.answer(options as UpdateRequest, cancelled),
  }, { kinds })
  const transport = transportWith({ kinds })
  const watch = new UpdateWatch({ env, service: updateService(new DeploymentUpdates(env)),
    backend: {
      status: () => ({ member: own, view: [own, far] }) as never,
      askMember: (to, name, options, cancelled) =>
        transport.deliver(to, { kind: name, tenant: '', id: '' }, options,
          cancelled && { cancelled }),
    } })
  let woken = 0
  const unwatch = watch.watch('shop', () => woken++)
  // Each member has answered once, and a second question waits at both.
  await until(() => woken === 2)
  env.advance(200)
  const [lookTimer, waits] = [1, 2]
  await until(() => env.timers() === lookTimer + waits)
  updates.add('shop')
  await until(() => woken === 3)
  unwatch()
  env.advance(200)
  await until(() => env.timers() === 0)
})

it('Members are asked rarely while nothing happens, however many follow.', async () => {
  const { asked, watch, advance } = opened()
  for (let count = 0; count < 20; count++) watch.watch('shop', () => {})
  await advance(1_000)
  asked.length = 0
  await advance(60_000)
  expect(asked.filter((id) => id === other.id).length).toBeLessThanOrEqual(60 / 5)
  expect(asked.filter((id) => id === own.id).length).toBeGreaterThan(0)
})

it('Code that writes all the time wakes some times a second.', async () => {
  const { updates, watch, advance } = opened()
  let woken = 0
  watch.watch('shop', () => woken++)
  for (let step = 0; step < 100; step++) {
    updates.two.add('shop')
    await advance(100)
  }
  expect(woken).toBeLessThanOrEqual(10 * 5 + 2)
  expect(woken).toBeGreaterThan(10)
})

it('The last follower that goes leaves nothing behind.', async () => {
  const { env, asked, watch, advance } = opened()
  const unwatch = [watch.watch('shop', () => {}), watch.watch('shop', () => {})]
  await advance(1_000)
  unwatch[0]!()
  expect(env.timers()).toBeGreaterThan(0)
  unwatch[1]!()
  await advance(200)
  expect(env.timers()).toBe(0)
  asked.length = 0
  await advance(20_000)
  expect(asked).toEqual([])
})

it('Members that join, and those that come back, are asked.', async () => {
  const { updates, watch, advance, settle, see, reach } = opened()
  see([own])
  let woken = 0
  watch.watch('shop', () => woken++)
  await advance(1_000)
  reach(false)
  see([own, other])
  await advance(10_000)
  reach(true)
  await advance(6_000)
  woken = 0
  updates.two.add('shop')
  await settle()
  expect(woken).toBe(1)
})
