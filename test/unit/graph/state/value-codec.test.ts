/** Values of graph state: how they are stored, shown by the API and decoded. */

import * as messages from '@langchain/core/messages'
import { AIMessage, AIMessageChunk, ChatMessage, HumanMessage, RemoveMessage, SystemMessage,
  ToolMessage } from '@langchain/core/messages'
import { Command, Send } from '@langchain/langgraph'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { Form } from '../../../../proto/gen/storage/v1/value.ts'
import type { Value } from '../../../../proto/gen/storage/v1/value.ts'
import { ValueCodec } from '../../../../src/graph/state/value-codec.ts'
import { expectAlways } from '../../../support/expect-always.ts'
import { codec, serde } from '../../../support/graph-bench.ts'

/** Encodes and decodes a value, as a trip through the log does. */
async function trip(value: unknown): Promise<{ stored: Value; exact: boolean; back: unknown }> {
  const waiting: Promise<void>[] = []
  const { value: stored, exact } = codec.encode(value, (done) => void waiting.push(done))
  await Promise.all(waiting)
  return { stored, exact, back: await codec.decode(structuredClone(stored)) }
}

const json = fc.jsonValue({ maxDepth: 4 }).filter((value) => !hasMinusZero(value))

function hasMinusZero(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(hasMinusZero)
  return Object.is(value, -0)
}

const text = fc.string()
const fields = {
  content: fc.oneof(text, fc.array(fc.record({ type: fc.constant('text'), text }))),
  additional_kwargs: fc.dictionary(fc.string({ minLength: 1 }).filter((key) =>
    key !== 'tool_calls'
    && key !== '__proto__'
  ), json),
  response_metadata: fc.dictionary(fc.constantFrom('model', 'usage'), json),
  id: fc.uuid(),
  name: text,
}
const toolCalls = fc.array(
  fc.record({ name: text, args: fc.dictionary(text.filter((key) => key !== '__proto__'), json),
    id: text, type: fc.constant('tool_call' as const) }),
)
const optional = { requiredKeys: ['content'] as ['content'] }
const base = fc.record(fields, optional)
const message = fc.oneof(
  base.map((made) => new HumanMessage(made as never)),
  base.map((made) => new SystemMessage(made as never)),
  fc.record({ ...fields, tool_calls: toolCalls,
    usage_metadata: fc.record({ input_tokens: fc.nat(), output_tokens: fc.nat() }) }, optional)
    .map((made) => new AIMessage(made as never)),
  fc.record({ ...fields, tool_call_id: text, artifact: json,
    status: fc.constantFrom('success' as const, 'error' as const) }, {
    requiredKeys: ['content', 'tool_call_id'],
  }).map((made) => new ToolMessage(made as never)),
  // The sum of chunks, as a streaming model gives it.
  fc.array(fc.record({ content: text, id: fc.constant('run'), tool_call_chunks: fc.array(fc.record({
    name: fc.option(text, { nil: undefined }),
    args: fc.constantFrom('{"a":', '1}', '{}', 'oops'),
    id: fc.option(fc.constantFrom('c1', 'c2'), { nil: undefined }),
    index: fc.nat(1),
    type: fc.constant('tool_call_chunk' as const),
  }), { maxLength: 2 }) }), { minLength: 1, maxLength: 4 }).map((made) =>
    summed(made.map((fields) => new AIMessageChunk(fields)))
  )
    .filter((sum) => sum !== undefined),
)

/** Undefined if the library itself cannot add them up. */
function summed(chunks: readonly AIMessageChunk[]): AIMessageChunk | undefined {
  try {
    return chunks.reduce((sum, chunk) => sum.concat(chunk))
  } catch {
    return undefined
  }
}

/** The members of a message without `lc_kwargs`, which depends on how it was constructed. */
function members({ lc_kwargs: _, ...rest }: object & { lc_kwargs: unknown }) {
  return rest
}

describe('ValueCodec', () => {
  it('stores JSON as it is and returns it', () =>
    expectAlways(fc.asyncProperty(json, async (value) => {
      const { stored, exact, back } = await trip(value)
      expect(stored).toEqual({ json: JSON.stringify(value), form: Form.FORM_UNSPECIFIED })
      expect(exact).toBe(true)
      expect(back).toEqual(value)
    })))

  it('drops members that are undefined', async () => {
    const { stored, back } = await trip({ a: 1, b: undefined })
    expect(stored).toEqual({ json: '{"a":1}', form: Form.FORM_UNSPECIFIED })
    expect(back).toEqual({ a: 1 })
  })

  it('revives a chat message from its flat text alone, with the same class and members',
    () =>
      expectAlways(fc.asyncProperty(message, async (original) => {
        const { stored, exact, back } = await trip(original)
        expect(stored.form).toBe(Form.FORM_MESSAGE)
        expect(stored.serialized).toBeUndefined()
        expect(exact).toBe(true)
        expect((back as object).constructor).toBe(original.constructor)
        expect(members(back as HumanMessage)).toEqual(members(original))
        expect(codec.text(back)).toBe(stored.json)
        expect((back as HumanMessage).toJSON()).toEqual(JSON.parse(JSON.stringify(original)))
      })))

  it('stores a list of only chat messages flat', () =>
    expectAlways(fc.asyncProperty(
      fc.array(message, { minLength: 1, maxLength: 4 }),
      async (originals) => {
        const { stored, back } = await trip(originals)
        expect(stored.form).toBe(Form.FORM_MESSAGE)
        expect(stored.json).toBe(codec.text(originals))
        expect((back as HumanMessage[]).map(members)).toEqual(originals.map(members))
      },
    )))

  it('shows every member of the specification, even if empty', () => {
    expect(JSON.parse(codec.text(new HumanMessage('hi')))).toEqual({
      type: 'human',
      content: 'hi',
      additional_kwargs: {},
      response_metadata: {},
      id: null,
      name: null,
      example: false,
    })
    expect(JSON.parse(codec.text(new AIMessage({ content: 'yes', id: '1' })))).toEqual({
      type: 'ai',
      content: 'yes',
      additional_kwargs: {},
      response_metadata: {},
      id: '1',
      name: null,
      example: false,
      tool_calls: [],
      invalid_tool_calls: [],
      usage_metadata: null,
    })
  })

  it.each([
    ['a Date', new Date(5)],
    ['a Map', new Map([['a', { b: new Date(6) }]])],
    ['a Set', new Set([1, 2])],
    ['bytes', new Uint8Array([1, 2, 3])],
    ['a big number', { big: 2n ** 70n }],
    ['what is not a number', [Number.NaN, Number.POSITIVE_INFINITY, -0]],
    ['nothing in a list', [1, undefined, 3]],
    ['nothing at all', undefined],
    ['a date among JSON', { when: new Date(7), what: ['x'] }],
  ])('returns %s as it was', async (_, value) => {
    const { stored, exact, back } = await trip(value)
    expect(stored.form).toBe(Form.FORM_SERIALIZED)
    expect(exact).toBe(true)
    expect(back).toEqual(value)
    expect(() => JSON.parse(stored.json)).not.toThrow()
  })

  it('returns messages inside objects as messages, and shows them flat', async () => {
    const value = { draft: new AIMessage({ content: 'x', id: 'a' }), by: ['me'] }
    const { stored, exact, back } = await trip(value)
    expect(exact).toBe(false)
    expect(JSON.parse(stored.json)).toMatchObject({ draft: { type: 'ai', content: 'x', id: 'a' } })
    const { draft } = back as typeof value
    expect(draft).toBeInstanceOf(AIMessage)
    expect(draft.content).toBe('x')
  })

  it.each([
    ['a message of a role of its own', new ChatMessage({ content: 'x', role: 'judge' })],
    ['a removal', new RemoveMessage({ id: '1' })],
    ['a message with contents of the newer form',
      new AIMessage({ contentBlocks: [{ type: 'text', text: 'x' }], id: '1' })],
    ['a message with an argument of its own',
      new HumanMessage({ content: 'x', mood: 'glad' } as never)],
  ])('stores %s with the serializer of the graph', async (_, value) => {
    const { stored, back } = await trip(value)
    expect(stored.form).toBe(Form.FORM_SERIALIZED)
    expect((back as object).constructor).toBe(value.constructor)
    expect(codec.text(back)).toBe(stored.json)
  })

  it.each([
    ['a Proxy', { draft: new Proxy({ a: 1 }, {}) }],
    ['shared memory', { memory: new SharedArrayBuffer(8) }],
  ])('stores %s beside a date with the serializer of the graph', async (_, value) => {
    const { stored, exact, back } = await trip({ ...value, when: new Date(7) })
    expect(exact).toBe(false)
    expect(stored.json).toContain('1970')
    expect(JSON.stringify(back)).toBe(stored.json)
  })

  it('does not store a message flat that has additional members', async () => {
    const marked = Object.assign(new HumanMessage('x'), { mark: 1 })
    expect((await trip(marked)).stored.form).toBe(Form.FORM_SERIALIZED)
    const changed = new AIMessageChunk({ content: 'x' })
    changed.invalid_tool_calls = [{ name: 'x', args: '{', id: '1', error: 'no' }]
    expect((await trip(changed)).stored.form).toBe(Form.FORM_SERIALIZED)
  })

  it('knows that a message with a null member comes back without it', async () => {
    const nameless = new HumanMessage({ content: 'x', name: null as never })
    const { stored, exact, back } = await trip(nameless)
    expect(stored.form).toBe(Form.FORM_MESSAGE)
    expect(exact).toBe(false)
    expect((back as HumanMessage).name).toBeUndefined()
  })

  it('shows an object by its toJSON, toDict or as an error', () => {
    expect(codec.text(new Send('node', { a: new Date(0) }))).toBe(JSON.stringify(
      { lg_name: 'Send', node: 'node', args: { a: '1970-01-01T00:00:00.000Z' } },
    ))
    expect(JSON.parse(codec.text(new Command({ goto: 'x' })))).toMatchObject({ goto: ['x'] })
    expect(codec.text({ error: new TypeError('bad') })).toBe(
      '{"error":{"name":"TypeError","message":"bad"}}',
    )
    class Account {
      toDict() {
        return { type: 'account', data: { b: 1 } }
      }
    }
    expect(codec.text([new Account()])).toBe('[{"b":1,"type":"account"}]')
  })

  it('survives cycles, functions and symbols', async () => {
    const ring: Record<string, unknown> = { name: 'ring' }
    ring.self = ring
    expect(codec.text(ring)).toBe('{"name":"ring","self":"[Circular]"}')
    expect((await trip(ring)).back).toMatchObject({ name: 'ring' })
    expect(codec.text({ f: () => 1, s: Symbol('s'), list: [() => 1] })).toBe('{"list":[null]}')
  })

  it('encodes a value as it is at the call, whatever changes later', async () => {
    const waiting: Promise<void>[] = []
    const value = { draft: new AIMessage('before') }
    const { value: stored } = codec.encode(value, (done) => void waiting.push(done))
    value.draft.content = 'after'
    await Promise.all(waiting)
    expect(await codec.decode(stored)).toMatchObject({ draft: { content: 'before' } })
  })
})

it.each([['5', Object(5)], ['"text"', Object('text')], ['false', Object(false)], ['{"deep":[0]}', {
  deep: [Object(0)],
}], ['"7"', Object(7n)]])(
  'A boxed value is shown as %s and comes back as it was',
  async (json, value) => {
    expect(codec.text(value)).toBe(json)
    const { value: stored, exact } = codec.encode(value, () => {})
    expect([stored.json, exact]).toEqual([json, true])
    expect(await codec.decode(stored)).toEqual(value)
  },
)

describe('a value that cannot be stored', () => {
  it.each([['a function', () => 1], ['a symbol', Symbol('s')]])('is undefined in the log: %s',
    async (_, value) => {
      expect(await trip(value)).toMatchObject({ exact: false, back: undefined })
    })

  it('is decoded as the API shows it if its serializer cannot read what it wrote', async () => {
    class Own {
      toJSON() {
        return { lc: 1, type: 'constructor', id: ['no', 'such'], kwargs: {} }
      }
    }
    const { stored, back } = await trip(new Own())
    expect(back).toEqual(JSON.parse(stored.json))
    const unread: unknown[] = []
    await new ValueCodec(messages, serde, (error) => unread.push(error)).decode(stored)
    expect(unread).toEqual([expect.any(Error)])
  })
})

it('A message of a library before version 1 is recognized by its other type.', async () => {
  const message = Object.defineProperties(new AIMessage('hello'), { type: { value: undefined },
    _getType: { value: () => 'ai' } })
  const { stored, back } = await trip(message)
  expect(JSON.parse(stored.json)).toMatchObject({ type: 'ai', content: 'hello' })
  expect(back).toMatchObject({ content: 'hello' })
})
