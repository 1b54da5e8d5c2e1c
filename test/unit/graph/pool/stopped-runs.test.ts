/** Executions that are stopped: they send what they completed, and at least their input. */

import { describe, expect, it } from 'vitest'

import { useGates } from '../../../support/gate.ts'
import { letSpin, TestHost, useSharedHost } from '../project/host-project.ts'

/** Graphs that wait in a node, and one whose first superstep is code of the project. */
const extra = `
export const line = new StateGraph(State)
  .addNode('a', () => ({ log: ['a'] }))
  .addNode('b', async ({ url }) => { await fetch(url); return { log: ['b'] } })
  .addEdge(START, 'a').addEdge('a', 'b').addEdge('b', END).compile()
export const cancelled = one(({ url }, { signal }) => new Promise((_, reject) => {
  signal.addEventListener('abort', () => reject(new Error('it was cancelled')))
  void fetch(url)
}))
export const routed = new StateGraph(State)
  .addNode('a', () => ({ log: ['a'] }))
  .addConditionalEdges(START, async ({ url }) => { await fetch(url); return 'a' }, ['a'])
  .addEdge('a', END).compile()`

const gate = useGates()
const sharedHost = useSharedHost(extra)
const aborted = { status: 'aborted' }

describe('a stop', () => {
  it.each([
    { durability: 'async', checkpoints: 3 },
    { durability: 'sync', checkpoints: 3 },
    { durability: 'exit', checkpoints: 1 },
  ] as const)('keeps the input and the completed superstep, with durability $durability',
    async ({ durability, checkpoints }) => {
      const test = sharedHost()
      const held = gate()
      const run = test.run('line', { url: held.url }, { durability })
      await held.arrived()
      test.host.stop(run.id)
      expect(await run.end).toMatchObject(aborted)
      const { log } = run
      expect(log.checkpoints).toHaveLength(checkpoints)
      const newest = await log.tuple('', null)
      expect(JSON.stringify(newest?.channels)).toContain('\\"a\\"')
    })

  it('stores no error of a task that the cancel ends', async () => {
    const test = sharedHost()
    const held = gate()
    const run = test.run('cancelled', { url: held.url })
    await held.arrived()
    test.host.stop(run.id)
    expect(await run.end).toMatchObject(aborted)
    await test.received()
    expect(JSON.stringify(run.emitted)).not.toContain('__error__')
  })

  it('keeps the input of an execution that has not started, and executes no node', async () => {
    const test = sharedHost()
    const held = gate()
    const runs = Array.from({ length: 20 }, () => test.run('hold', { url: held.url }))
    for (const { id } of runs) test.host.stop(id)
    for (const { end, log } of runs) {
      expect(await end).toMatchObject({ status: 'drained' })
      expect(log.checkpoints).toHaveLength(2)
    }
    expect(held.count()).toBe(0)
  })

  it('does not wait for a condition at the start of a graph', async () => {
    const test = sharedHost()
    const held = gate()
    const begun = test.run('routed', { url: held.url })
    await held.arrived()
    test.host.stop(begun.id)
    const early = test.run('routed', { url: held.url })
    test.host.stop(early.id)
    expect(await begun.end).toMatchObject(aborted)
    expect(await early.end).toMatchObject({ status: 'drained' })
    for (const { log } of [begun, early]) expect(log.checkpoints).toHaveLength(1)
    expect(held.count()).toBe(1)
  })

  it('reports the end at once if the worker is silent', async () => {
    const test = await TestHost.start(1)
    const held = gate()
    const spinner = test.run('spin', { url: held.url })
    await held.arrived()
    await test.received()
    await letSpin(held)
    test.stall(1_500)
    test.host.stop(spinner.id)
    expect(await spinner.end).toMatchObject(aborted)
    expect(spinner.log.checkpoints).toHaveLength(2)
  })
})
