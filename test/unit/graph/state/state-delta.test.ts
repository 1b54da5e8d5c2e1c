/** What a checkpoint stores: the changes since the one before it. */

import { AIMessage, HumanMessage } from '@langchain/core/messages'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { ChannelChange } from '../../../../proto/gen/storage/v1/value.ts'
import { ChannelView } from '../../../../src/checkpoint/index.ts'
import { KnownChannels } from '../../../../src/graph/state/state-delta.ts'
import type { ChannelValues, Written } from '../../../../src/graph/state/state-delta.ts'
import { expectAlways } from '../../../support/expect-always.ts'
import { codec } from '../../../support/graph-bench.ts'

const waiting: Promise<void>[] = []
const encode = (value: unknown) => codec.encode(value, (done) => void waiting.push(done))
const decode = (value: Parameters<typeof codec.decode>[0]) => codec.decode(value)
const written: Written = { isNew: () => true, updates: () => undefined, byTasks: true }
const unwritten: Written = { ...written, isNew: () => false }

/** The state as a reader of the log builds it from changes. */
class Reader {
  view = ChannelView.empty
  apply(changes: readonly ChannelChange[], full = false): void {
    this.view = this.view.apply(structuredClone(changes), full)
  }
  get state(): unknown {
    return JSON.parse(this.view.json(this.view.names()))
  }
}

function kinds(changes: readonly ChannelChange[]): string[] {
  return changes.map(({ channel, change }) => `${channel} ${change?.$case}`)
}

const longText = 'x'.repeat(40)

/** How a reducer or a node may change a list. */
const listStep = fc.record({
  how: fc.constantFrom('append', 'replace', 'remove', 'clear', 'push in place', 'drop in place'),
  at: fc.nat(20),
  items: fc.array(fc.record({ n: fc.nat() }), { maxLength: 3 }),
})

function stepped(list: object[],
  { how, at, items }: { how: string; at: number; items: object[] }): object[] {
  switch (how) {
    case 'append':
      return [...list, ...items]
    case 'replace':
      return list.toSpliced(at % (list.length + 1), 1, ...items)
    case 'remove':
      return list.toSpliced(at % (list.length + 1), 1)
    case 'push in place':
      list.push(...items)
      return list
    case 'drop in place':
      list.splice(at % (list.length + 1), 1)
      return list
    default:
      return []
  }
}

describe('KnownChannels', () => {
  it('lets a reader follow every change of a list, also in place', () =>
    expectAlways(
      fc.property(fc.array(listStep, { maxLength: 12 }), (steps) => {
        const known = new KnownChannels()
        const reader = new Reader()
        let list: object[] = [{ n: 1 }]
        reader.apply(known.restate({ list }, encode), true)
        for (const step of steps) {
          list = stepped(list, step)
          reader.apply(known.advance({ list }, written, encode))
          expect(reader.state).toEqual({ list })
          expect(known.values()).toEqual({ list })
        }
      }),
    ))

  it('stores changes in place to a list that was read from the log', async () => {
    const reader = new Reader()
    reader.apply(new KnownChannels().restate({ list: ['a'] }, encode), true)
    const known = await KnownChannels.of(reader.view.stored(), decode)
    const { list } = known.values() as { list: string[] }
    list.push('b')
    reader.apply(known.advance({ list }, written, encode))
    expect(reader.state).toEqual({ list: ['a', 'b'] })
  })

  it('sees a change in place to an element after an inserted one', () => {
    const known = new KnownChannels()
    const reader = new Reader()
    const [first, last] = [{ n: 1 }, { n: 2 }]
    reader.apply(known.restate({ list: [first, last] }, encode), true)
    const list = [{ n: 0 }, first, last]
    reader.apply(known.advance({ list }, written, encode))
    last.n = 3
    reader.apply(known.advance({ list }, written, encode))
    expect(reader.state).toEqual({ list })
  })

  it('lets a reader follow values that come, change and go', () =>
    expectAlways(
      fc.property(
        fc.array(
          fc.dictionary(fc.constantFrom('a', 'b', 'c'),
            fc.oneof(fc.nat(), fc.string(), fc.constant(null), fc.record({ deep: fc.nat() }),
              fc.array(fc.nat()))),
        ),
        (states) => {
          const known = new KnownChannels()
          const reader = new Reader()
          reader.apply(known.restate({}, encode), true)
          for (const state of states) {
            reader.apply(known.advance({ ...state }, written, encode))
            expect(reader.state).toEqual(state)
          }
        },
      ),
    ))

  it('stores only what was appended', () => {
    const known = new KnownChannels()
    const messages = [new HumanMessage({ content: 'a', id: '1' })]
    known.restate({ messages }, encode)
    const answer = new AIMessage({ content: 'b', id: '2' })
    expect(known.advance({ messages: [...messages, answer] }, written, encode)).toEqual([{
      channel: 'messages',
      change: { $case: 'splice', value: { at: 1, remove: 0, insert: [encode(answer).value] } },
    }])
  })

  it('notices what a reducer pushed onto the same list', () => {
    const known = new KnownChannels()
    const list = [{ n: 1 }]
    known.restate({ list }, encode)
    list.push({ n: 2 })
    const [change] = known.advance({ list }, written, encode)
    expect(change?.change).toMatchObject({ $case: 'splice', value: { at: 1, remove: 0 } })
  })

  it('notices what a reducer changed inside an element', () => {
    const known = new KnownChannels()
    const reader = new Reader()
    const list = [{ n: 1 }, { n: 2 }]
    const messages = [new AIMessage({ content: 'a', id: '1' })]
    reader.apply(known.restate({ list, messages }, encode), true)
    list[0]!.n = 5
    messages[0]!.content = 'b'
    reader.apply(known.advance({ list, messages }, written, encode))
    expect(reader.state).toMatchObject({ list: [{ n: 5 }, { n: 2 }], messages: [{ content: 'b' }] })
  })

  it('stores nothing for what stayed the same', () => {
    const known = new KnownChannels()
    const values = (): ChannelValues => ({ n: 1, text: 'x', object: { a: [1] }, none: null })
    known.restate({ ...values(), list: [] }, encode)
    expect(known.advance({ ...values(), list: [] }, written, encode)).toEqual([])
  })

  it.each([['written', written], ['not written', unwritten]])(
    'stores a small object that was changed in place if its channel was %s',
    (_, how) => {
      const known = new KnownChannels()
      const object = { count: { now: 1 } }
      known.restate({ object }, encode)
      expect(kinds(known.advance({ object }, how, encode))).toEqual([])
      object.count.now = 2
      expect(kinds(known.advance({ object }, how, encode))).toEqual(['object set'])
      expect(kinds(known.advance({ object }, how, encode))).toEqual([])
    },
  )

  it('stores a new default even if its channel has no version', () => {
    const known = new KnownChannels()
    known.restate({}, encode)
    const changes = known.advance({ settings: { a: 1 } }, unwritten, encode)
    expect(kinds(changes)).toEqual(['settings set'])
  })

  it('stores removals, and treats undefined as removed', () => {
    const known = new KnownChannels()
    known.restate({ a: 1, b: 2, c: undefined }, encode)
    expect(kinds(known.advance({ b: undefined }, written, encode)))
      .toEqual(['a removed', 'b removed'])
  })

  it('stores a list as a whole if it replaces, or is replaced by, something else', () => {
    const known = new KnownChannels()
    known.restate({ x: [1, 2] }, encode)
    expect(kinds(known.advance({ x: { a: 1 } }, written, encode))).toEqual(['x set'])
    expect(kinds(known.advance({ x: [1, 2] }, written, encode))).toEqual(['x list'])
    expect(kinds(known.advance({ x: [3] }, written, encode))).toEqual(['x list'])
  })

  it('stores a list of very many small elements as one value, and changes to and from that', () => {
    const known = new KnownChannels()
    const reader = new Reader()
    const crowd = Array.from({ length: 70_000 }, (_, i) => i % 3 === 0 ? {} : i)
    const texts = Array.from({ length: 70_000 }, () => longText)
    const steps: [list: unknown[], kind: string][] = [
      [crowd, 'list set'],
      [[...crowd, 1], 'list set'],
      [crowd.slice(0, 5), 'list list'],
      [[...crowd.slice(0, 5), 7], 'list splice'],
      [texts, 'list list'],
      [[...texts, 'x'], 'list splice'],
      [crowd, 'list set'],
    ]
    reader.apply(known.restate({ list: [] }, encode), true)
    for (const [list, kind] of steps) {
      const changes = known.advance({ list }, written, encode)
      expect(kinds(changes)).toEqual([kind])
      reader.apply(changes)
      expect(reader.state).toEqual({ list })
    }
    expect(known.advance({ list: crowd }, written, encode)).toEqual([])
    crowd.push(9)
    reader.apply(known.advance({ list: crowd }, written, encode))
    expect(reader.state).toEqual({ list: crowd })
  })

  it.each([[[longText]], [[[longText]]], [[{ a: longText }]], [[{ a: 1, b: 2 }]], [[[1, 2]]], [[{
    a: {},
  }]], [[new Map([[1, 2]])]], [[new AIMessage('a')]]])(
    'stores very many elements one by one if %j is among them',
    (other) => {
      const list = [...Array.from({ length: 70_000 }, (_, i) => i), ...other]
      expect(kinds(new KnownChannels().restate({ list }, encode))).toEqual(['list list'])
    },
  )

  it('returns copies of its lists', () => {
    const known = new KnownChannels()
    known.restate({ list: [1] }, encode)
    ;(known.values().list as number[]).push(2)
    expect(known.values()).toEqual({ list: [1] })
  })

  describe('touched', () => {
    it.each<[string, ChannelValues, (values: never) => void]>([
      ['a message', { list: [new AIMessage('a')] }, ({ list }: { list: AIMessage[] }) => {
        list[0]!.content = 'b'
      }],
      ['a late message in a long list', {
        list: Array.from({ length: 500 }, () => new AIMessage('a')),
      }, ({ list }: { list: AIMessage[] }) => {
        list[300]!.content = 'b'
      }],
      ['a member of a list', { list: [{ n: 1 }] }, ({ list }: { list: { n: number }[] }) => {
        list[0]!.n = 2
      }],
      ['deep inside of a small value', { object: { a: { b: 1 } } },
        ({ object }: { object: { a: { b: number } } }) => {
          object.a.b = 2
        }],
    ])('notices a change in place: %s', (_, values, change) => {
      const known = new KnownChannels()
      known.restate(values, encode)
      expect(known.touched()).toBe(false)
      change(values as never)
      expect(known.touched()).toBe(true)
    })
  })

  it('settles: replaces values that the log returns differently by those', async () => {
    const known = new KnownChannels()
    const draft = { message: new AIMessage({ content: 'x', id: '1' }) }
    const named = new HumanMessage({ content: 'y', name: null as never, id: '2' })
    known.restate({ draft, list: [named, 1] }, encode)
    await Promise.all(waiting)
    await known.settle(decode)
    const settled = known.values() as { draft: typeof draft; list: [HumanMessage, number] }
    expect(settled.draft).not.toBe(draft)
    expect(settled.draft.message).toBeInstanceOf(AIMessage)
    expect(settled.list[0].name).toBeUndefined()
    expect(known.touched()).toBe(false)
  })

  it('settles an element that the list had twice and now has once', async () => {
    const nameless = new HumanMessage({ content: 'x', name: null as never })
    const known = new KnownChannels()
    known.restate({ list: [nameless, nameless] }, encode)
    known.advance({ list: [nameless] }, written, encode)
    await known.settle(decode)
    const { list: [settled] } = known.values() as { list: [HumanMessage] }
    expect(settled.name).toBeUndefined()
  })

  it('comes back from the log as it was', async () => {
    const known = new KnownChannels()
    const values = { list: [new AIMessage({ content: 'x', id: '1' }), 2], when: new Date(3), n: 1 }
    const view = ChannelView.empty.apply(known.restate(values, encode), true)
    const again = await KnownChannels.of(view.stored(), decode)
    expect(again.values()).toEqual(values)
    expect(
      again.advance(again.values(), written, encode).filter(({ channel }) => channel !== 'when'),
    ).toEqual([])
  })
})

it('Its text is what a reader of the log sees, of all channels or of some.', () => {
  // JSON has no negative zero.
  const value = fc.jsonValue().map((each) => JSON.parse(JSON.stringify(each)) as unknown)
  fc.assert(fc.property(
    fc.dictionary(fc.string(), fc.oneof(value, fc.array(value))),
    (values) => {
      const known = new KnownChannels()
      const reader = new Reader()
      reader.apply(known.restate(values, encode), true)
      expect(JSON.parse(known.text(null))).toEqual(reader.state)
      const [name = 'none'] = Object.keys(values)
      expect(JSON.parse(known.text(name))).toEqual(values[name] ?? null)
      expect(Object.keys(JSON.parse(known.text([name, 'missing'])) as object))
        .toEqual(Object.keys(values).slice(0, 1))
    },
  ), { numRuns: 50 })
})
