/** Effects of runs that were rolled back, when their task runs again. */

import { Annotation, interrupt, START, StateGraph } from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'

import { effectRulesOf } from '../../../../src/graph/effect-rule.ts'
import { EngineHost } from '../../../support/engine-host.ts'
import { EngineThread, useTasks } from '../../../support/engine-thread.ts'
import { effect } from '../../../support/node-effects.ts'
import { settled } from '../../../support/thread-house.ts'

useTasks()

const State = Annotation.Root({
  out: Annotation<unknown[]>({ reducer: (kept, more) => kept.concat(more), default: () => [] }),
})
const rules = effectRulesOf([{ name: 'charge', once: 'key' }, { name: 'mail', once: 'ask' }, {
  name: 'model',
  keep: 'answer',
}])

interface Sent {
  readonly order: string
  readonly key: string
}

/**
 * A thread that asks for an order. The run with the first answer charges and mails, and is rolled
 * back. `cutAt`: the effect in which it is cut off, before the effect has a result.
 */
async function rolledBack({ cutAt, isNested = false }: {
  readonly cutAt?: 'charge' | 'mail'
  readonly isNested?: boolean
} = {}) {
  const sent: Record<'charge' | 'mail' | 'model', Sent[]> = { charge: [], mail: [], model: [] }
  const reached = Promise.withResolvers<void>()
  let hangs = true
  const hang = () => {
    reached.resolve()
    return new Promise<never>(() => {})
  }
  const does = (name: keyof typeof sent, order: string) =>
    effect(name, { order }, ({ key }) => {
      sent[name].push({ order, key })
      return hangs && name === cutAt ? hang() : `${name} ${order}`
    })
  const asks = new StateGraph(State).addNode('asks', async () => {
    const order = interrupt<string, string>('Which order?')
    const out = [await does('model', order), await does('charge', order), await does('mail', order)]
    if (hangs) await hang()
    return { out }
  }).addEdge(START, 'asks').compile()
  const graph = isNested
    ? new StateGraph(State).addNode('team', asks).addEdge(START, 'team').compile()
    : asks
  const host = new EngineHost(graph, { rules })
  const thread = new EngineThread(() => host)
  await thread.run({ input: { out: [] } })
  const run = await thread.start({ command: { resume: 'order 7' } })
  await reached.promise
  // What the worker has written so far is on its way to the log.
  await settled()
  await thread.chain.client.cancelRun('t', 'x', run, { action: 'rollback' })
  hangs = false
  return { thread, sent }
}

const orders = (sent: readonly Sent[]) => sent.map(({ order }) => order)

describe.each([false, true])('after a rollback (in a subgraph: %s)', (isNested) => {
  it('the same input has the receipts of the run that was rolled back', async () => {
    const { thread, sent } = await rolledBack({ isNested })
    expect((await thread.answer('order 7')).asks).toEqual([])
    expect(await thread.values()).toEqual({
      out: ['model order 7', 'charge order 7', 'mail order 7'],
    })
    expect([orders(sent.charge), orders(sent.mail)]).toEqual([['order 7'], ['order 7']])
  })

  it('another input waits for a decision, and has another key', async () => {
    const { thread, sent } = await rolledBack({ isNested })
    expect((await thread.answer('order 8')).asks).toMatchObject([{ effect: 'charge',
      input: { order: 'order 8' },
      message: expect.stringContaining('by a run that was rolled back') as string }])
    expect(orders(sent.charge)).toEqual(['order 7'])
    expect((await thread.answer('do')).asks).toMatchObject([{ effect: 'mail',
      input: { order: 'order 8' } }])
    expect(orders(sent.charge)).toEqual(['order 7', 'order 8'])
    expect(new Set(sent.charge.map(({ key }) => key)).size).toBe(2)
    expect((await thread.answer({ decision: 'done', result: 'no mail' })).asks).toEqual([])
    expect(await thread.values()).toEqual({ out: ['model order 8', 'charge order 8', 'no mail'] })
    expect(orders(sent.mail)).toEqual(['order 7'])
  })
})

describe('after a rollback', () => {
  it('the same key is used for a charge whose outcome is unknown', async () => {
    const { thread, sent } = await rolledBack({ cutAt: 'charge' })
    expect((await thread.answer('order 7')).asks).toEqual([])
    expect(orders(sent.charge)).toEqual(['order 7', 'order 7'])
    expect(new Set(sent.charge.map(({ key }) => key)).size).toBe(1)
  })

  it('a person decides about a mail whose outcome is unknown', async () => {
    const { thread, sent } = await rolledBack({ cutAt: 'mail' })
    expect((await thread.answer('order 7')).asks).toMatchObject([{ effect: 'mail' }])
    expect(orders(sent.mail)).toEqual(['order 7'])
  })

  it('a decision that fails the step stays for this input', async () => {
    const { thread, sent } = await rolledBack()
    await thread.answer('order 8')
    expect((await thread.answer('fail')).status).toBe('error')
    expect((await thread.run({ input: null })).status).toBe('error')
    expect(orders(sent.charge)).toEqual(['order 7'])
  })

  it('a result that is only kept is removed', async () => {
    const { thread, sent } = await rolledBack()
    await thread.answer('order 7')
    expect(orders(sent.model)).toEqual(['order 7', 'order 7'])
  })

  it('a new run with an input has new effects', async () => {
    const { thread, sent } = await rolledBack()
    await thread.run({ input: { out: [] } })
    expect((await thread.answer('order 8')).asks).toEqual([])
    expect(orders(sent.mail)).toEqual(['order 7', 'order 8'])
  })
})
