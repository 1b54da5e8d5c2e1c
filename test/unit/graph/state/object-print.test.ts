/** Looking again at an object notices what was changed in it. */

import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { describe, expect, it } from 'vitest'

import { looksLike, printOf } from '../../../../src/graph/state/object-print.ts'

const ai = () =>
  new AIMessage({ content: [{ type: 'text', text: 'a' }],
    tool_calls: [{ name: 'x', id: '1', args: { deep: { n: 1 } } }] })

describe('a print', () => {
  it.each<[string, () => object, (value: never) => void]>([
    ['a member', () => ({ a: 1 }), (value: { a: number }) => {
      value.a = 2
    }],
    ['a new member', () => ({ a: 1 }), (value: { b?: number }) => {
      value.b = 2
    }],
    ['a removed member', () => ({ a: 1, b: { c: 1 } }), (value: { a?: number }) => {
      delete value.a
    }],
    ['a renamed member', () => ({ a: { x: 1 } }), ({ a }: { a: { x?: number; y?: number } }) => {
      delete a.x
      a.y = 1
    }],
    ['a deep member', () => [{ a: [{ b: 1 }] }], ([{ a: [last] }]: [{ a: [{ b: number }] }]) => {
      last.b = 2
    }],
    ['an element', () => ({ list: [1, 2] }), ({ list }: { list: number[] }) => {
      list[1] = 3
    }],
    ['a longer list', () => ({ list: [{}] }), ({ list }: { list: object[] }) => {
      list.push({})
    }],
    ['a Map', () => new Map([['a', { n: 1 }]]), (map: Map<string, { n: number }>) => {
      map.get('a')!.n = 2
    }],
    ['a Set', () => new Set([1]), (set: Set<number>) => {
      set.add(2)
    }],
    ['a Date', () => ({ at: new Date(1) }), ({ at }: { at: Date }) => {
      at.setTime(2)
    }],
    ['a class', () =>
      new (class {
        n = { m: 1 }
      })(), ({ n }: { n: { m: number } }) => {
      n.m = 2
    }],
    ['a content block', ai, ({ content }: { content: { text: string }[] }) => {
      content[0]!.text = 'b'
    }],
    ['arguments of a tool', ai, ({ tool_calls: calls }: AIMessage) => {
      ;(calls![0]!.args as { deep: { n: number } }).deep.n = 2
    }],
    ['an id', () => new HumanMessage('a'), (message: HumanMessage) => {
      message.id = 'b'
    }],
    ['an artifact', () => new ToolMessage({ content: '', tool_call_id: '1', artifact: { n: 1 } }),
      ({ artifact }: { artifact: { n: number } }) => {
        artifact.n = 2
      }],
  ])('notices a change of %s', (_, make, change) => {
    const value = make()
    const print = printOf(value)
    expect(looksLike(value, print, 'deep')).toBe(true)
    change(value as never)
    expect(looksLike(value, print, 'deep')).toBe(false)
  })

  it('notices without depth what changed in the object itself only', () => {
    const value = { a: { b: 1 }, c: 1 }
    const print = printOf(value)
    value.a.b = 2
    expect(looksLike(value, print, 'own')).toBe(true)
    value.c = 2
    expect(looksLike(value, print, 'own')).toBe(false)
  })

  it('is short, however large a value is', () => {
    const large = { list: Array.from({ length: 1e5 }, () => ({})), map: new Map<number, object>() }
    for (let i = 0; i < 1e4; i++) large.map.set(i, {})
    const print = printOf(large)!
    expect(print.seen.length).toBeLessThan(1500)
    expect(looksLike(large, print, 'deep')).toBe(true)
  })

  it('is not made of what cannot be changed', () => {
    expect([1, 'a', null, undefined].map(printOf)).toEqual([undefined, undefined, undefined,
      undefined])
  })
})
