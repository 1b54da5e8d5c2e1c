/** Messages that come to a graph between two of its supersteps. */

import { AIMessage, ToolMessage } from '@langchain/core/messages'
import { Annotation, END, interrupt, MessagesAnnotation, START,
  StateGraph } from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'

import { hasOpenCalls } from '../../../../src/graph/engine/added-messages.ts'
import { DrainControl } from '../../../../src/graph/engine/drain-control.ts'
import { GraphBench, runIdOf } from '../../../support/graph-bench.ts'
import { line, said } from '../../../support/small-graphs.ts'

const message = { role: 'user', content: 'also this', id: 'm1' }

/** An agent that calls a tool `calls` times before it answers; `during` is called in each node. */
function agent(calls: number, during: (node: string, count: number) => void = () => {}) {
  let count = 0
  return new StateGraph(MessagesAnnotation)
    .addNode('agent', ({ messages }) => {
      during('agent', ++count)
      const done = messages.filter((each) => each.getType() === 'tool').length
      const tool_calls = done < calls ? [{ id: `c${done}`, name: 't', args: {} }] : []
      return { messages: [new AIMessage({ id: `a${count}`, content: 'x', tool_calls })] }
    })
    .addNode('tools', ({ messages }) => {
      during('tools', count)
      const { tool_calls } = messages.at(-1) as AIMessage
      return {
        messages: tool_calls!.map(({ id }) =>
          new ToolMessage({ id: `t${id}`, content: 'y', tool_call_id: id! })
        ),
      }
    })
    .addEdge(START, 'agent')
    .addConditionalEdges('agent',
      ({ messages }) => (messages.at(-1) as AIMessage).tool_calls?.length ? 'tools' : END)
    .addEdge('tools', 'agent')
    .compile()
}

const idsIn = (bench: GraphBench) =>
  (bench.log.values().messages as { id: string }[]).map(({ id }) => id)

describe('a run that is asked to stop for messages', () => {
  it('stops where no call of a tool is open, and goes on with them', async () => {
    const control = new DrainControl(() => {})
    const bench = new GraphBench(agent(2, (node, count) => {
      if (node === 'agent' && count === 1) control.handBackForMessages()
    }))
    const input = { messages: [{ ...said('go').messages[0], id: 'h' }] }
    const { outcome } = await bench.run({ input, control })
    expect(outcome.status).toBe('drained')
    expect(idsIn(bench)).toEqual(['h', 'a1', 'tc0'])
    expect((await bench.add(message)).outcome).toMatchObject({ status: 'success', waiting: true })
    await bench.run({ input: null, runId: runIdOf(1) })
    expect(idsIn(bench)).toEqual(['h', 'a1', 'tc0', 'm1', 'a2', 'tc1', 'a3'])
  })

  it('takes its own input first', async () => {
    const control = new DrainControl(() => {})
    control.handBackForMessages()
    const bench = new GraphBench(agent(1))
    const input = { messages: [{ ...said('go').messages[0], id: 'h' }] }
    expect((await bench.run({ input, control })).outcome.status).toBe('drained')
    expect(idsIn(bench)).toEqual(['h'])
  })

  it('goes to its end if that comes first, or if it has breakpoints, or saves at its end',
    async () => {
      for (const more of [{}, { interruptAfter: ['agent'] }, { durability: 'exit' }] as const) {
        const control = new DrainControl(() => {})
        const bench = new GraphBench(
          agent('durability' in more ? 1 : 0, () => control.handBackForMessages()),
        )
        const { outcome } = await bench.run({ input: said('go'), control, ...more })
        expect(outcome.status).toBe('success')
      }
    })

  it('is not stopped within a subgraph, which would begin anew', async () => {
    const control = new DrainControl(() => {})
    const inner = line(['one', 'two'], (name) => {
      if (name === 'one') control.handBackForMessages()
    })
    const State = Annotation.Root({ ...MessagesAnnotation.spec, log: Annotation<string[]>({
      reducer: (a, b) => a.concat(b),
      default: () => [],
    }) })
    const outer = new StateGraph(State).addNode('inner', inner)
      .addNode('after', () => ({ log: ['after'] }))
      .addEdge(START, 'inner').addEdge('inner', 'after').addEdge('after', END).compile()
    const bench = new GraphBench(outer)
    const { outcome } = await bench.run({ input: { log: [] }, control })
    expect([outcome.status, bench.log.values().log]).toEqual(['drained', ['one', 'two']])
  })
})

describe('messages that are added', () => {
  it('change nothing else, and trigger nothing', async () => {
    const bench = new GraphBench(agent(0))
    await bench.run({ input: said('go') })
    const before = bench.log.checkpoints.at(-1)!
    const { outcome } = await bench.add(message, { ...message, id: 'm2' })
    expect(outcome).toMatchObject({ status: 'success', waiting: false })
    const added = bench.log.checkpoints.at(-1)!
    expect(added.id > before.id).toBe(true)
    expect(added).toMatchObject({ parentId: before.id })
    expect(idsIn(bench).slice(-2)).toEqual(['m1', 'm2'])
    await bench.run({ input: null })
    expect(idsIn(bench).slice(-2)).toEqual(['m1', 'm2'])
  })

  it('let a question be asked again', async () => {
    const bench = new GraphBench(new StateGraph(MessagesAnnotation)
      .addNode('ask',
        () => ({ messages: [new AIMessage({ content: String(interrupt('sure?')) })] }))
      .addEdge(START, 'ask').addEdge('ask', END).compile())
    await bench.run({ input: said('go') })
    expect((await bench.add(message)).outcome).toMatchObject({ status: 'success', waiting: true })
    const again = await bench.run({ input: null })
    expect(again.outcome).toMatchObject({ waiting: true,
      interrupts: expect.stringContaining('sure?') as string })
    await bench.run({ command: { resume: 'yes' } })
    expect((bench.log.values().messages as { content: string }[]).map(({ content }) => content))
      .toEqual(['go', 'also this', 'yes'])
  })

  it('are refused by a graph that does not add up messages', async () => {
    const bench = new GraphBench(line(['a'], () => undefined))
    await bench.run({ input: { log: [] } })
    expect((await bench.add(message)).outcome).toMatchObject({ status: 'error',
      error: { message: expect.stringContaining('no channel `messages`') as string } })
  })
})

it('Calls of tools are open until each is answered.', () => {
  const calls = new AIMessage({ content: '',
    tool_calls: [{ id: 'a', name: 't', args: {} }, { id: 'b', name: 't', args: {} }] })
  const answer = (id: string) => new ToolMessage({ content: '', tool_call_id: id })
  expect(hasOpenCalls([calls])).toBe(true)
  expect(hasOpenCalls([calls, answer('a')])).toBe(true)
  expect(hasOpenCalls([calls, answer('b'), answer('a')])).toBe(false)
  expect(hasOpenCalls([calls, new AIMessage('done')])).toBe(false)
  expect([[], undefined, 'text', [null]].map(hasOpenCalls)).toEqual([false, false, false, false])
})
