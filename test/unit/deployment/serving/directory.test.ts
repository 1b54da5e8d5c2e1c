/** What a member knows of deployments: late, never wrong, and nothing for plain tenants. */

import { expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { eventually } from '../../../support/eventually.ts'
import { ServingWorld } from './serving-world.ts'

it('asks the store for nothing but one list where there are no deployments', async () => {
  const world = new ServingWorld()
  const serving = await world.open()
  await serving.open('acme')
  expect(serving.view('acme')).toBeUndefined()
  expect(serving.hostOf('acme', '')).toBe(world.own)
  serving.ended('acme', '', 'success')
  world.env.advance(60_000)
  expect(world.calls).toEqual(['list'])
  expect(world.env.timers()).toBe(0)
  expect(serving.loaded()).toEqual([])
})

it('looks again every 5 seconds on a cluster', async () => {
  const world = new ServingWorld()
  const serving = await world.open({ refreshMs: 5_000 })
  world.deploy('shop', { hosts: ['shop.example.org'] })
  expect(serving.named('shop.example.org')).toBeUndefined()
  world.env.advance(5_000)
  await eventually(() => expect(serving.named('SHOP.example.org')?.name).toBe('shop'))
  world.records.delete('shop')
  await eventually(() => expect(world.env.timers()).toBe(1))
  world.env.advance(5_000)
  await eventually(() => expect(serving.named('shop.example.org')).toBeUndefined())
})

it('knows the graphs of revisions that are ready', async () => {
  const world = new ServingWorld()
  world.deploy('shop', { next: { revision: 'r2', percent: 10 }, active: 'r1' }, ['r1', 'r2', 'r3'])
  world.revisions.set('id-shop r3', { ...world.revisions.get('id-shop r3')!, state: 'uploading' })
  const serving = await world.open()
  const view = serving.view('acme@shop')!
  expect([view.active, view.next]).toEqual(['r1', { revision: 'r2', percent: 10 }])
  expect([...view.revisions.keys()]).toEqual(['r1', 'r2'])
  expect(serving.view('acme@shop')).toBe(view)
  const host = serving.hostOf('acme@shop', 'r2')
  expect(host.describe('agent')).toMatchObject({ description: 'r2' })
  expect(host.graphs()).toBe(host.graphs())
  expect(world.processes).toHaveLength(0)
})

it('finds one that was made meanwhile, and remembers for a second that there is none', async () => {
  const world = new ServingWorld()
  const serving = await world.open()
  await expect(serving.find('shop')).rejects.toMatchObject({ code: 'not_found' })
  await expect(serving.open('acme@shop')).rejects.toMatchObject({ code: 'not_found' })
  expect(world.calls).toEqual(['list', 'get'])
  world.deploy('shop')
  world.env.advance(1_000)
  await serving.open('acme@shop')
  expect(serving.view('acme@shop')?.active).toBe('r1')
})

it('looks for 50 made-up names a second, and no more', async () => {
  const world = new ServingWorld()
  const serving = await world.open()
  const flood = async () => {
    const finds = Array.from({ length: 200 }, (_, index) => serving.find(`no${index}`))
    const codes = await Promise.allSettled(finds)
    return new Set(codes.map((each) => (each as { reason?: { code?: string } }).reason?.code))
  }
  expect(await flood()).toEqual(new Set(['not_found']))
  expect(world.calls.filter((call) => call === 'get')).toHaveLength(50)
  world.env.advance(1_000)
  world.deploy('shop')
  expect((await serving.find('shop')).name).toBe('shop')
})

it('says that it does not know yet if it could not look', async () => {
  const world = new ServingWorld()
  world.away = new HeddleError('unavailable')
  const serving = await world.open()
  const finds = Array.from({ length: 60 }, (_, index) => serving.find(`no${index}`))
  for (const find of await Promise.allSettled(finds)) {
    expect(find).toMatchObject({ reason: { code: 'unavailable' } })
  }
})

it('notifies of each change that it learns of, and of the removal', async () => {
  const world = new ServingWorld()
  world.deploy('shop')
  const serving = await world.open()
  const seen: unknown[] = []
  const stop = serving.watch('shop', ({ active, removing }) => seen.push([active, removing]))
  world.deploy('shop', { active: 'r2' })
  await serving.learn('shop')
  world.records.delete('shop')
  await serving.learn('shop')
  expect(seen).toEqual([['r2', false], ['r2', true]])
  expect(serving.view('acme@shop')).toBeUndefined()
  stop()
  world.deploy('shop')
  await serving.learn('shop')
  expect(seen).toHaveLength(2)
})

it('never goes back to what an older read says', async () => {
  const world = new ServingWorld()
  const older = world.deploy('shop')
  const newer = world.deploy('shop', { active: 'r2' })
  const serving = await world.open()
  world.records.set('shop', older)
  await serving.learn('shop')
  expect((await serving.find('shop')).active).toBe('r2')
  world.records.set('shop', { ...newer, step: newer.step + 1, active: 'r3' })
  await serving.learn('shop')
  expect((await serving.find('shop')).active).toBe('r3')
})

it('reads anew for who asks while it reads', async () => {
  const world = new ServingWorld()
  world.deploy('shop')
  const serving = await world.open()
  const first = serving.learn('shop')
  world.deploy('shop', { active: 'r2' })
  const [second, third] = [serving.learn('shop'), serving.learn('shop')]
  await Promise.all([first, second, third])
  expect((await serving.find('shop')).active).toBe('r2')
  expect(world.calls.filter((call) => call === 'get')).toHaveLength(3)
})

it('goes on with what it knows while the store is away', async () => {
  const world = new ServingWorld()
  world.deploy('shop')
  const serving = await world.open({ refreshMs: 5_000 })
  world.away = new Error('away')
  await expect(serving.learn('shop')).rejects.toThrow('away')
  for (let times = 0; times < 3; times++) {
    world.env.advance(5_000)
    await eventually(() => expect(world.env.timers()).toBe(1))
  }
  expect(serving.view('acme@shop')?.active).toBe('r1')
  expect(world.env.lines.filter(({ level }) => level === 'warn')).toHaveLength(1)
})

it('tries again until the records could be read at the start', async () => {
  const world = new ServingWorld()
  world.deploy('shop', { hosts: ['shop.example.org'] })
  world.away = new Error('away')
  const serving = await world.open()
  world.away = undefined
  world.env.advance(1_000)
  await eventually(() => expect(serving.named('shop.example.org')?.name).toBe('shop'))
  expect(world.env.timers()).toBe(0)
})

it('runs nothing of one that is being removed', async () => {
  const world = new ServingWorld()
  world.deploy('shop', { removing: true, hosts: ['shop.example.org'] })
  const serving = await world.open()
  // Its threads are deleted by their actors.
  await serving.open('acme@shop')
  expect(serving.view('acme@shop')).toBeUndefined()
  expect(serving.named('shop.example.org')).toBeUndefined()
})

it('tells whoever watches a namespace that its deployment was paused', async () => {
  const world = new ServingWorld()
  world.deploy('shop')
  const serving = await world.open()
  const seen: unknown[] = []
  const end = serving.onChange('acme@shop', () => seen.push(serving.view('acme@shop')?.paused))
  serving.onChange('acme', () => seen.push('the own project'))
  world.deploy('shop', { paused: true })
  await serving.learn('shop')
  end()
  world.deploy('shop', { paused: false })
  await serving.learn('shop')
  expect(seen).toEqual([true])
})

it('reads a deployment again if its active revision was missing', async () => {
  const world = new ServingWorld()
  world.deploy('shop', { active: 'r2' })
  const serving = await world.open()
  expect(serving.view('acme@shop')).toMatchObject({ active: 'r2', lacksSettings: true })
  world.revisions.set('id-shop r2', { ...world.revisions.get('id-shop r1')!, name: 'r2' })
  world.env.advance(5_000)
  await eventually(() => expect(serving.view('acme@shop')?.lacksSettings).toBe(false))
  expect(world.env.timers()).toBe(0)
})
