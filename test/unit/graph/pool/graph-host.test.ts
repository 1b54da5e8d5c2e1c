/** Executions and questions through real worker threads. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setEnvironmentData } from 'node:worker_threads'

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'

import { useGates } from '../../../support/gate.ts'
import { ModelLog } from '../../../support/model-log.ts'
import { isNight } from '../../../support/repeats.ts'
import { hostProject, letSpin, logged, secrets, TestHost,
  useSharedHost } from '../project/host-project.ts'
import { askedToRemember, itemGraph, remembered, useDamagedItems } from './damaged-items.ts'

/** Graphs for the tests that share a host, beside those of every host. */
const extra = `
import { z } from 'zod/v3'
export const broken = 5
export const odd = new StateGraph(z.object({ made: z.any().default({ make: () => 'x' }) }))
  .addNode('node', () => ({})).addEdge(START, 'node').compile()
export const line = new StateGraph(State)
  .addNode('a', async ({ url }) => { await fetch(url); return { log: ['a'] } })
  .addNode('b', () => ({ log: ['b'] }))
  .addEdge(START, 'a').addEdge('a', 'b').addEdge('b', END).compile()
export const late = one(async ({ url }, { store }) => {
  await fetch(url)
  return store.get(['a'], 'k').then(() => 'got', ({ message }) => message)
})
${itemGraph}`

const gate = useGates()
// Those of the process are read when the host starts.
beforeAll(() => {
  process.env.HOST_TEST_B = 'process'
  for (const name of secrets) process.env[name] = 'hush'
})
const sharedHost = useSharedHost(extra, { HOST_TEST_A: 'project', HOST_TEST_B: 'project' })
afterAll(() => {
  for (const name of ['HOST_TEST_B', ...secrets]) delete process.env[name]
})
const success = { status: 'success', waiting: false, interrupts: '{}', error: null }
const question = { kind: 'state', configurable: {}, ns: '', checkpointId: null,
  subgraphs: false } as const

/** Longer than it takes to give a silent worker up and to start the next one. */
const restMs = 15_000

describe('an execution', () => {
  it('sends its steps and events first, then its outcome, and nothing after that', async () => {
    const test = sharedHost()
    const run = test.run('where', {})
    expect(await run.end).toEqual(success)
    expect(run.emitted.map(({ kind }) => kind)).toEqual(['steps', 'ended'])
    expect(run.events.map(({ name }) => name)).toEqual(['updates'])
    expect(run.log.checkpoints).toHaveLength(3)
  })

  it('of a graph that cannot be loaded ends in error, and other graphs work', async () => {
    const test = sharedHost()
    expect(await test.run('broken', {}).end).toMatchObject({ status: 'error',
      error: { error: 'TypeError', message: expect.stringContaining('broken') as string } })
    expect(await test.run('where', {}).end).toEqual(success)
    expect(test.env.lines).toContainEqual(
      expect.objectContaining({ level: 'error',
        details: expect.objectContaining({ graphId: 'broken' }) as object }),
    )
  })

  it('runs beside others in the same worker', async () => {
    const test = sharedHost()
    const held = gate()
    const first = test.run('hold', { url: held.url })
    await held.arrived()
    expect(await test.run('where', {}).end).toEqual(success)
    held.open()
    expect(await first.end).toEqual(success)
  })

  it.runIf(isNight)('returns to the worker that remembers its thread, though another one is idle',
    async () => {
      const test = await TestHost.start(2)
      const held = gate()
      const busy = test.run('hold', { url: held.url })
      await held.arrived()
      const first = test.run('where', {})
      await first.end
      const { log, threadId } = first
      held.open()
      await busy.end
      const second = test.run('where', {}, { log, threadId })
      await second.end
      expect(log.values().log).toEqual([logged(first), logged(first)])
      expect(log.reads).toBe(0)
    })

  it('does not use its memory after a step of another worker', async () => {
    const test = sharedHost()
    const { log, threadId, end } = test.run('where', {})
    await end
    // The thread under another name: what its worker remembers is behind the log now.
    await test.run('where', {}, { log, threadId: 'of another worker' }).end
    await test.run('where', {}, { log, threadId }).end
    expect(log.values().log as unknown[]).toHaveLength(3)
    expect(log.reads).toBe(2)
  })
})

describe('an abort', () => {
  it('ends what an execution asks of items', async () => {
    const test = sharedHost()
    const asked = useDamagedItems(test)
    const held = gate()
    const { id } = test.run('late', { url: held.url })
    await held.arrived()
    test.host.abort(id)
    held.open()
    const run = test.run('remember', {})
    expect(await run.end).toEqual(success)
    expect(logged(run)).toEqual(remembered)
    expect(asked).toEqual(askedToRemember)
  })

  it('ends an execution that waits for the log', async () => {
    const test = sharedHost()
    const log = new ModelLog()
    await test.run('where', {}, { log, threadId: 't' }).end
    const asked = Promise.withResolvers<void>()
    const slow = Object.assign(Object.create(log) as ModelLog, { tuple: () => {
      asked.resolve()
      return new Promise<never>(() => {})
    } })
    const run = test.run('where', {}, { log: slow })
    await asked.promise
    test.host.abort(run.id)
    expect(await test.run('where', {}).end).toEqual(success)
    expect(run.emitted).toEqual([])
  })
})

describe('user code', () => {
  it('that ends its worker loses its run or is asked again, by workers that come later each time',
    async () => {
      const deaths = new Int32Array(new SharedArrayBuffer(4))
      setEnvironmentData('deaths', deaths)
      const test = await TestHost.start(1, await hostProject(`
        import { getEnvironmentData } from 'node:worker_threads'
        export const mortal = (config, { accessContext }) => {
          const isFirst = () => Atomics.add(getEnvironmentData('deaths'), 0, 1) === 0
          if (accessContext === 'threads.read' && isFirst()) process.exit(1)
          return where
        }`))
      const { log, end } = test.run('where', {}, { threadId: 't' })
      await end
      const answers = await test.host.ask('mortal', 't', question, log)
      expect(answers).toMatchObject([{ valuesOf: log.headId }])
      expect(deaths[0]).toBe(2)
      expect(await test.run('exit', {}).end).toBe('crashed')
      const run = test.run('where', {})
      expect(test.env.timers()).toBeGreaterThan(1)
      test.env.advance(100)
      expect(await run.end).toEqual(success)
    })

  it('that leaves a rejected promise unhandled does not end its worker', async () => {
    const test = sharedHost()
    const first = test.run('where', {})
    await first.end
    expect(await test.run('reject', {}).end).toEqual(success)
    const last = test.run('where', {})
    await last.end
    expect(logged(last)).toBe(logged(first))
  })

  it('prints into the log, under the name of its worker', async () => {
    const test = sharedHost()
    await test.run('print', {}).end
    await expect.poll(() => test.env.lines).toContainEqual({ level: 'info',
      message: 'printed by a graph', details: { name: 'graph-1' } })
  })

  it.runIf(isNight)('reaches its own server once that answers clients, from any worker',
    async () => {
      const server = createServer(({ url }, response) => void response.end(url))
      await new Promise<void>((listening) => {
        server.listen(0, '127.0.0.1', listening)
      })
      onTestFinished(() => void server.close())
      const test = await TestHost.start(1)
      const early = test.run('ask', {})
      test.host.servedAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
      await early.end
      expect(logged(early)).toBe('/a?b')
      await test.run('exit', {}).end
      const late = test.run('ask', {})
      await late.end
      expect(logged(late)).toBe('/a?b')
    })

  it.runIf(isNight)('gets an error if its own server answers no clients', async () => {
    const test = await TestHost.start(1)
    test.host.servedAt(undefined)
    const run = test.run('ask', {})
    await run.end
    expect(logged(run)).toContain('This server answers no clients')
  })

  it('sees variables of the project, but those of the process win, and no secrets', async () => {
    const run = sharedHost().run('env', {})
    await run.end
    expect(logged(run)).toBe(['project', 'process', ...secrets.map(() => '')].join())
  })
})

describe('a question', () => {
  it('about a state is answered from the log', async () => {
    const test = sharedHost()
    const { log, threadId, end } = test.run('where', {})
    await end
    const answers = await test.host.ask('where', threadId, question, log)
    expect(answers).toMatchObject([{ valuesOf: log.headId }])
  })

  it('about a graph is answered', async () => {
    const test = sharedHost()
    expect(test.host.describe('where')).toMatchObject({ plain: true, nodes: ['node'] })
    expect(await test.host.schemas('where')).toMatchObject({ state_schema: {} })
    expect(await test.host.drawable('where', true)).toMatchObject({ nodes: [{}, {}, {}] })
    expect(await test.host.subgraphSchemas('where', null, true)).toEqual({})
    await expect(test.host.schemas('nothing')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('is answered if a schema holds what cannot be cloned', async () => {
    const test = sharedHost()
    expect(await test.host.schemas('odd'))
      .toMatchObject({ state_schema: { properties: { made: { default: {} } } } })
  })

  it.runIf(isNight)('is put to another worker if the first does not answer soon', async () => {
    const test = await TestHost.start(2)
    const { log, threadId, end } = test.run('where', {})
    await end
    const spun = gate()
    const spinner = test.run('spin', { url: spun.url })
    await spun.arrived()
    const held = gate()
    const busy = test.run('hold', { url: held.url })
    await held.arrived()
    spun.open()
    // Both have one execution, so the first one is asked.
    const answers = test.host.ask('where', threadId, question, log)
    test.env.advance(250)
    expect(await answers).toMatchObject([{ valuesOf: log.headId }])
    test.host.abort(spinner.id)
    held.open()
    await busy.end
  })
})

describe('a worker that spins', () => {
  it('gets the waiting executions as soon as it answers again', async () => {
    const test = sharedHost()
    test.stall(1500)
    expect(await test.run('where', {}).end).toEqual(success)
  })

  it('gets no new work while it is silent, and loses all its executions after 5 s', async () => {
    const test = await TestHost.start(1)
    const held = gate()
    const neighbour = test.run('hold', { url: held.url })
    await held.arrived()
    const spun = gate()
    const spinner = test.run('spin', { url: spun.url })
    await spun.arrived()
    await test.received()
    await letSpin(spun)
    test.stall(1500)
    const aborted = test.run('where', {})
    test.host.abort(aborted.id)
    const late = test.run('where', {})
    test.stall(3500)
    expect(await test.until(neighbour.end)).toBe('displaced')
    expect(await test.until(spinner.end)).toBe('displaced')
    expect(await test.until(late.end)).toEqual(success)
    expect(aborted.emitted).toEqual([])
  })

  it.runIf(isNight)('has its spinner moved to a worker of its own, which is then left alone',
    async () => {
      const test = await TestHost.start(1)
      const held = gate()
      const neighbour = test.run('hold', { url: held.url })
      await held.arrived()
      const spun = gate()
      const options = { threadId: 's', runId: 's' }
      const spinner = test.run('spin', { url: spun.url }, options)
      await spun.arrived()
      spun.open()
      test.stall(5000)
      expect([await test.until(spinner.end), await test.until(neighbour.end)]).toEqual(['displaced',
        'displaced'])
      const second = gate()
      const alone = test.run('spin', { url: second.url }, options)
      await second.arrived()
      second.open()
      expect(await test.until(test.run('where', {}).end)).toEqual(success)
      await test.pass(restMs)
      expect(alone.emitted.every(({ kind }) => kind === 'steps')).toBe(true)
      expect(await test.run('where', {}).end).toEqual(success)
      test.host.abort(alone.id)
      held.open()
    })

  it.runIf(isNight)('does not keep a question from being answered elsewhere', async () => {
    const test = await TestHost.start(1)
    const spun = gate()
    test.run('spin', { url: spun.url })
    await spun.arrived()
    await test.received()
    spun.open()
    const asking = test.host.schemas('where')
    test.stall(5000)
    expect(await test.until(asking)).toMatchObject({ state_schema: {} })
  })

  it.runIf(isNight)('is ended when its only execution is aborted, and another one takes its place',
    async () => {
      const test = await TestHost.start(1)
      const spun = gate()
      const spinner = test.run('spin', { url: spun.url })
      await spun.arrived()
      await test.received()
      await letSpin(spun)
      test.stall(1500)
      test.host.abort(spinner.id)
      expect(await test.until(test.run('where', {}).end)).toEqual(success)
      expect(spinner.emitted.every(({ kind }) => kind === 'steps')).toBe(true)
    })

  it.runIf(isNight)('because of an aborted execution gives back the other one that it has',
    async () => {
      const test = await TestHost.start(1)
      const held = gate()
      const innocent = test.run('hold', { url: held.url })
      await held.arrived()
      const spun = gate()
      const culprit = test.run('spin', { url: spun.url })
      await spun.arrived()
      test.host.abort(culprit.id)
      await test.received()
      spun.open()
      test.stall(5000)
      expect(await test.until(innocent.end)).toBe('displaced')
      held.open()
    })
})

describe('a host', () => {
  it('pauses one run at its next step, and no other', async () => {
    const test = sharedHost()
    const held = gate()
    const [run, other] = [test.run('line', { url: held.url }), test.run('line', { url: held.url })]
    await held.arrived()
    test.host.pause(run.id)
    await test.host.drawable('where', false)
    held.open()
    expect(await run.end).toMatchObject({ status: 'drained' })
    expect(await other.end).toEqual(success)
    expect([run.log.values().log, other.log.values().log]).toEqual([['a'], ['a', 'b']])
    test.host.pause(run.id)
  })

  // The last one: nothing is executed after it.
  it('that drains waits until a deadline for runs to stop, and starts no new ones', async () => {
    const test = sharedHost()
    const held = gate()
    const run = test.run('line', { url: held.url })
    await held.arrived()
    const deadline = new AbortController()
    const drained = test.host.drain(deadline.signal)
    expect(await test.run('where', {}).end).toMatchObject({ status: 'drained' })
    deadline.abort()
    await drained
    expect(run.emitted.map(({ kind }) => kind)).not.toContain('ended')
    await test.host.drawable('where', false)
    held.open()
    expect(await run.end).toMatchObject({ status: 'drained' })
    expect(run.log.values().log).toEqual(['a'])
  })
})
