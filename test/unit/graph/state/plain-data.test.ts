/** Plain data that looks like what the serializer writes: it stays plain beside instances. */

import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { Annotation, START, Send, StateGraph } from '@langchain/langgraph'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { expectAlways } from '../../../support/expect-always.ts'
import { codec, GraphBench } from '../../../support/graph-bench.ts'

/** As the log keeps it: the bytes are all that is left. */
async function trip(value: unknown) {
  const held: Promise<void>[] = []
  const { value: stored } = codec.encode(value, (done) => void held.push(done))
  await Promise.all(held)
  return { stored, back: await codec.decode(structuredClone(stored)) }
}

const id = ['langchain_core', 'tools', 'DynamicTool']

/** What a client may send. */
const lookalikes: readonly unknown[] = [
  { lc: 2, type: 'constructor', id: ['RegExp'], method: null, args: ['x', 'g'], kwargs: {} },
  { lc: 2, type: 'constructor', id: ['Map'], method: null, args: [[['a', 1]]], kwargs: {} },
  { lc: 2, type: 'constructor', id: ['Error'], method: null, args: ['no'], kwargs: {} },
  { lc: 2, type: 'undefined' },
  { lc: 2, type: 'delta_snapshot', value: [1] },
  { lc: 1, type: 'constructor', id, kwargs: { name: 'x', description: 'y', func: 'z' } },
  { lc: 1, type: 'constructor', id: ['langchain_core', 'messages', 'HumanMessage'],
    kwargs: { content: 'x' } },
  { lc: 1, type: 'secret', id: ['PATH'] },
  { lc: 1, type: 'not_implemented', id: ['X'] },
  { __lc_escaped__: { lc: 2, type: 'undefined' } },
  { 'lc\0': { lc: 1 }, 'lc\0\0': 2, before: 0 },
]

class Box {
  readonly inside: unknown
  constructor(inside: unknown) {
    this.inside = inside
  }
}

const places: readonly [string, (data: unknown) => unknown][] = [
  ['beside an instance', (data) => ({ box: new Box(1), data })],
  ['beside a message', (data) => ({ message: new HumanMessage('x'), data })],
  ['in a list with a message', (data) => [new HumanMessage('x'), data, [data]]],
  ['in a message with an argument of its own',
    (data) => new HumanMessage({ content: 'x', mood: data, additional_kwargs: { data } } as never)],
  ['in the arguments of a tool call of version 1', (data) =>
    new AIMessage({ contentBlocks: [
      { type: 'tool_call', id: 'c', name: 'n', args: { data } as never },
    ] })],
  ['in a result of version 1',
    (data) =>
      new ToolMessage({ tool_call_id: 'c', content: [{ type: 'text', text: 'x' }], artifact: data,
        response_metadata: { output_version: 'v1' } })],
  ['in a message beside an instance',
    (data) => ({ box: new Box(1),
      messages: [new HumanMessage({ content: 'x', additional_kwargs: { deep: [{ data }] } })] })],
  ['in a Map and a Set beside an instance',
    (data) => ({ box: new Box(1), map: new Map([['key', data]]), set: new Set([data]) })],
  ['in an instance', (data) => new Box([data])],
]

describe.each(places)('Plain data %s', (_, place) => {
  it.each(lookalikes.map((data) => [JSON.stringify(data), data]))('stays plain: %s',
    async (__, data) => {
      const value = place(structuredClone(data))
      const { stored, back } = await trip(value)
      expect(codec.text(back)).toBe(stored.json)
      expect(plainIn(back)).toEqual(plainIn(value))
    })
})

/** The texts of all objects in it that have the key, each once. */
function plainIn(value: unknown, seen = new Set<unknown>()): string[] {
  if (typeof value !== 'object' || value === null || seen.has(value)) return []
  seen.add(value)
  const parts = value instanceof Map ? [...value].flat() : value instanceof Set
    ? [...value]
    : Object.values(value)
  const own = 'lc' in value ? [JSON.stringify(value)] : []
  return [...new Set([...own, ...parts.flatMap((part) => plainIn(part, seen))])].sort()
}

it.each(lookalikes.map((data) => [JSON.stringify(data), data]))(
  'What a client sends reaches the node that it is sent to: %s',
  async (_, data) => {
    const State = Annotation.Root({ data: Annotation<unknown>(), out: Annotation<unknown>() })
    const seen: unknown[] = []
    const bench = new GraphBench(new StateGraph(State)
      .addNode('work', (sent: typeof State.State) => {
        seen.push(structuredClone(sent.data))
        return { out: new Box(sent.data) }
      })
      .addConditionalEdges(START, (state) => [new Send('work', { data: state.data })]).compile())
    const options = { input: { data }, interruptBefore: ['work'], forget: true }
    await bench.run(options)
    await bench.run({ input: null, forget: true })
    expect(seen).toEqual([data])
    expect(bench.log.values()).toMatchObject({ data, out: { inside: data } })
    await bench.run({ command: { goto: { node: 'work', input: { data } } } })
    expect(seen).toEqual([data, data])
  },
)

it('What the serializer writes for instances is an instance again.', async () => {
  const data = { lc: 2, type: 'undefined' }
  const { back } = await trip({ data, message: new HumanMessage('x'), when: /a/g,
    map: new Map([[1, new Set([2])]]), error: new RangeError('no'), nothing: undefined,
    bytes: new Uint8Array([1, 2]) })
  expect(back).toMatchObject({ data, when: /a/g, map: new Map([[1, new Set([2])]]),
    bytes: new Uint8Array([1, 2]) })
  const { message, error } = back as { message: unknown; error: unknown }
  expect([message instanceof HumanMessage, error instanceof Error]).toEqual([true, true])
})

it('A circle with such data in it is stored.', async () => {
  const circle: Record<string, unknown> = { data: { lc: 2, type: 'undefined' } }
  circle.self = circle
  const { back } = await trip(circle)
  expect(back).toMatchObject({ data: { lc: 2, type: 'undefined' } })
})

it('Any JSON beside an instance comes back as it was, order of keys included.', async () => {
  const key = fc.oneof(
    fc.constantFrom('lc', 'lc\0', 'type', 'id', 'kwargs', 'args', '__lc_escaped__', 'method',
      '__proto__', '__proto__\0'),
    fc.string(),
  )
  const word = fc.oneof(
    fc.constantFrom(1, 2, 'constructor', 'undefined', 'secret', ['Map'], ['RegExp'], id),
    fc.jsonValue() as fc.Arbitrary<unknown>,
  )
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof({ maxDepth: 4 }, word, fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(key, tie('tree'), { maxKeys: 4 })),
  }))
  await expectAlways(fc.asyncProperty(tree, async (data) => {
    const plain = JSON.parse(JSON.stringify(data)) as unknown
    const { back } = await trip({ message: new HumanMessage('x'), plain })
    expect(JSON.stringify((back as { plain: unknown }).plain)).toBe(JSON.stringify(plain))
  }))
})
