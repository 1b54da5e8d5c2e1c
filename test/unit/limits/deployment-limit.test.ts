/** The limit of a deployment: its rule is in its key, and front doors share its counter. */

import { describe, expect, it } from 'vitest'

import { counterRules, deploymentCharge, limitActorKey,
  rateLimits } from '../../../src/limits/index.ts'
import { LimitWorld, mostWithin } from './limit-world.ts'

const id = '0a0a0a0a-0000-4000-8000-000000000001'

describe('the rule of a counter', () => {
  const rows = rateLimits('us')
  const ruleOf = counterRules(rows)

  it('is that of its row, or that in its own key', () => {
    for (const row of rows) expect(ruleOf({ row: row.name, who: 'me' })).toBe(row)
    const { limit, subject } = deploymentCharge(id, { count: 600, intervalMs: 60_000 })
    expect(limit).toMatchObject({ name: 'deployment', count: 600, intervalMs: 60_000,
      durable: false, onOutage: 'allow' })
    // As another member reads it.
    const [row, who] = limitActorKey({ row: limit.name, who: subject }).id.split(' ')
    expect(ruleOf({ row: row!, who: who! })).toEqual(limit)
  })

  it('is none for a limit that does not exist', () => {
    for (const who of ['me', id, `${id}/600`, `${id}/600/x`, `${id}/-1/60000`]) {
      expect(ruleOf({ row: 'deployment', who })).toBeUndefined()
    }
    expect(ruleOf({ row: 'nothing', who: 'me' })).toBeUndefined()
  })
})

describe('the counter of a deployment', () => {
  it('is another one for another deployment, or after a change of its limit', () => {
    const subjects = [[id, 600, 60_000], [id, 500, 60_000], [id, 600, 10_000], [
      id.replace('1', '2'),
      600,
      60_000,
    ]] as const
    expect(
      new Set(
        subjects.map(([of, count, intervalMs]) =>
          deploymentCharge(of, { count, intervalMs }).subject
        ),
      ).size,
    ).toBe(4)
  })

  it('is shared by all front doors, also when its owner changes', async () => {
    const { limit, subject } = deploymentCharge(id, { count: 50, intervalMs: 1_000 })
    const world = new LimitWorld(limit, 3, subject)
    world.wayMs = 2
    for (let step = 0; step < 60; step++) {
      for (const door of [0, 1, 2]) world.request(door)
      if (step === 30) world.failOver()
      await world.pass(40, 4)
    }
    expect(world.failures).toEqual([])
    expect(world.refusals.length).toBeGreaterThan(0)
    expect(mostWithin(1_000, world.admitted)).toBeLessThanOrEqual(50)
    // Of 2.4 seconds.
    expect(world.admitted.length).toBeGreaterThan(90)
  })
})
