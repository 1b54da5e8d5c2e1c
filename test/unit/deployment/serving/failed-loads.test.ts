/** Revisions that cannot be loaded: which failures end runs, and which ones runs wait for. */

import { expect, it } from 'vitest'

import type { Serving } from '../../../../src/deployment/index.ts'
import { HeddleError } from '../../../../src/errors.ts'
import { RevisionError } from '../../../../src/revision/index.ts'
import { eventually } from '../../../support/eventually.ts'
import { ServingWorld } from './serving-world.ts'

const killed = 'The process of the graphs could not start. It ended by itself with SIGKILL.'

async function served() {
  const world = new ServingWorld()
  world.deploy('shop')
  return { world, serving: await world.open() }
}

/** Fails the next loads with these errors, and loads after them. */
function failing(world: ServingWorld, ...errors: readonly HeddleError[]): void {
  const left = [...errors]
  world.starting = () => {
    const error = left.shift()
    if (error) throw error
  }
}

function times(count: number, error: HeddleError): readonly HeddleError[] {
  return Array.from({ length: count }, () => error)
}

/** Moves the clock until the check does not throw any more. */
async function inTime(world: ServingWorld, check: () => void, stepMs = 100): Promise<void> {
  await eventually(() => {
    world.env.advance(stepMs)
    check()
  })
}

const stateOf = (serving: Serving) => serving.loaded().map(({ state }) => state)

it('executes all runs after the process was killed while it loaded', async () => {
  const { world, serving } = await served()
  failing(world, ...times(5, new HeddleError('unavailable', killed)))
  const runs = Array.from({ length: 8 }, () => world.run(serving))
  await inTime(world, () => expect(world.processes.at(-1)?.running.size).toBe(8))
  expect(world.processes).toHaveLength(6)
  expect(runs.map(({ outcome }) => outcome)).toEqual(Array(8).fill(undefined))
  expect(runs.map(({ execution: { attempt } }) => attempt)).toEqual(Array(8).fill(1))
})

it('retries after longer and longer pauses, without a timer for each run', async () => {
  const { world, serving } = await served()
  failing(world, ...times(4, new HeddleError('unavailable', killed)))
  for (let count = 0; count < 8; count++) world.run(serving)
  for (const [starts, ms] of [[1, 100], [2, 200], [3, 400], [4, 800]] as const) {
    await eventually(() =>
      expect([world.processes.length, world.env.timers()]).toEqual([starts, 1])
    )
    world.env.advance(ms - 1)
    expect(world.env.timers()).toBe(1)
    world.env.advance(1)
  }
  await eventually(() => expect(stateOf(serving)).toEqual(['ready']))
})

it('gives each load after a failed one more time', async () => {
  const { world, serving } = await served()
  failing(world, ...times(5, new HeddleError('unavailable', 'It was late.')))
  const run = world.run(serving)
  await inTime(world, () => expect(world.processes.at(-1)?.running.size).toBe(1))
  expect(world.processes.map(({ options }) => options.startMs))
    .toEqual([60, 120, 240, 480, 480, 480].map((seconds) => 1_000 * seconds))
  expect(run.outcome).toBeUndefined()
})

it('ends runs with the message of the code after its second failure at import', async () => {
  const { world, serving } = await served()
  world.starting = () => Promise.reject(new RevisionError('wrong_hash', 'It is another one.'))
  const run = world.run(serving)
  await eventually(() => expect(stateOf(serving)).toEqual(['broken']))
  expect(run.outcome).toBeUndefined()
  world.env.advance(100)
  expect(await run.ended).toMatchObject({ status: 'error',
    error: { error: 'RevisionNotLoaded',
      message: 'Revision r1 cannot be loaded: It is another one.' } })
  expect(world.processes).toHaveLength(2)
  const asked = run.host.schemas('agent').catch((error: unknown) => HeddleError.from(error).code)
  await inTime(world, () => expect(world.processes).toHaveLength(3))
  expect(await asked).toBe('graph_failed')
  expect(await serving.lines('shop', { limit: 9 })).toMatchObject([{ level: 'error',
    text: 'The revision cannot be loaded: It is another one.' }, {}, {}])
})

it('does not count what the machine ended as a failure of the code', async () => {
  const { world, serving } = await served()
  const code = new HeddleError('graph_failed', 'TOKEN is missing')
  const machine = new HeddleError('unavailable', killed)
  failing(world, code, machine, machine, machine)
  const run = world.run(serving)
  await inTime(world, () => expect(world.processes.at(-1)?.running.size).toBe(1))
  expect([world.processes.length, run.outcome]).toEqual([5, undefined])
})

it.each(['was active', 'was loaded here'])('keeps runs of a revision that %s waiting',
  async (why) => {
    const { world, serving } = await served()
    if (why === 'was active') {
      const record = world.revisions.get('id-shop r1')!
      world.revisions.set('id-shop r1', { ...record, activeAtMs: 1 })
    } else {
      ;(await world.executing(world.run(serving))).die()
    }
    const before = world.processes.length
    const code = new HeddleError('graph_failed', 'The key has expired.')
    failing(world, ...times(4, code))
    const run = world.run(serving)
    await inTime(world, () => expect(world.processes.at(-1)?.running.size).toBe(1))
    expect([world.processes.length - before, run.outcome]).toEqual([5, undefined])
  })

it('serves queries after a load that was killed, and gives up after 30 seconds', async () => {
  const { world, serving } = await served()
  failing(world, new HeddleError('unavailable', killed))
  const host = serving.hostOf('acme@shop', 'r1')
  const asked = host.schemas('agent').catch((error: unknown) => HeddleError.from(error))
  await inTime(world, () => expect(world.processes).toHaveLength(2))
  // The fake process has no schemas.
  expect(await asked).toMatchObject({ code: 'unsupported' })
  world.processes[1]!.die()
  world.starting = () => Promise.reject(new HeddleError('unavailable', killed))
  const late = host.schemas('agent').catch((error: unknown) => HeddleError.from(error))
  let found: unknown
  void late.then((error) => (found = error))
  const beganMs = world.env.monotonicMs()
  await inTime(world, () => expect(found).toMatchObject({ code: 'unavailable', message: killed }),
    1_000)
  expect(world.env.monotonicMs() - beganMs).toBeGreaterThanOrEqual(30_000)
})

it('reports which deployments it cannot serve, and why, until it can', async () => {
  const { world, serving } = await served()
  world.starting = (process) => {
    process.described = [{ graphId: 'agent', failed: true, failure: 'TOKEN is missing' } as never]
  }
  await expect(serving.requireServes('shop')).resolves.toBeUndefined()
  const sinceMs = world.env.nowMs()
  const run = world.run(serving)
  await eventually(() => expect(serving.problems()).toHaveLength(1))
  expect(run.outcome).toBeUndefined()
  const problem = { deployment: 'shop', revision: 'r1', reason: 'TOKEN is missing', isWhole: true,
    sinceMs }
  expect(serving.problems()).toEqual([problem])
  expect(await serving.lines('shop', { limit: 9 })).toMatchObject([{ level: 'error', revision: 'r1',
    text: 'A graph cannot be loaded: TOKEN is missing' }])
  const refusal = { code: 'graph_failed',
    message:
      'The deployment shop cannot serve: its revision r1 cannot be loaded: TOKEN is missing' }
  await expect(serving.requireServes('shop')).rejects.toMatchObject(refusal)
  expect(world.processes).toHaveLength(1)
  // It is tried again after a pause.
  world.env.advance(15_000)
  await expect(serving.requireServes('shop')).rejects.toMatchObject(refusal)
  expect([world.processes.length, serving.problems()]).toEqual([2, [problem]])
  // It never served, and this was the second time.
  expect(await run.ended).toMatchObject({ status: 'error',
    error: { message: expect.stringContaining('TOKEN is missing') as string } })
  world.starting = () => {}
  world.env.advance(15_000)
  await serving.requireServes('shop')
  expect([world.processes.length, serving.problems()]).toEqual([3, []])
  await world.executing(world.run(serving))
})
