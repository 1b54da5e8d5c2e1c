/** The bound of memory of all graph processes: idle ones make room, and others are waited for. */

import { expect, it } from 'vitest'

import { eventually } from '../../../support/eventually.ts'
import { ServingWorld } from './serving-world.ts'

const limits = { workers: 1, memory_mb: 400, concurrency: 10, run_timeout_s: 60, body_mb: 25,
  requests: null }

async function served(graphsMemoryMb: number, names: readonly string[]) {
  const world = new ServingWorld()
  for (const name of names) world.deploy(name, { limits })
  return { world, serving: await world.open({ limits: { graphsMemoryMb } }) }
}

const at = (name: string) => ({ namespace: `acme@${name}` })

it('ends the process that was idle for longest when another one needs its memory', async () => {
  const { world, serving } = await served(800, ['a', 'b', 'c'])
  for (const name of ['a', 'b']) {
    const run = world.run(serving, at(name))
    const process = await world.executing(run)
    process.end(process.running.get(run.execution.id)!)
    world.env.advance(1_000)
  }
  await world.executing(world.run(serving, at('c')))
  expect(world.processes.map(({ closed }) => closed)).toEqual([true, false, false])
  expect(serving.loaded().map(({ deployment }) => deployment)).toEqual(['b', 'c'])
})

it('ends what a deployment does not point at before what it does', async () => {
  const { world, serving } = await served(800, ['a'])
  world.deploy('a', { active: 'r2' }, ['r1', 'r2'])
  world.deploy('b', { limits })
  await serving.learn('a')
  for (const revision of ['r2', 'r1']) {
    await serving.prepare({ deployment: 'a', revision, envVersion: 0 })
    world.env.advance(1_000)
  }
  await serving.prepare({ deployment: 'b', revision: 'r1', envVersion: 0 })
  expect(serving.loaded().map(({ deployment, revision }) => deployment + revision).sort())
    .toEqual(['ar2', 'br1'])
})

it('waits for work to end, and says after a while that there is no memory', async () => {
  const { world, serving } = await served(400, ['a', 'b'])
  const first = world.run(serving, at('a'))
  const process = await world.executing(first)
  const asked = serving.hostOf('acme@b', 'r1').schemas('agent')
    .catch((error: unknown) => String(error))
  const waits = () => serving.loaded().some(({ state }) => state === 'loading')
  await eventually(() => expect(waits()).toBe(true))
  await eventually(() => {
    world.env.advance(1_000)
    expect(waits()).toBe(false)
  })
  expect(await asked).toContain('fill their 400 MB')
  const second = world.run(serving, at('b'))
  process.end(process.running.get(first.execution.id)!)
  await eventually(() => {
    world.env.advance(100)
    expect(world.processes).toHaveLength(2)
  })
  await world.executing(second)
})

it('does not end a process before those that wait for it have begun', async () => {
  const { world, serving } = await served(400, ['a', 'b'])
  const runs = [world.run(serving, at('a')), world.run(serving, at('b'))]
  const first = await world.process(1)
  await eventually(() => expect(first.running.size).toBe(1))
  first.end([...first.running.values()][0]!)
  const second = await world.process(2)
  await eventually(() => expect(second.running.size).toBe(1))
  second.end([...second.running.values()][0]!)
  await Promise.all(runs.map(({ ended }) => ended))
  expect(world.processes).toHaveLength(2)
})

it('refuses a deployment that may fill more than there is', async () => {
  const { world, serving } = await served(300, ['a'])
  expect(await serving.prepare({ deployment: 'a', revision: 'r1', envVersion: 0 }))
    .toMatchObject({ kind: 'refused', reason: expect.stringContaining('memory_mb') as string })
  const run = world.run(serving, at('a'))
  await eventually(() => {
    world.env.advance(100)
    expect(run.outcome).toMatchObject({ status: 'error' })
  })
})
