/** The append path: the same results as the library's reducer of messages, at a lower cost. */

import { AIMessage, AIMessageChunk, HumanMessage, RemoveMessage } from '@langchain/core/messages'
import type { BaseMessage } from '@langchain/core/messages'
import { REMOVE_ALL_MESSAGES, messagesStateReducer } from '@langchain/langgraph'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { appendingReducer, knownReducers } from '../../../../src/graph/engine/append-path.ts'
import type { MessagesReducer } from '../../../../src/graph/engine/append-path.ts'
import type { Reducer } from '../../../../src/graph/state/channel-updates.ts'
import { expectAlways } from '../../../support/expect-always.ts'
import { codec } from '../../../support/graph-bench.ts'

const original = messagesStateReducer as MessagesReducer

/** A message in every form that a reducer takes; each reducer gets an instance of its own. */
const someId = fc.constantFrom('1', '2', '3', '4', undefined)
const given = fc.oneof(
  fc.record({ kind: fc.constant('human' as const), id: someId, content: fc.string() }),
  fc.record({ kind: fc.constant('ai' as const), id: someId, content: fc.string() }),
  fc.record({ kind: fc.constant('piece' as const), id: someId, content: fc.string() }),
  fc.record({ kind: fc.constant('dict' as const), id: someId, content: fc.string() }),
  fc.record({ kind: fc.constant('tuple' as const), id: someId, content: fc.string() }),
  fc.record({ kind: fc.constant('text' as const), id: someId, content: fc.string() }),
  fc.record({ kind: fc.constant('remove' as const), content: fc.constant(''),
    id: fc.constantFrom('1', '2', '3', REMOVE_ALL_MESSAGES) }),
)
type Given = typeof given extends fc.Arbitrary<infer G> ? G : never

function made({ kind, id, content }: Given): unknown {
  switch (kind) {
    case 'human':
      return new HumanMessage({ content, id })
    case 'ai':
      return new AIMessage({ content, id })
    case 'piece':
      return new AIMessageChunk({ content, id })
    case 'dict':
      return { role: 'user', content, id }
    case 'tuple':
      return ['ai', content]
    case 'text':
      return content
    case 'remove':
      return new RemoveMessage({ id: id! })
  }
}

/** Generated ids differ between the two reducers: each is shown as `new`. */
function shown(messages: readonly BaseMessage[]): unknown[] {
  return messages.map((message) => ({ ...JSON.parse(codec.text(message)) as object,
    id: message.id!.length > 10 ? 'new' : message.id })
  )
}

function attempt(reduce: () => BaseMessage[]): BaseMessage[] | string {
  try {
    return reduce()
  } catch (error) {
    return (error as Error).message
  }
}

describe('appendingReducer', () => {
  it('gives the same lists and errors as the original, over any writes', () =>
    expectAlways(
      fc.property(fc.array(fc.oneof(fc.array(given, { maxLength: 4 }), given), { maxLength: 8 }),
        (writes) => {
          const appending = appendingReducer(original)
          let expected: BaseMessage[] = []
          let actual: BaseMessage[] = []
          for (const write of writes) {
            const input = () => Array.isArray(write) ? write.map(made) : made(write)
            const [then, now] = [attempt(() => original(expected, input())),
              attempt(() => appending(actual, input()))]
            if (typeof then === 'string') expect(now).toBe(then)
            else expect(shown(now as BaseMessage[])).toEqual(shown(then))
            if (typeof then === 'string') return
            expected = then
            actual = now as BaseMessage[]
          }
        }),
    ))

  it('keeps the elements, and returns a new list', () => {
    const appending = appendingReducer(original)
    const first = appending([], [new HumanMessage({ content: 'a', id: '1' })])
    const second = appending(first, [new HumanMessage({ content: 'b', id: '2' })])
    expect(first).toHaveLength(1)
    expect(second[0]).toBe(first[0])
  })

  it('keeps two lists apart that grow from the same one', () => {
    const appending = appendingReducer(original)
    const base = appending([], [new HumanMessage({ content: 'a', id: '1' })])
    const left = appending(base, [new HumanMessage({ content: 'b', id: '2' })])
    const right = appending(base, [new HumanMessage({ content: 'c', id: '3' }),
      new HumanMessage({ content: 'd', id: '2' })])
    expect(right.map(({ content }) => content)).toEqual(['a', 'c', 'd'])
    expect(appending(left, [new HumanMessage({ content: 'e', id: '3' })])
      .map(({ content }) => content)).toEqual(['a', 'b', 'e'])
  })

  it('notices elements that were pushed onto a list', () => {
    const appending = appendingReducer(original)
    const list = appending([], [new HumanMessage({ content: 'a', id: '1' })])
    const pushed = new HumanMessage({ content: 'b', id: '2' })
    list.push(pushed)
    expect(appending(list, [pushed])).toHaveLength(2)
  })

  it('leaves a stored list to an original that would turn its chunks into messages', () => {
    const whole = (message: unknown) =>
      message instanceof AIMessageChunk
        ? new AIMessage({ content: message.content, id: message.id })
        : message
    const newer: MessagesReducer = (left, right) =>
      original([left].flat().map(whole), [right].flat().map(whole))
    const stored = [new AIMessageChunk({ content: 'a', id: '1' })]
    const list = appendingReducer(newer)(stored, [new HumanMessage({ content: 'b', id: '2' })])
    expect(list.map(({ constructor }) => constructor)).toEqual([AIMessage, HumanMessage])
  })

  it('does not go through a list again that it returned itself', () => {
    let visits = 0
    const counting = appendingReducer((left, right) => {
      visits += (left as unknown[]).length
      return original(left, right)
    })
    let list: BaseMessage[] = []
    for (let i = 0; i < 100; i++) list = counting(list, [['user', String(i)]])
    expect(list).toHaveLength(100)
    expect(visits).toBe(0)
  })
})

describe('knownReducers', () => {
  it("knows the library's own reducer of messages and plain appends, and no other", () => {
    const knows = (operator: Reducer) => knownReducers(original)(operator, () => {}) !== undefined
    expect(knows(original as Reducer)).toBe(true)
    expect(knows((a, b) => (a as unknown[]).concat(b))).toBe(true)
    expect(knows((a, b) => original(a, b))).toBe(false)
  })
})
