/** However code changes state, the log holds what the library's own saver would hold. */

import { setImmediate } from 'node:timers/promises'

import { AIMessage, HumanMessage } from '@langchain/core/messages'
import type { BaseMessage } from '@langchain/core/messages'
import { Annotation, BinaryOperatorAggregate, END, MessagesAnnotation, Overwrite, START, StateGraph,
  interrupt, messagesStateReducer } from '@langchain/langgraph'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { knownReducers } from '../../../../src/graph/engine/append-path.ts'
import type { MessagesReducer } from '../../../../src/graph/engine/append-path.ts'
import { ChannelUpdates } from '../../../../src/graph/state/channel-updates.ts'
import type { ChannelClass } from '../../../../src/graph/state/channel-updates.ts'
import { changingGraph } from '../../../support/changing-graph.ts'
import { expectAlways } from '../../../support/expect-always.ts'
import { codec, GraphBench } from '../../../support/graph-bench.ts'
import type { Ran } from '../../../support/graph-bench.ts'
import { expectAlike } from '../../../support/state-oracle.ts'

interface Row {
  id: number
  status: { done: boolean }
  tags?: { deep: string[] }
}

const State = Annotation.Root({
  backup: Annotation<unknown[]>,
  ...MessagesAnnotation.spec,
  plan: Annotation<unknown[]>,
  doc: Annotation<object>,
  rows: Annotation<unknown[]>({ reducer: (a, b) => a.concat(b), default: () => [] }),
  marked: Annotation<Row[]>({
    reducer: (a, b) => {
      for (const row of a) row.status.done = true
      return [...a, ...b]
    },
    default: () => [],
  }),
})
type Values = typeof State.State
type Update = typeof State.Update

const updates = new ChannelUpdates(knownReducers(messagesStateReducer as MessagesReducer))
let unwatch = () => {}

/** The state in the log, then what a next node saw, after `fill` and `edit` in one run. */
async function edited(fill: () => Update, edit: (state: Values) => Update) {
  let seen = ''
  const graph = new StateGraph(State)
    .addNode('fill', fill).addNode('edit', edit)
    .addNode('look', (state) => {
      seen = codec.text(state)
      return {}
    })
    .addEdge(START, 'fill').addEdge('fill', 'edit').addEdge('edit', 'look').addEdge('look', END)
    .compile()
  const bench = new GraphBench(graph)
  bench.shortcuts = { updates, bareStream: undefined }
  const { events } = await bench.run({ input: { messages: [] }, streamModes: ['values'] })
  const stored = bench.log.values() as { messages: { id: string }[] }
  const last = events.at(-1)!
  expect(last.valuesOf === '' ? JSON.parse(last.json) : stored).toMatchObject(JSON.parse(seen))
  expect(stored).toMatchObject(JSON.parse(seen) as object)
  return { stored, bench }
}

const rows = (length = 1): Row[] =>
  Array.from({ length }, (_, id) => ({ id, status: { done: false }, tags: { deep: [] } }))
const message = (id: string) =>
  new AIMessage({ id, content: [{ type: 'text', text: id }],
    tool_calls: [{ name: 'search', id: `call ${id}`, args: { q: 'first' } }] })
const argsOf = (each: BaseMessage) => (each as AIMessage).tool_calls![0]!.args

describe.each(['watched', 'as it is'])('with the library %s', (how) => {
  beforeEach(() => {
    if (how === 'watched') {
      unwatch = updates.watch(BinaryOperatorAggregate as unknown as ChannelClass)
    }
  })
  afterEach(() => {
    unwatch()
    unwatch = () => {}
  })

  it.each<[string, (plan: Row[]) => unknown[]]>([
    ['the same list', (plan) => plan],
    ['a copy of the list', (plan) => [...plan]],
    ['mapped elements', (plan) => plan.map((row) => ({ ...row }))],
    ['a part of it', (plan) => plan.slice(0, 1)],
    ['it with another element', (plan) => [...plan, { id: 9, status: { done: false } }]],
    ['it in another order', (plan) => plan.toReversed()],
    ['it inside of another list', (plan) => [plan]],
  ])('stores a change in place to an element if a node returns %s', async (_, returned) => {
    await edited(() => ({ plan: rows(600) }), ({ plan }) => {
      ;(plan[0] as Row).status.done = true
      ;(plan[0] as Row).tags!.deep.push('x')
      return { plan: returned(plan as Row[]) }
    })
  })

  it.each<[string, () => unknown, (element: never) => void]>([
    ['a nested list', () => [[['a']]], (list: string[][][]) => {
      list[0]![0]!.push('b')
    }],
    ['a row in a nested list', () => [[{ a: 1 }]], (list: { a: number }[][]) => {
      list[0]![0]!.a = 2
    }],
    ['a message in a record', () => ({ m: message('1') }), (each: { m: AIMessage }) => {
      argsOf(each.m).q = 'edited'
    }],
  ])('stores a change in place inside of %s', async (_, make, change) => {
    await edited(() => ({ plan: [make(), 1] }), ({ plan }) => {
      change(plan[0] as never)
      return { plan }
    })
  })

  it('stores a change in place inside of a Map in a list', async () => {
    const { bench } = await edited(() => ({ plan: [new Map([['a', { n: 1 }]])] }), ({ plan }) => {
      ;(plan[0] as Map<string, { n: number }>).get('a')!.n = 2
      return { plan }
    })
    const [checkpoint] = await bench.log.list({ ns: '', checkpointId: null, before: null, limit: 1,
      filter: null })
    const { content } = checkpoint!.channels.find(({ channel }) => channel === 'plan')!
    const { list: [stored] } = content as { list: [never] }
    expect(codec.decode(stored)).toEqual(new Map([['a', { n: 2 }]]))
  })

  it.each([0, 1, 700, 998, 999])(
    'stores what was changed in place in message %i of a thousand that a node returns',
    async (index) => {
      const { stored } = await edited(
        () => ({ messages: Array.from({ length: 1000 }, (_, i) => message(`m${i}`)) }),
        ({ messages }) => {
          const each = messages[index]!
          argsOf(each).q = 'edited'
          ;(each.content as { text: string }[])[0]!.text = 'edited'
          return { messages: [each, new HumanMessage({ id: 'new', content: 'x' })] }
        },
      )
      expect(stored.messages[index]).toMatchObject({ content: [{ text: 'edited' }],
        tool_calls: [{ args: { q: 'edited' } }] })
    },
  )

  it('stores all changes in place to messages that are returned together', async () => {
    await edited(() => ({ messages: Array.from({ length: 400 }, (_, i) => message(`m${i}`)) }),
      ({ messages }) => {
        messages.forEach((each, i) => {
          if (i % 7 === 0) argsOf(each).q = 'edited'
        })
        return { messages }
      })
  })

  it('stores a row that was changed in place everywhere in a list that it was appended to again',
    async () => {
      await edited(() => ({ rows: rows(600) }), ({ rows: all }) => {
        ;(all[3] as Row).status.done = true
        return { rows: [all[3], { nested: { deeper: [all[4]] } }] }
      })
    })

  it('stores what a reducer changes in old elements far from the end', async () => {
    await edited(() => ({ marked: rows(600) }), () => ({ marked: rows() }))
  })

  it.each([['itself', (list: unknown[]) => list], ['a copy', (list: unknown[]) => [...list]]])(
    'stores what was changed in a list that is overwritten by %s',
    async (_, given) => {
      await edited(() => ({ rows: rows(600) }), ({ rows: all }) => {
        ;(all[3] as Row).status.done = true
        return { rows: new Overwrite(given(all)) as never }
      })
    },
  )

  it('stores what was changed in a list that was given to a second channel', async () => {
    const graph = new StateGraph(State)
      .addNode('fill', () => ({ messages: Array.from({ length: 400 }, (_, i) => message(`${i}`)) }))
      .addNode('share', ({ messages }) => ({ backup: messages }))
      .addNode('rest', () => ({ messages: [message('new')] }))
      .addNode('edit', ({ messages }) => {
        argsOf(messages[3]!).q = 'edited'
        return { backup: messages }
      })
      .addEdge(START, 'fill').addEdge('fill', 'share').addEdge('share', 'rest')
      .addEdge('rest', 'edit').addEdge('edit', END).compile()
    for (const durability of ['async', 'exit'] as const) {
      const bench = new GraphBench(graph)
      bench.shortcuts = { updates, bareStream: undefined }
      await bench.run({ input: { messages: [] }, interruptAfter: ['share'] })
      await bench.run({ input: null, durability })
      const { backup } = bench.log.values() as { backup: { tool_calls: unknown[] }[] }
      expect(backup[3]!.tool_calls[0]).toMatchObject({ args: { q: 'edited' } })
    }
  })

  it('stores what was changed in a list that went from channel to channel', async () => {
    const graph = new StateGraph(State)
      .addNode('fill', () => ({ plan: rows(400) }))
      .addNode('there', ({ plan }) => ({ rows: new Overwrite(plan) as never }))
      .addNode('grow', () => ({ rows: [{}] }))
      .addNode('back', ({ rows: all }) => {
        ;(all[3] as Row).status.done = true
        return { plan: all }
      })
      .addEdge(START, 'fill').addEdge('fill', 'there').addEdge('there', 'grow')
      // A condition reads the state as it would be: that looks like a checkpoint.
      .addConditionalEdges('grow', () => 'back', ['back']).addEdge('back', END).compile()
    const bench = new GraphBench(graph)
    bench.shortcuts = { updates, bareStream: undefined }
    await bench.run({ input: { messages: [] }, interruptBefore: ['there'] })
    await bench.run({ input: null, durability: 'exit' })
    expect((bench.log.values().plan as Row[])[3]).toMatchObject({ status: { done: true } })
  })

  it('replaces a message whose id was changed in place, and has no second one', async () => {
    const { stored } = await edited(
      () => ({ messages: Array.from({ length: 1500 }, (_, i) => message(`m${i}`)) }),
      ({ messages }) => {
        messages[2]!.id = messages[2]!.lc_kwargs.id = 'other'
        return { messages: [messages[2]!] }
      },
    )
    expect(stored.messages).toHaveLength(1500)
    expect(stored.messages[2]).toMatchObject({ id: 'other' })
  })

  it('replaces a message by a successor with the id that it got in place', async () => {
    const { stored } = await edited(() => ({ messages: [message('a'), message('b')] }),
      ({ messages }) => {
        messages[0]!.id = messages[0]!.lc_kwargs.id = 'c'
        return { messages: [new HumanMessage({ id: 'c', content: 'successor' })] }
      })
    expect(stored.messages.map(({ id }) => id)).toEqual(['c', 'b'])
  })

  it('stores two changes that are far apart without what lies between', async () => {
    const { bench } = await edited(
      () => ({ messages: Array.from({ length: 100 }, (_, i) => message(`m${i}`)) }),
      ({ messages }) => {
        argsOf(messages[3]!).q = 'edited'
        return { messages: [messages[3]!, message('new')] }
      },
    )
    const { changes } = bench.log.checkpoints.findLast(({ changes: all }) =>
      all.some(({ channel }) => channel === 'messages')
    )!
    const stored = changes.flatMap(({ channel, change }) =>
      channel === 'messages'
        && change?.$case === 'splice'
        ? change.value.insert
        : []
    )
    expect(stored).toHaveLength(how === 'watched' ? 2 : 98)
  })
})

describe('a change in place', () => {
  const done = (state: Values): Update => {
    ;(state.plan[0] as Row).status.done = true
    return { plan: state.plan }
  }

  /** What the last event shows of the plan: in itself, or in the checkpoint that it names. */
  function shownPlan({ events }: Ran, { log }: GraphBench): unknown {
    const { valuesOf, json } = events.findLast(({ name, json: text }) =>
      name === 'values' && !text.includes('__interrupt__')
    )!
    if (valuesOf === '') return (JSON.parse(json) as Values).plan
    expect(valuesOf).toBe(log.headId)
    return log.values().plan
  }

  it('is in the event about a step that another task interrupts', async () => {
    const bench = new GraphBench(new StateGraph(State)
      .addNode('fill', () => ({ plan: rows() })).addNode('edit', done)
      .addNode('ask', () => {
        interrupt('?')
        return {}
      })
      .addEdge(START, 'fill').addEdge('fill', 'edit').addEdge('fill', 'ask')
      .addEdge('edit', END).addEdge('ask', END).compile())
    const ran = await bench.run({ input: { messages: [] }, streamModes: ['values'] })
    expect(ran.outcome.waiting).toBe(true)
    expect(shownPlan(ran, bench)).toMatchObject([{ status: { done: true } }])
  })

  it('is in the events of a run that stores its end only', async () => {
    const bench = new GraphBench(new StateGraph(State)
      .addNode('fill', () => ({ plan: rows() })).addNode('edit', done)
      // The event is sent before the end is stored.
      .addNode('rest', async () => {
        await setImmediate()
        return {}
      })
      .addEdge(START, 'fill').addEdge('fill', 'edit').addEdge('edit', 'rest').addEdge('rest', END)
      .compile())
    await bench.run({ input: { messages: [] }, interruptBefore: ['edit'] })
    const ran = await bench.run({ input: null, durability: 'exit', streamModes: ['values'] })
    expect(shownPlan(ran, bench)).toMatchObject([{ status: { done: true } }])
  })

  it('to what an earlier run gave to a second channel changes one of them', async () => {
    const bench = new GraphBench(new StateGraph(State)
      .addNode('act', (state) => {
        if (!state.plan) return { plan: rows() }
        const first = state.plan[0]
        return state.backup ? done(state) : { backup: [[first]], doc: { first } }
      })
      .addEdge(START, 'act').addEdge('act', END).compile())
    for (let i = 0; i < 3; i++) await bench.run({ input: { messages: [] } })
    expect(bench.log.values()).toMatchObject({ plan: [{ status: { done: true } }],
      backup: [[{ status: { done: false } }]], doc: { first: { status: { done: false } } } })
    expect(bench.log.reads).toBe(0)
  })

  it('is never made by the server to a list that code keeps', async () => {
    const kept = rows(3)
    const before = [...kept]
    const bench = new GraphBench(new StateGraph(State).addNode('act', () => ({ plan: kept }))
      .addEdge(START, 'act').addEdge('act', END).compile())
    for (let i = 0; i < 3; i++) await bench.run({ input: { messages: [] } })
    expect(kept.map((row, i) => row === before[i])).toEqual([true, true, true])
  })

  it('by a task that then waits is not done twice', async () => {
    const bench = new GraphBench(new StateGraph(State)
      .addNode('fill', () => ({ plan: rows(600) }))
      .addNode('ask', ({ plan }) => {
        ;(plan[0] as Row).tags!.deep.push('x')
        interrupt('?')
        return { plan }
      })
      .addEdge(START, 'fill').addEdge('fill', 'ask').addEdge('ask', END).compile())
    await bench.run({ input: { messages: [] }, interruptBefore: ['ask'] })
    await bench.run({ input: null })
    await bench.run({ command: { resume: 'yes' } })
    expect((bench.log.values().plan as Row[])[0]!.tags!.deep).toEqual(['x'])
  })
})

it("holds what the library's own saver holds, after every step of random graphs", () =>
  expectAlways(fc.asyncProperty(changingGraph, expectAlike), { share: 10 }))
