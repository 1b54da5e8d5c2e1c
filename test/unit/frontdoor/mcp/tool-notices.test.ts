/** Notices of changed tools: when they come, and what is done for them. */

import { describe, expect, it } from 'vitest'

import type { Caller } from '../../../../src/frontdoor/http/caller.ts'
import { ToolNotices } from '../../../../src/frontdoor/mcp/tool-notices.ts'
import { TenantChanges } from '../../../../src/frontdoor/operations/tenant-changes.ts'
import { virtualEnv } from '../../../support/env.ts'
import { settled } from '../../../support/thread-house.ts'

const callerOf = (tenant: string) =>
  ({ tenant, identity: { kind: 'user', id: 'ann' } }) as unknown as Caller

/** Assistants that are counted only. The test makes them, here or elsewhere. */
function open() {
  const env = virtualEnv()
  const changes = new TenantChanges()
  const world = { made: 0, looks: 0, fails: false, answers: Promise.resolve(), loading: 0 }
  const notices = new ToolNotices({
    search: async () => {
      world.looks += 1
      const total = world.made
      await world.answers
      if (world.fails) throw new Error('away')
      return { rows: [], total }
    },
    graphIds: async () => [],
    schemas: async () => ({ types_loading: world.loading-- > 0 }),
    onChange: ({ tenant }: Caller, changed: () => void) => changes.listen(tenant, changed),
  } as unknown as ConstructorParameters<typeof ToolNotices>[0], env)
  const seen: string[] = []
  const listen = async (name: string, tenant = 't') => {
    const listening = notices.listen(callerOf(tenant), () => seen.push(name))
    await listening.ready
    return listening
  }
  const make = async (tenant = 't') => {
    world.made += 1
    changes.notify(tenant)
    await settled()
  }
  return { env, world, notices, seen, listen, make }
}

describe('a notice of changed tools', () => {
  it('comes at once for a change at this member, to all that listen', async () => {
    const { seen, listen, make, world } = open()
    await listen('a')
    await listen('b')
    expect(world.looks).toBe(1)
    await make()
    expect(seen).toEqual(['a', 'b'])
  })

  it('comes once types of TypeScript have been read, to clients of the caller', async () => {
    const { seen, listen, world, notices } = open()
    await listen('a')
    await listen('b', 'other')
    world.loading = 3
    await Promise.all([notices.noticeTypes(callerOf('t'), 'id'),
      notices.noticeTypes(callerOf('t'), 'id')])
    expect(world.loading).toBe(-1)
    expect(seen).toEqual(['a'])
  })

  it('comes in time for a change elsewhere, and once only', async () => {
    const { env, seen, listen, make, world } = open()
    await listen('a')
    world.made += 1
    env.advance(4_999)
    await settled()
    expect(seen).toEqual([])
    env.advance(1)
    await settled()
    env.advance(60_000)
    await settled()
    expect(seen).toEqual(['a'])
    await make('another')
    expect(seen).toEqual(['a'])
  })

  it('comes for a change during a look, and after one that failed', async () => {
    const { env, seen, listen, make, world } = open()
    await listen('a')
    const slow = Promise.withResolvers<void>()
    world.answers = slow.promise
    env.advance(5_000)
    await make()
    expect(seen).toEqual([])
    slow.resolve()
    await settled()
    expect(seen).toEqual(['a'])
    world.fails = true
    await make()
    world.fails = false
    env.advance(5_000)
    await settled()
    expect(seen).toEqual(['a', 'a'])
  })

  it('costs nothing while nobody listens', async () => {
    const { env, listen, make, world } = open()
    const [first, second] = [await listen('a'), await listen('b')]
    first.stop()
    env.advance(5_000)
    await settled()
    expect(world.looks).toBe(2)
    second.stop()
    second.stop()
    env.advance(60_000)
    await make()
    expect(world.looks).toBe(2)
  })
})
