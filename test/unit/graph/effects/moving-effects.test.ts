/** Answers and effects of a thread that is executed by several workers in turns. */

import { Annotation, interrupt, START, StateGraph } from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'

import { effectRulesOf } from '../../../../src/graph/effect-rule.ts'
import { EngineHost } from '../../../support/engine-host.ts'
import { EngineThread, PointedHost, useTasks } from '../../../support/engine-thread.ts'
import { effect } from '../../../support/node-effects.ts'

useTasks()

const State = Annotation.Root({
  out: Annotation<unknown[]>({ reducer: (kept, more) => kept.concat(more), default: () => [] }),
})

/** A node that asks, mails, and asks again; hosts of it count their mails together. */
function mailHosts() {
  const mails: unknown[] = []
  const host = () =>
    new EngineHost(
      new StateGraph(State).addNode('ask', async () => {
        const order = interrupt<string, string>('Which order?')
        const mailed = await effect('mail', { order }, () => {
          mails.push(order)
          return 'done'
        })
        return { out: [order, mailed, interrupt('Delete everything?')] }
      }).addEdge(START, 'ask').compile(),
      { rules: effectRulesOf([{ name: 'mail', once: 'ask' }]) },
    )
  return { mails, host }
}

async function endsRight(thread: EngineThread, mails: readonly unknown[]): Promise<void> {
  const { status, asks } = await thread.answer('yes')
  expect({ status, asks }).toEqual({ status: 'success', asks: [] })
  expect(await thread.values()).toEqual({ out: ['order 7', 'done', 'yes'] })
  expect(mails).toEqual(['order 7'])
}

describe('a worker that has executed a thread before', () => {
  it('uses answers and effects that another revision has written on the same checkpoint',
    async () => {
      const { mails, host } = mailHosts()
      const [r1, r2] = [host(), host()]
      const pointed = new PointedHost(r2)
      const thread = new EngineThread(() => pointed)
      expect((await thread.run({ input: { out: [] } })).asks).toEqual(['Which order?'])
      pointed.current = r1
      expect((await thread.answer('order 7')).asks).toEqual(['Delete everything?'])
      pointed.current = r2
      await endsRight(thread, mails)
    })

  it('uses answers and effects that another member has written on the same checkpoint',
    async () => {
      const { mails, host } = mailHosts()
      const [a, b] = [host(), host()]
      const owners = [a, b, a]
      const thread = new EngineThread(() => owners.shift()!)
      await thread.run({ input: { out: [] } })
      await thread.chain.handOver()
      await thread.answer('order 7')
      await thread.chain.handOver()
      await endsRight(thread, mails)
    })
})
