/** Whose work is next: no tenant, deployment or kind gets two turns while another waits for one. */

import { describe, expect, it } from 'vitest'

import { TurnQueue } from '../../../../../src/graph/pool/turns/turn-queue.ts'
import type { Turn } from '../../../../../src/graph/pool/turns/turn-queue.ts'
import { Chance } from '../../../../simulation/chance.ts'

interface Item extends Turn {
  readonly name: string
}

const item = (name: string, tenant = 'a', isAwaited = false, deployment = ''): Item => ({ name,
  tenant, deployment, isAwaited })

/** The names in the order in which everything is taken. */
function order(items: readonly Item[]): string {
  const queue = queueOf(items)
  const taken: string[] = []
  while (queue.take(({ name }) => taken.push(name) > 0));
  return taken.join(' ')
}

function queueOf(items: readonly Item[]): TurnQueue<Item> {
  const queue = new TurnQueue<Item>((each) => each)
  for (const each of items) queue.add(each)
  return queue
}

describe('a queue of turns', () => {
  it('serves tenants in turn, however much one of them has', () => {
    expect(
      order([item('a1'), item('a2'), item('a3'), item('b1', 'b'), item('a4'), item('c1', 'c'),
        item('b2', 'b')]),
    ).toBe('a1 b1 c1 a2 b2 a3 a4')
  })

  it('serves the deployments of a tenant in turn, within the turns of the tenant', () => {
    expect(
      order([item('a1'), item('a2'), item('x1', 'a', false, 'x'), item('b1', 'b'), item('b2', 'b'),
        item('x2', 'a', false, 'x')]),
    ).toBe('a1 b1 x1 b2 a2 x2')
  })

  it('serves what is awaited first, and then every other time', () => {
    expect(
      order([item('bg1'), item('bg2'), item('bg3'), item('aw1', 'a', true), item('aw2', 'a', true),
        item('aw3', 'a', true), item('aw4', 'a', true)]),
    )
      .toBe('aw1 bg1 aw2 bg2 aw3 bg3 aw4')
  })

  it('offers the next one if the first cannot be taken, and keeps its turn', () => {
    const queue = queueOf([item('a1'), item('a2'), item('b1', 'b'), item('aw', 'a', true)])
    const offered: string[] = []
    expect(queue.take(({ name }) => (offered.push(name), name === 'b1'))).toBe(true)
    expect(offered).toEqual(['aw', 'a1', 'b1'])
    expect(queue.take(({ name }) => name === 'a2')).toBe(false)
    expect(queue.take(({ name }) => name === 'aw')).toBe(true)
    expect(queue.size).toBe(2)
  })

  it('forgets what is deleted, and says whether it was there', () => {
    const [first, second] = [item('a1'), item('a2')]
    const queue = queueOf([first, second])
    expect(queue.delete(first)).toBe(true)
    expect(queue.delete(first)).toBe(false)
    expect([...queue]).toEqual([second])
    expect(queue.delete(second)).toBe(true)
    expect([queue.size, ...queue]).toEqual([0])
  })
})

it('Whatever comes and goes, a waiting kind has its turn within two rounds of the others', () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const chance = new Chance(seed)
    const queue = new TurnQueue<Item>((each) => each)
    const model = new Map<string, Item[]>()
    /** Turns that others had while this kind waited. */
    const passed = new Map<string, number>()
    const kindOf = ({ tenant, deployment, isAwaited }: Item) =>
      `${tenant} ${deployment} ${isAwaited}`
    for (let step = 0; step < 300; step += 1) {
      if (chance.flip(0.5)) {
        const added = item(`${step}`, `t${chance.below(3)}`, chance.flip(0.5),
          `d${chance.below(2)}`)
        model.set(kindOf(added), [...model.get(kindOf(added)) ?? [], added])
        queue.add(added)
        continue
      }
      let taken: Item | undefined
      const isTaken = queue.take((offered) => (taken = offered) === offered)
      expect(isTaken).toBe([...model.values()].some(({ length }) => length > 0))
      if (!taken) continue
      const waiting = model.get(kindOf(taken))!
      expect(waiting.shift()).toBe(taken)
      for (const [kind, { length }] of model) {
        passed.set(kind, length > 0 && kind !== kindOf(taken) ? (passed.get(kind) ?? 0) + 1 : 0)
      }
      // Three tenants, two deployments each, two kinds each.
      expect(Math.max(...passed.values())).toBeLessThan(2 * 3 * 2 * 2)
    }
    expect(queue.size).toBe([...model.values()].flat().length)
  }
})
