/** The text of a checkpoint's channels: what changes make of it, however it was read before. */

import { describe, expect, it } from 'vitest'

import type { ChannelChange } from '../../../proto/gen/storage/v1/value.ts'
import { changesBytes, ChannelView, stepBytes } from '../../../src/checkpoint/index.ts'

const value = (text: string) => ({ json: JSON.stringify(text), form: 0 as const })
const set = (channel: string, text: string): ChannelChange => ({ channel,
  change: { $case: 'set', value: value(text) } })
const list = (channel: string, ...texts: string[]): ChannelChange => ({ channel,
  change: { $case: 'list', value: { elements: texts.map(value) } } })
const splice = (channel: string, at: number, remove: number,
  ...texts: string[]): ChannelChange => ({ channel,
    change: { $case: 'splice', value: { at, remove, insert: texts.map(value) } } })

describe('a view of channels', () => {
  it('is joined again if a list that was read changes anywhere but at its end', () => {
    let view = ChannelView.empty.apply([list('log', 'a', 'b')], true)
    const texts = []
    for (const change of [splice('log', 2, 0, 'c'), splice('log', 0, 0, 'x'), splice('log', 1, 1),
      splice('log', 3, 0, 'd')]) {
      view.json('log')
      view = view.apply([change], false)
      texts.push(JSON.parse(view.json('log')).join(''))
    }
    expect(texts).toEqual(['abc', 'xabc', 'xbc', 'xbcd'])
  })

  it('leaves the checkpoint before it out if its own changes suffice', () => {
    const before = ChannelView.empty.apply([set('a', 'x'.repeat(1_000)), set('b', '1')], true)
    const more = before.apply([set('b', '2')], false)
    expect(JSON.parse(more.json(['a', 'b']))).toMatchObject({ b: '2' })
    expect(more.bytes).toBeGreaterThan(before.bytes)
    const alone = before.apply([set('b', '3')], true)
    expect([alone.names(), alone.json(['a', 'b'])]).toEqual([['b'], '{"b":"3"}'])
    expect(alone.bytes).toBe(ChannelView.empty.apply([set('b', '3')], true).bytes)
  })
})

it('A small step counts as 256 bytes: many of them cost as much to read as a large one.', () => {
  expect(stepBytes([set('a', '1')])).toBe(256)
  const large = [set('a', 'x'.repeat(1_000))]
  expect(stepBytes(large)).toBe(changesBytes(large))
})
