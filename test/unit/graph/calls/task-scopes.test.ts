/** The task that a call is made by, in the project's engine. */

import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons'
import { Annotation, entrypoint, Send, StateGraph, task } from '@langchain/langgraph'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import type { CallGate } from '../../../../src/graph/calls/call-gate.ts'
import { callingFreely, callingThrough, callScope } from '../../../../src/graph/calls/call-scope.ts'
import { followTasks } from '../../../../src/graph/calls/task-scopes.ts'
import type { TaskSite } from '../../../../src/graph/calls/task-site.ts'

const gate: CallGate = { decide: () => ({ kind: 'pass' }) }
const State = Annotation.Root({ n: Annotation<number>({ reducer: (a, b) => a + b }) })
let undo = () => {}
let sites: (TaskSite | undefined)[] = []

/** A node that notes the site that a call of it would have. */
async function noting(): Promise<{ n: number }> {
  sites.push(callScope()?.site)
  await new Promise(setImmediate)
  sites.push(callScope()?.site)
  return { n: 1 }
}

async function sitesOf(invoke: () => Promise<unknown>): Promise<(TaskSite | undefined)[]> {
  sites = []
  await callingThrough(gate, invoke)
  return sites
}

beforeAll(() => {
  undo = followTasks(AsyncLocalStorageProviderSingleton)
})
afterAll(() => undo())

describe('the site of a call', () => {
  it('is that of its task, for all calls the same object', async () => {
    const graph = new StateGraph(State).addNode('ask', noting).addNode('tell', noting)
      .addEdge('__start__', 'ask').addEdge('ask', 'tell').compile()
    const found = await sitesOf(() => graph.invoke({ n: 0 }))
    expect(found.map((site) => [site?.step, site?.nodes, site?.checkpointNs, site?.attempt]))
      .toEqual([[1, ['ask'], '', 1], [1, ['ask'], '', 1], [2, ['tell'], '', 1], [2, ['tell'], '',
        1]])
    expect(found[0]).toBe(found[1])
    expect(found[0]?.path).toEqual(['__pregel_pull', 'ask'])
    expect(found[0]?.checkpointId).toMatch(/^[0-9a-f-]{36}$/)
    expect(found[2]?.checkpointId).not.toBe(found[0]?.checkpointId)
  })

  it('has the nodes around it, and the checkpoint of its own graph', async () => {
    const inner = new StateGraph(State).addNode('ask', noting).addEdge('__start__', 'ask').compile()
    const graph = new StateGraph(State).addNode('team', inner).addEdge('__start__', 'team')
      .compile()
    const [site] = await sitesOf(() => graph.invoke({ n: 0 }))
    expect(site?.nodes).toEqual(['team', 'ask'])
    expect(site?.checkpointNs).toMatch(/^team:[0-9a-f-]{36}$/)
    expect(site?.checkpointId).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('has the checkpoint of its graph in tasks that tasks have called, and in subgraphs there',
    async () => {
      const inner = new StateGraph(State).addNode('ask', noting).addEdge('__start__', 'ask')
        .compile()
      const note = task('note', noting)
      const outer = task('outer', async () => {
        await note()
        await inner.invoke({ n: 0 })
        await inner.invoke({ n: 0 })
      })
      const errand = entrypoint('errand', async () => {
        await noting()
        await outer()
      })
      const graph = new StateGraph(State).addNode('team', () => errand.invoke(0).then(() => ({})))
        .addEdge('__start__', 'team').compile()
      for (const [top, around] of [[errand, []], [graph, ['team']]] as const) {
        const found = await sitesOf(() => top.invoke({ n: 0 }))
        expect(found.map((site) => site?.nodes).filter((_, at) => at % 2 === 0)).toEqual([
          [...around, 'errand'],
          [...around, 'errand', 'outer', 'note'],
          [...around, 'errand', 'outer', 'ask'],
          [...around, 'errand', 'outer', 'ask'],
        ])
        const [errandSite, , noteSite, , asked, , again] = found
        expect(noteSite?.checkpointNs.split(':')[0]).toBe(around[0] ?? '')
        expect(noteSite?.checkpointNs).toBe(errandSite?.checkpointNs)
        expect(noteSite?.checkpointId).toBe(errandSite?.checkpointId)
        expect(noteSite?.taskId).not.toBe(errandSite?.taskId)
        expect(asked?.checkpointId).toMatch(/^[0-9a-f-]{36}$/)
        expect(asked?.checkpointId).not.toBe(errandSite?.checkpointId)
        expect(again?.checkpointId).not.toBe(asked?.checkpointId)
      }
    })

  it('tells tasks of one node apart', async () => {
    const graph = new StateGraph(State).addNode('ask', noting)
      .addConditionalEdges('__start__', () => [new Send('ask', {}), new Send('ask', {})]).compile()
    const found = await sitesOf(() => graph.invoke({ n: 0 }))
    expect(new Set(found.map((site) => site?.taskId)).size).toBe(2)
    expect(new Set(found.map((site) => JSON.stringify(site?.path))).size).toBe(2)
  })

  it('counts the attempts of a retry policy', async () => {
    let calls = 0
    const graph = new StateGraph(State).addNode('ask', async () => {
      await noting()
      if (++calls < 3) throw new Error('again')
      return { n: 1 }
    }, { retryPolicy: { initialInterval: 1, jitter: false, logWarning: false } })
      .addEdge('__start__', 'ask').compile()
    const found = await sitesOf(() => graph.invoke({ n: 0 }))
    expect(found.map((site) => site?.attempt)).toEqual([1, 1, 2, 2, 3, 3])
    expect(new Set(found.map((site) => site?.taskId)).size).toBe(1)
  })

  it('is not there outside of a job, and in work that is nobody’s', async () => {
    const graph = new StateGraph(State).addNode('ask', noting).addEdge('__start__', 'ask').compile()
    sites = []
    await graph.invoke({ n: 0 })
    expect(sites).toEqual([undefined, undefined])
    expect(await sitesOf(() => callingFreely(() => graph.invoke({ n: 0 }))))
      .toEqual([undefined, undefined])
  })
})
