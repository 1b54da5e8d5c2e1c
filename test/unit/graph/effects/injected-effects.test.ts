/** Messages for a run whose node has done effects, or whose subgraph has done steps. */

import { AIMessage } from '@langchain/core/messages'
import { interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { expect, it } from 'vitest'

import { effectRulesOf } from '../../../../src/graph/effect-rule.ts'
import { EngineHost } from '../../../support/engine-host.ts'
import { EngineThread, useTasks } from '../../../support/engine-thread.ts'
import { GraphBench } from '../../../support/graph-bench.ts'
import { effect } from '../../../support/node-effects.ts'
import { aRun } from '../../../support/thread-house.ts'

useTasks()

const rules = effectRulesOf([{ name: 'charge', once: 'key' }, { name: 'mail', once: 'ask' }])
const input = { messages: [{ role: 'user', content: 'go', id: 'm0' }] }
const message = { input: { messages: [{ role: 'user', content: 'by the way', id: 'm1' }] } }

type Node = () => Promise<object>

/** A thread whose graph has these nodes in a row. */
function threadOf(...nodes: readonly Node[]) {
  const graph = chain(nodes)
  let host = new EngineHost(graph, { rules })
  const thread = new EngineThread(() => host)
  return {
    thread,
    inject: () => thread.start(message, { plan: { ...aRun('').plan, injects: true } }),
    kill: () => {
      host.kill()
      host = new EngineHost(graph, { rules })
      thread.chain.kill()
    },
    ids: async () =>
      ((await thread.values()) as { messages: { id: string }[] }).messages.map(({ id }) => id),
  }
}

function chain(nodes: readonly unknown[]) {
  const graph = new StateGraph(MessagesAnnotation) as StateGraph<never, never, object, string>
  for (const [at, node] of nodes.entries()) {
    graph.addNode(`n${at}`, node as Node).addEdge(at === 0 ? START : `n${at - 1}`, `n${at}`)
  }
  return graph.compile()
}

/** A node that charges, works until `goes` resolves, and asks a person. */
function charging() {
  const keys: string[] = []
  const works = Promise.withResolvers<void>()
  const goes = Promise.withResolvers<void>()
  const node = async () => {
    await effect('charge', {}, ({ key }) => void keys.push(key))
    works.resolve()
    await goes.promise
    const content = interrupt<string, string>('Was it good?')
    return { messages: [new AIMessage({ id: 'a', content })] }
  }
  return { keys, works, goes, node }
}

it.each(['an effect', 'a step of a subgraph'])('is refused by the graph after %s', async (what) => {
  const { goes, node } = charging()
  goes.resolve()
  const asks = async () => ({ messages: [String(interrupt('Sure?'))] })
  const nodes = what === 'an effect' ? [node] : [chain([async () => ({}), asks])]
  const bench = new GraphBench(chain(nodes))
  bench.effects = rules
  expect((await bench.run({ input })).outcome).toMatchObject({ waiting: true, isMidStep: true })
  const { outcome } = await bench.add(...message.input.messages)
  expect(outcome.error?.message).toContain('not between two supersteps')
})

const last = async () => ({ messages: [new AIMessage({ id: 'last', content: 'done' })] })

it('waits for the resume if the node has done an effect, and is taken after that', async () => {
  const { keys, works, goes, node } = charging()
  const { thread, inject, ids } = threadOf(node, last)
  const run = await thread.start({ input })
  await works.promise
  const injected = await inject()
  goes.resolve()
  expect(await thread.ended(run)).toMatchObject({ status: 'success', asks: ['Was it good?'] })
  const { row: { status } } = await thread.chain.client.get('t', 'x')
  expect([status, (await thread.row(injected))?.status]).toEqual(['interrupted', 'pending'])
  expect((await thread.answer('yes')).asks).toEqual([])
  expect(await ids()).toEqual(['m0', 'a', 'm1', 'last'])
  expect(keys).toHaveLength(1)
})

it('is a run of its own after the resume if no superstep follows', async () => {
  const { keys, works, goes, node } = charging()
  const { thread, inject } = threadOf(node)
  const run = await thread.start({ input })
  await works.promise
  const injected = await inject()
  goes.resolve()
  await thread.ended(run)
  expect((await thread.answer('yes')).status).toBe('success')
  expect(await thread.ended(injected)).toMatchObject({ status: 'success', asks: ['Was it good?'] })
  expect(new Set(keys).size).toBe(2)
})

it('waits for the decision about an effect whose outcome is unknown', async () => {
  let mails = 0
  const sent = Promise.withResolvers<void>()
  const { thread, inject, kill, ids } = threadOf(async () => {
    await effect('mail', {}, () => {
      mails++
      sent.resolve()
      return mails === 1 ? new Promise(() => {}) : 'sent'
    })
    return { messages: [new AIMessage({ id: 'a', content: 'sent' })] }
  }, last)
  const run = await thread.start({ input })
  await sent.promise
  await inject()
  kill()
  expect((await thread.ended(run)).asks).toMatchObject([{ reason: 'effect', effect: 'mail' }])
  expect((await thread.answer('done')).asks).toEqual([])
  expect(await ids()).toEqual(['m0', 'a', 'm1', 'last'])
  expect(mails).toBe(1)
})

it('waits for the resume of a subgraph that has finished a step', async () => {
  const { keys, works, goes, node } = charging()
  let steps = 0
  const inner = chain([async () => {
    steps++
    return {}
  }, node])
  const { thread, inject, ids } = threadOf(inner as unknown as Node, last)
  const run = await thread.start({ input })
  await works.promise
  await inject()
  goes.resolve()
  expect((await thread.ended(run)).asks).toEqual(['Was it good?'])
  expect((await thread.answer('yes')).asks).toEqual([])
  expect(await ids()).toEqual(['m0', 'a', 'm1', 'last'])
  expect([steps, keys.length]).toEqual([1, 1])
})

it('waits for the second resume of a node', async () => {
  const asks = Promise.withResolvers<void>()
  const goes = Promise.withResolvers<void>()
  const { thread, inject, ids } = threadOf(async () => {
    const first = interrupt<string, string>('first?')
    asks.resolve()
    await goes.promise
    return { messages: [new AIMessage({ id: 'a', content: first + interrupt('second?') })] }
  }, last)
  await thread.run({ input })
  const run = await thread.start({ command: { resume: 'x' } })
  await asks.promise
  await inject()
  goes.resolve()
  expect((await thread.ended(run)).asks).toEqual(['second?'])
  expect((await thread.answer('y')).asks).toEqual([])
  expect(await ids()).toEqual(['m0', 'a', 'm1', 'last'])
})
