/** What a graph host does, it does in threads of the server and in a process of its own. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'

import type { StepBatch } from '../../../../src/graph/execution.ts'
import { compileProject, readProject, startGraphHost,
  startGraphProcess } from '../../../../src/graph/index.ts'
import type { GraphProcess } from '../../../../src/graph/index.ts'
import type { ItemOperation, ItemResult } from '../../../../src/items/index.ts'
import { virtualEnv } from '../../../support/env.ts'
import { useGates } from '../../../support/gate.ts'
import { ModelLog } from '../../../support/model-log.ts'
import { hostFolder, logged, TestHost } from '../project/host-project.ts'
import { processOf } from './process-host.ts'

const gate = useGates()
const success = { status: 'success', waiting: false, interrupts: '{}', error: null }
const question = { kind: 'state', configurable: {}, ns: '', checkpointId: null,
  subgraphs: false } as const

const extra = `
export const broken = 5
export const inner = new StateGraph(State).addNode('sub', where).addEdge(START, 'sub').compile()
export const remember = one(async (_, { store }) => {
  await store.put(['a'], 'k', { n: 1 })
  return (await store.get(['a'], 'k')).value.n
})
export const two = new StateGraph(State)
  .addNode('first', async ({ url }) => { await fetch(url); return {} })
  .addNode('second', () => ({ log: ['second'] }))
  .addEdge(START, 'first').addEdge('first', 'second').addEdge('second', END).compile()
export const says = one(async ({ url }) => {
  console.log('said in a run')
  await fetch(url)
  return 'said'
})
export const slow = async (config, { accessContext }) => {
  if (accessContext === 'threads.read') await fetch(config.configurable.url)
  return where
}
`

const starts = {
  threads: async (folder: string) => {
    const env = virtualEnv()
    const project = await compileProject(await readProject(folder))
    return new TestHost<GraphProcess>(env, Object.assign(
      await startGraphHost({ env, workers: 1, project, tracedRatio: 1 }),
      { pid: process.pid, memoryBytes: () => 0 },
    ))
  },
  process: async (folder: string) => {
    const options = processOf(folder, { tracedRatio: 1 })
    return new TestHost(options.env, await startGraphProcess(options))
  },
}

describe.each(Object.keys(starts) as (keyof typeof starts)[])('a host in %s', (kind) => {
  let test: TestHost<GraphProcess>
  const removals: (() => Promise<void>)[] = []

  beforeAll(async () => {
    test = await starts[kind](await hostFolder(extra, {}, (remove) => removals.push(remove)))
  })
  afterAll(async () => {
    await test?.host.close()
    for (const remove of removals) await remove()
  })

  it('knows its graphs, also one that cannot be loaded', async () => {
    const { host } = test
    expect(host.describe('where')).toMatchObject({ plain: true, nodes: ['node'] })
    expect(host.describe('broken')).toMatchObject({ failed: true })
    expect(host.describe('nothing')).toBeUndefined()
    expect(host.graphs()).toBe(host.graphs())
    expect(await test.run('broken', {}).end).toMatchObject({ status: 'error',
      error: { error: 'TypeError', message: expect.stringContaining('broken') as string } })
  })

  it('sends steps and events first, then the outcome, and nothing after that', async () => {
    const run = test.run('where', {})
    expect(await run.end).toEqual(success)
    expect(run.emitted.map(({ kind }) => kind)).toEqual(['steps', 'ended'])
    expect(run.events.map(({ name }) => name)).toEqual(['updates'])
    expect(run.log.checkpoints).toHaveLength(3)
  })

  it('says what a graph threw', async () => {
    expect(await test.run('throws', {}).end)
      .toMatchObject({ status: 'error', error: { error: 'RangeError', message: 'out' } })
  })

  it('remembers a thread, and reads it from the log where it has none', async () => {
    const { log, threadId, end } = test.run('where', {})
    await end
    await test.run('where', {}, { log, threadId }).end
    expect(log.reads).toBe(0)
    await test.run('where', {}, { log, threadId: 'another' }).end
    expect(log.reads).toBeGreaterThan(0)
    expect(log.values().log).toHaveLength(3)
  })

  it('forgets what could not be stored', async () => {
    const { log, threadId, end } = test.run('askTwice', {})
    await end
    const lost = test.run('askTwice', null, { log, threadId, command: '{"resume":"a"}',
      steps: () => Promise.reject(new Error('no room')) })
    await lost.end
    await new Promise(setImmediate)
    const answer = (resume: string) =>
      test.run('askTwice', null, { log, threadId, command: JSON.stringify({ resume }) })
    expect(await answer('b').end).toMatchObject({ waiting: true })
    expect(await answer('c').end).toEqual(success)
    expect(log.values().log).toEqual(['b,c'])
  })

  it('with durability sync waits until each step is in the log', async () => {
    const batches: StepBatch[] = []
    const stored = Promise.withResolvers<void>()
    const seen = Promise.withResolvers<void>()
    const run = test.run('where', {}, { durability: 'sync', steps: (batch) => {
      batches.push(batch)
      seen.resolve()
      return batches.length === 1 ? stored.promise : Promise.resolve()
    } })
    await seen.promise
    await test.host.drawable('where', false)
    expect(batches).toHaveLength(1)
    stored.resolve()
    expect(await run.end).toEqual(success)
    expect(batches.length).toBeGreaterThan(2)
  })

  it('gives an execution up if its steps cannot be stored', async () => {
    const held = gate()
    const refused = Promise.withResolvers<void>()
    const run = test.run('hold', { url: held.url }, { steps: () => {
      queueMicrotask(refused.resolve)
      return Promise.reject(new Error('no room'))
    } })
    await refused.promise
    await held.arrived()
    held.open()
    await test.run('where', {}).end
    expect(run.emitted.map(({ kind }) => kind)).toEqual(['steps'])
  })

  it('loses an execution whose log cannot be read', async () => {
    const log = new ModelLog()
    await test.run('where', {}, { log, threadId: 't' }).end
    const broken = Object.assign(Object.create(log) as ModelLog, {
      tuple: () => Promise.reject(new Error('the disk is gone')),
    })
    expect(await test.run('where', {}, { log: broken }).end).toBe('crashed')
  })

  it('silences what is aborted', async () => {
    const held = gate()
    const run = test.run('hold', { url: held.url })
    await held.arrived()
    const received = run.emitted.length
    test.host.abort(run.id)
    held.open()
    await test.run('where', {}).end
    expect(run.emitted).toHaveLength(received)
  })

  it('reports the completed steps of a run that is stopped', async () => {
    const held = gate()
    const begun = test.run('two', { url: held.url })
    await held.arrived()
    test.host.stop(begun.id)
    expect(await begun.end).toMatchObject({ status: 'aborted' })
    const early = test.run('two', { url: held.url })
    test.host.stop(early.id)
    expect(await early.end).toMatchObject({ status: 'drained' })
    for (const { log } of [begun, early]) expect(log.checkpoints).toHaveLength(2)
    held.open()
  })

  it.each([undefined, 'messages'] as const)('pauses at the next superstep: %s', async (why) => {
    const held = gate()
    const run = test.run('two', { url: held.url })
    await held.arrived()
    test.host.pause(run.id, why)
    await test.host.drawable('where', false)
    held.open()
    expect(await run.end).toMatchObject({ status: 'drained' })
  })

  it('answers questions about states and graphs', async () => {
    const { log, threadId, end } = test.run('where', {})
    await end
    const { host } = test
    expect(await host.ask('where', threadId, question, log)).toMatchObject([
      { valuesOf: log.headId },
    ])
    expect(await host.schemas('where')).toMatchObject({ state_schema: {} })
    expect(await host.drawable('where', true)).toMatchObject({ nodes: [{}, {}, {}] })
    expect(Object.keys(await host.subgraphSchemas('inner', null, true))).toEqual(['sub'])
    await expect(host.schemas('nothing')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('gives up a question that nobody waits for', async () => {
    const { log, threadId, end } = test.run('where', {})
    await end
    const held = gate()
    const gone = new AbortController()
    const asked = test.host.ask('slow', threadId, { ...question, configurable: { url: held.url } },
      log, gone.signal)
    await held.arrived()
    gone.abort(new Error('nobody waits'))
    await expect(asked).rejects.toThrow('nobody waits')
    held.open()
    await expect(test.host.ask('where', threadId, question, log, gone.signal))
      .rejects.toThrow('nobody waits')
  })

  it('keeps the lines of a run before it ends', async () => {
    const held = gate()
    const run = test.run('says', { url: held.url }, { runId: 'speaker' })
    await held.arrived()
    const lines = () =>
      test.host.logs({ tenant: 'local', threadId: run.threadId, runId: 'speaker' }, { limit: 9 })
    await expect.poll(lines).toMatchObject({ lines: [{ text: 'said in a run', attempt: 1 }] })
    held.open()
    await run.end
  })

  it('has items of the tenant', async () => {
    const asked: (readonly [tenant: string, kind: string])[] = []
    const item = { namespace: ['a'], key: 'k', valueJson: '{"n":7}', createdAtMs: 1,
      updatedAtMs: 2 }
    const answer = ({ kind }: ItemOperation): ItemResult =>
      kind === 'get' ? { kind, item } : { kind: 'done' }
    test.host.useItems({ batch: async (tenant, operations) => {
      for (const { kind } of operations) asked.push([tenant, kind])
      return operations.map(answer)
    } })
    const run = test.run('remember', {})
    expect(await run.end).toEqual(success)
    expect(logged(run)).toBe(7)
    expect(asked).toEqual([['local', 'put'], ['local', 'get']])
  })

  it('tells graphs where the server answers', async () => {
    const server = createServer(({ url }, response) => void response.end(url))
    await new Promise<void>((listening) => {
      server.listen(0, '127.0.0.1', listening)
    })
    onTestFinished(() => void server.close())
    test.host.servedAt(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const run = test.run('ask', {})
    await run.end
    expect(logged(run)).toBe('/a?b')
  })

  // The last one: nothing is executed after it.
  it('writes traces, and drains', async () => {
    const tenants: string[] = []
    test.host.useTraces(async ({ tenant }) => void tenants.push(tenant))
    const runId = '00000000-0000-4000-8000-000000000001'
    expect(test.host.tracesSteps(runId)).toBe(true)
    await test.run('where', {}, { runId }).end
    const held = gate()
    const run = test.run('two', { url: held.url })
    await held.arrived()
    const draining = test.host.drain(AbortSignal.timeout(60_000))
    await test.host.drawable('where', false)
    held.open()
    expect(await run.end).toMatchObject({ status: 'drained' })
    await draining
    expect(tenants).toContain('local')
    expect(await test.run('where', {}).end).toMatchObject({ status: 'drained' })
  })
})
