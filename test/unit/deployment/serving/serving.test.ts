/** Revisions as a member serves them: loaded on demand, kept, replaced and ended. */

import { expect, it } from 'vitest'

import type { RevisionTally, Serving } from '../../../../src/deployment/index.ts'
import { HeddleError } from '../../../../src/errors.ts'
import { eventually } from '../../../support/eventually.ts'
import { ServingWorld } from './serving-world.ts'
import type { FakeProcess } from './serving-world.ts'

const minute = 60_000

function stateOf(serving: Serving) {
  return serving.loaded().map(({ revision, envVersion, state }) =>
    `${revision}/${envVersion} ${state}`
  )
}

async function served(change = {}, revisions: readonly string[] = ['r1']) {
  const world = new ServingWorld()
  world.deploy('shop', change, revisions)
  return { world, serving: await world.open() }
}

/** Executes a run to its end. */
async function executed(world: ServingWorld, serving: Serving, request = {}): Promise<FakeProcess> {
  const run = world.run(serving, request)
  const process = await world.executing(run)
  process.end(process.running.get(run.execution.id)!)
  await run.ended
  return process
}

it('loads a revision when something is executed, and ends it when it is idle', async () => {
  const { world, serving } = await served()
  expect(world.processes).toHaveLength(0)
  const process = await executed(world, serving)
  expect(stateOf(serving)).toEqual(['r1/0 ready'])
  expect(await executed(world, serving)).toBe(process)
  world.env.advance(9 * minute)
  expect(process.closed).toBe(false)
  world.env.advance(2 * minute)
  expect(process.closed).toBe(true)
  await eventually(() => expect(world.env.timers()).toBe(0))
  expect(serving.loaded()).toEqual([])
  expect(await executed(world, serving)).not.toBe(process)
  expect(serving.stats()).toEqual({ starts: 2, deaths: 0 })
})

it('keeps the revision before for a rollback, and others for a short while', async () => {
  const { world, serving } = await served({ active: 'r3', previous: 'r2' }, ['r1', 'r2', 'r3'])
  const first = await executed(world, serving, { revision: 'r1' })
  const second = await executed(world, serving, { revision: 'r2' })
  world.env.advance(3 * minute)
  expect([first.closed, second.closed]).toEqual([true, false])
  world.env.advance(11 * minute)
  expect(second.closed).toBe(false)
  world.env.advance(2 * minute)
  expect(second.closed).toBe(true)
})

it('keeps no process of a preview for longer than ten minutes', async () => {
  const { world, serving } = await served({ active: 'r2', previous: 'r1',
    preview: { of: 'desk', label: 'fix', ttlMs: 1 } }, ['r1', 'r2'])
  const first = await executed(world, serving, { revision: 'r1' })
  const second = await executed(world, serving, { revision: 'r2' })
  world.env.advance(3 * minute)
  expect([first.closed, second.closed]).toEqual([true, false])
  world.env.advance(8 * minute)
  expect(second.closed).toBe(true)
})

it('never ends a process that executes or answers', async () => {
  const { world, serving } = await served()
  const run = world.run(serving)
  const process = await world.executing(run)
  world.env.advance(60 * minute)
  world.records.delete('shop')
  await serving.learn('shop')
  expect(process.closed).toBe(false)
  expect(serving.loaded()).toMatchObject([{ state: 'ready', executing: 1 }])
  process.end(process.running.get(run.execution.id)!)
  expect(process.closed).toBe(true)
  const again = world.run(serving)
  expect(await again.ended).toMatchObject({ status: 'error',
    error: { error: 'RevisionNotLoaded' } })
})

it('loads once for all that wait, and drops what is aborted meanwhile', async () => {
  const { world, serving } = await served()
  const started = Promise.withResolvers<void>()
  world.starting = () => started.promise
  const runs = [1, 2, 3].map(() => world.run(serving))
  const asked = serving.hostOf('acme@shop', 'r1').ask('agent', 't1', {} as never, {} as never)
    .catch((error: unknown) => HeddleError.from(error).code)
  await world.process(1)
  runs[0]!.host.abort(runs[0]!.execution.id)
  runs[1]!.host.pause(runs[1]!.execution.id)
  expect(await runs[1]!.ended).toMatchObject({ status: 'drained' })
  expect(stateOf(serving)).toEqual(['r1/0 loading'])
  started.resolve()
  const process = await world.executing(runs[2]!)
  expect(await asked).toBe('unsupported')
  expect([...process.running.keys()]).toEqual([runs[2]!.execution.id])
  expect(world.processes).toHaveLength(1)
  expect(runs[0]!.outcome).toBeUndefined()
  // After the hand-over they are the process's.
  runs[2]!.host.pause(runs[2]!.execution.id)
  expect(process.paused).toEqual(new Set([runs[2]!.execution.id]))
  runs[2]!.host.abort(runs[2]!.execution.id)
  expect(process.running.size).toBe(0)
  expect(serving.loaded()[0]?.executing).toBe(0)
})

it('gives a run that is stopped while it waits to the process, for its input alone', async () => {
  const { world, serving } = await served()
  const started = Promise.withResolvers<void>()
  world.starting = () => started.promise
  const run = world.run(serving)
  run.host.stop(run.execution.id)
  started.resolve()
  // The fake process ends an execution that only adds its input.
  expect(await run.ended).toMatchObject({ status: 'aborted' })
})

it('hides values of secrets in what code throws, in runs and in answers', async () => {
  const { world, serving } = await served()
  world.secrets.set('id-shop', { PLAIN_NAME: 'open-sesame' })
  const run = world.run(serving)
  const process = await world.executing(run)
  process.schemas = () => Promise.reject(new HeddleError('graph_failed', 'No open-sesame here.'))
  await expect(run.host.schemas('agent')).rejects.toMatchObject({ code: 'graph_failed',
    message: 'No [secret] here.' })
  process.end(process.running.get(run.execution.id)!, { status: 'error',
    error: { error: 'Error', message: 'open-sesame is no key' } })
  expect(await run.ended).toMatchObject({
    error: { error: 'Error', message: '[secret] is no key' },
  })
})

it('replaces a process that died, and waits if the next one dies soon as well', async () => {
  const { world, serving } = await served()
  const first = world.run(serving)
  ;(await world.executing(first)).die()
  expect(await first.ended).toBe('crashed')
  const second = world.run(serving)
  ;(await world.executing(second)).die()
  expect(await second.ended).toBe('crashed')
  const third = world.run(serving)
  // A microtask of the run finds the pause.
  await eventually(() => expect(world.env.timers()).toBe(1))
  expect(world.processes).toHaveLength(2)
  world.env.advance(100)
  await world.executing(third)
  expect(serving.tally({ deployment: 'shop', revision: 'r1', envVersion: 0 }).deaths).toBe(2)
  expect(serving.stats()).toEqual({ starts: 3, deaths: 2 })
})

it('starts runs with newer secrets in a fresh process beside the one before', async () => {
  const { world, serving } = await served()
  world.secrets.set('id-shop', { TOKEN: 'old' })
  const before = world.run(serving)
  const old = await world.executing(before)
  world.secrets.set('id-shop', { TOKEN: 'new' })
  world.deploy('shop', { envVersion: 1 })
  await serving.learn('shop')
  const after = world.run(serving)
  const fresh = await world.executing(after)
  expect([old, fresh].map(({ options }) => options.variables['TOKEN'])).toEqual(['old', 'new'])
  expect(stateOf(serving)).toEqual(['r1/1 ready', 'r1/0 leaving'])
  expect(old.closed).toBe(false)
  old.end(old.running.get(before.execution.id)!)
  expect(old.closed).toBe(true)
})

it('goes on with the secrets before if nothing can be loaded with the new ones', async () => {
  const { world, serving } = await served()
  const process = await executed(world, serving)
  world.starting = () => Promise.reject(new HeddleError('graph_failed', 'No key.'))
  world.deploy('shop', { envVersion: 1 })
  await serving.learn('shop')
  expect(await executed(world, serving)).toBe(process)
  expect(await executed(world, serving)).toBe(process)
})

it('keeps to the secrets before until a roll-out has prepared others', async () => {
  const { world, serving } = await served()
  const old = await executed(world, serving)
  const prepared = await serving.prepare({ deployment: 'shop', revision: 'r1', envVersion: 1 })
  expect(prepared.kind).toBe('ready')
  expect(await executed(world, serving)).toBe(old)
  world.deploy('shop', { envVersion: 1 })
  await serving.learn('shop')
  expect(old.closed).toBe(true)
  expect(await executed(world, serving)).toBe(await world.process(2))
  expect(world.processes).toHaveLength(2)
})

const recordOf = ({ options }: FakeProcess) => options.record

it('replaces an idle process by one that records as its deployment says', async () => {
  const { world, serving } = await served()
  const old = await executed(world, serving)
  world.deploy('shop', { record: '10%' })
  await serving.learn('shop')
  await eventually(() => expect(old.closed).toBe(true))
  const fresh = await executed(world, serving)
  expect([old, fresh].map(recordOf)).toEqual([undefined, '10%'])
  world.deploy('shop', { record: null })
  await serving.learn('shop')
  await eventually(() => expect(fresh.closed).toBe(true))
  expect(recordOf(await executed(world, serving))).toBeUndefined()
  expect(world.processes).toHaveLength(3)
})

it('keeps no run waiting for a process that records otherwise', async () => {
  const { world, serving } = await served()
  const before = world.run(serving)
  const old = await world.executing(before)
  const loaded = Promise.withResolvers<void>()
  world.starting = () => loaded.promise
  world.deploy('shop', { record: 'all' })
  await serving.learn('shop')
  expect(await executed(world, serving)).toBe(old)
  loaded.resolve()
  await eventually(() => expect(stateOf(serving)).toEqual(['r1/0 ready', 'r1/0 leaving']))
  expect(recordOf(await executed(world, serving))).toBe('all')
  expect(old.closed).toBe(false)
  old.end(old.running.get(before.execution.id)!)
  await eventually(() => expect(old.closed).toBe(true))
})

it('goes on with its process if none can be loaded that records otherwise', async () => {
  const { world, serving } = await served()
  const old = await executed(world, serving)
  world.starting = () => Promise.reject(new HeddleError('graph_failed', 'No memory.'))
  world.deploy('shop', { record: 'all' })
  await serving.learn('shop')
  await world.process(2)
  expect(await executed(world, serving)).toBe(old)
  expect(serving.problems()).toEqual([])
})

it('ends other revisions that record otherwise, and prepares with what is set', async () => {
  const { world, serving } = await served({ active: 'r2', previous: 'r1' }, ['r1', 'r2'])
  const previous = await executed(world, serving, { revision: 'r1' })
  world.deploy('shop', { record: 'off' }, ['r1', 'r2'])
  await serving.learn('shop')
  await eventually(() => expect(previous.closed).toBe(true))
  await serving.prepare({ deployment: 'shop', revision: 'r1', envVersion: 0 })
  expect(world.processes.map(recordOf)).toEqual([undefined, 'off'])
})

it('executes as many runs as a deployment may, in order, and edits beside them', async () => {
  const { world, serving } = await served({
    limits: { workers: 1, memory_mb: 100, concurrency: 1, run_timeout_s: 60, body_mb: 25,
      requests: null },
  })
  const [first, second, third] = [world.run(serving), world.run(serving), world.run(serving)]
  const edit = world.run(serving, { kind: 'edit' as 'run' })
  const process = await world.executing(first)
  await world.executing(edit)
  expect(process.running.size).toBe(2)
  process.end(process.running.get(first.execution.id)!)
  await world.executing(second)
  expect(process.running.has(third.execution.id)).toBe(false)
  second.host.abort(second.execution.id)
  await world.executing(third)
})

it('counts ended runs by revision', async () => {
  const { serving } = await served()
  for (const status of ['success', 'error', 'timeout', 'interrupted']) {
    serving.ended('acme@shop', 'r1', status)
  }
  serving.ended('other@shop', 'r2', 'error')
  const tally = (revision: string): RevisionTally =>
    serving.tally({ deployment: 'shop', revision, envVersion: 0 })
  expect(tally('r1')).toEqual({ ended: 4, failed: 2, deaths: 0 })
  expect(tally('r2')).toEqual({ ended: 1, failed: 1, deaths: 0 })
})

it('forgets revisions that were removed, when they have no work any more', async () => {
  const world = new ServingWorld()
  world.deploy('shop', {}, ['r1', 'r2'])
  const serving = await world.open()
  const [old, run] = [world.run(serving), world.run(serving, { revision: 'r2' })]
  const request = { deployment: 'shop', revision: 'r1', envVersion: 0 }
  const process = await world.executing(old)
  serving.ended('acme@shop', 'r1', 'success')
  world.revisions.delete('id-shop r1')
  world.deploy('shop', {}, ['r2'])
  await serving.learn('shop')
  expect(serving.tally(request).ended).toBe(1)
  process.end(process.running.get(old.execution.id)!, { status: 'success' })
  await old.ended
  for (let minutes = 0; minutes < 4; minutes++) {
    world.env.advance(60_000)
    await eventually(() => expect(serving.loaded().length).toBeGreaterThan(0))
  }
  await eventually(() => {
    world.env.advance(10_000)
    expect(serving.tally(request).ended).toBe(0)
  })
  expect(run.outcome).toBeUndefined()
  world.records.delete('shop')
  await serving.learn('shop')
  serving.ended('acme@shop', 'r2', 'success')
  expect(serving.tally({ ...request, revision: 'r2' }).ended).toBe(0)
})

it('drains what executes, and what waits', async () => {
  const { world, serving } = await served({
    limits: { workers: 1, memory_mb: 100, concurrency: 1, run_timeout_s: 60, body_mb: 25,
      requests: null },
  })
  const [first, second] = [world.run(serving), world.run(serving)]
  const process = await world.executing(first)
  await serving.drain(new AbortController().signal)
  expect(process.drained).toBe(true)
  expect(second.outcome).toMatchObject({ status: 'drained' })
  expect(await world.run(serving).ended).toMatchObject({ status: 'drained' })
  expect(await world.run(serving, { namespace: 'acme@other' }).ended)
    .toMatchObject({ status: 'drained' })
})

it('ends its processes with the member, also those that start', async () => {
  const { world, serving } = await served({ active: 'r2' }, ['r1', 'r2'])
  const ready = await executed(world, serving)
  const started = Promise.withResolvers<void>()
  world.starting = () => started.promise
  world.run(serving, { revision: 'r2' })
  const starting = await world.process(2)
  const closed = serving.close()
  started.resolve()
  await closed
  expect([ready.closed, starting.closed]).toEqual([true, true])
  expect(world.env.timers()).toBe(0)
})

it('is another deployment after it was removed and made again', async () => {
  const { world, serving } = await served()
  const old = await executed(world, serving)
  world.records.delete('shop')
  await serving.learn('shop')
  expect(old.closed).toBe(true)
  world.deploy('shop', { id: 'another' })
  await serving.learn('shop')
  expect(await executed(world, serving)).not.toBe(old)
  expect(await serving.lines('shop', { limit: 9 })).toEqual([])
})

/** A set with one value. */
const tokens = (place: string) => [{ name: 'TOKEN', version: 1, updatedAtMs: 0, place }]

it('starts every process with the secrets that were loaded last', async () => {
  const loadedSecrets = { envVersion: 3, entries: tokens('good') }
  const { world, serving } = await served({ envVersion: 3, loadedSecrets })
  const token = () => world.processes.at(-1)!.options.variables['TOKEN']
  const first = await executed(world, serving)
  expect(token()).toBe('good')
  const tried = { deployment: 'shop', revision: 'r1', envVersion: 4, secrets: tokens('bad') }
  world.starting = () => Promise.reject(new HeddleError('graph_failed', 'No such token'))
  expect(await serving.prepare(tried)).toMatchObject({ kind: 'refused', reason: 'No such token' })
  expect([token(), serving.problems(), first.closed]).toEqual(['bad', [], false])
  expect(stateOf(serving)).toEqual(['r1/3 ready'])
  // Another member refuses them: they were loaded here in vain.
  world.starting = () => {}
  expect(await serving.prepare({ ...tried, secrets: tokens('vain') })).toMatchObject({
    kind: 'ready',
  })
  first.die()
  world.env.advance(200)
  await executed(world, serving)
  expect([token(), world.processes.length]).toEqual(['good', 4])
  // Once they count, the process that has loaded them is there.
  const { processes: [, , vain] } = world
  world.deploy('shop', { envVersion: 4, loadedSecrets: { envVersion: 4, entries: tokens('vain') } })
  await serving.learn('shop')
  expect(await executed(world, serving)).toBe(vain)
})
