/** Which events of a thread pass the filter of a subscription. */

import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { eventTest } from '../../../../src/frontdoor/protocol-v2/event-filter.ts'
import type { EventFilter } from '../../../../src/api/index.ts'
import type { ThreadEvent } from '../../../../src/thread/index.ts'
import { expectAlways } from '../../../support/expect-always.ts'
import { threadEvent } from '../fake-threads.ts'

const passes = (filter: EventFilter, event: Partial<ThreadEvent>) =>
  eventTest(filter)(threadEvent(event.seq ?? 1, event))

describe('channels', () => {
  it('are the methods', () => {
    expect(passes({ channels: ['values'] }, { method: 'values' })).toBe(true)
    expect(passes({ channels: ['values'] }, { method: 'updates' })).toBe(false)
    expect(passes({ channels: ['unknown'] }, { method: 'updates' })).toBe(false)
  })

  it.each(['input.requested', 'input.answered'] as const)('of %s is input', (method) => {
    expect(passes({ channels: ['input'] }, { method })).toBe(true)
    expect(passes({ channels: ['lifecycle'] }, { method })).toBe(false)
  })

  it.each([
    [['custom'], '{"payload":1}', true],
    [['custom'], '{"name":"a","payload":1}', true],
    [['custom:a'], '{"name":"a","payload":1}', true],
    [['custom:a'], '{"name":"b","payload":1}', false],
    [['custom:a'], '{"payload":1}', false],
    [['custom:a'], 'null', false],
    [['values'], '{"name":"a"}', false],
  ])('%j on the custom event %s: %s', (channels, data, expected) => {
    expect(passes({ channels }, { method: 'custom', data })).toBe(expected)
  })
})

it('reads a custom event once for all filters', () => {
  const parse = vi.spyOn(JSON, 'parse')
  onTestFinished(() => void parse.mockRestore())
  const event = threadEvent(1, { method: 'custom', data: '{"name":"c","payload":1}' })
  const found = ['a', 'b', 'c'].map((name) => eventTest({ channels: [`custom:${name}`] })(event))
  expect(found).toEqual([false, false, true])
  expect(parse).toHaveBeenCalledTimes(1)
})

describe('namespaces', () => {
  const channels = ['values']
  it.each([
    [undefined, undefined, ['a', 'b'], true],
    [[], undefined, ['a'], true],
    [[[]], undefined, ['a', 'b'], true],
    [[[]], 0, [], true],
    [[[]], 0, ['a'], false],
    [[[]], 1, ['a:1'], true],
    [[[]], 1, ['a:1', 'b:2'], false],
    [[['a']], undefined, ['a:1', 'b:2'], true],
    [[['a']], undefined, ['ab:1'], false],
    [[['a']], undefined, ['ab'], false],
    [[['a:1']], undefined, ['a:1'], true],
    [[['a:1']], undefined, ['a:2'], false],
    [[['a:1']], undefined, ['a:1:2'], false],
    [[['a:']], undefined, ['a:1'], false],
    [[['a', 'b']], undefined, ['a:1'], false],
    [[['a', 'b']], 0, ['a:1', 'b:2'], true],
    [[['x'], ['a']], 1, ['a:1', 'b:2'], true],
    [[['x'], ['a']], 1, ['a:1', 'b:2', 'c'], false],
  ])('%j with depth %s on %j: %s', (namespaces, depth, namespace, expected) => {
    expect(passes({ channels, namespaces, depth }, { namespace })).toBe(expected)
  })
})

it('a namespace matches as one that is compared with each', () => {
  const segment = fc.constantFrom('a', 'b', 'a:1', 'b:1', 'a:', '', ':1', 'a:1:2')
  const namespace = fc.array(segment, { maxLength: 4 })
  const isSegment = (found: string, wanted: string) =>
    found === wanted || (!wanted.includes(':') && found.startsWith(`${wanted}:`))
  expectAlways(
    fc.property(fc.array(namespace, { minLength: 1, maxLength: 6 }), namespace,
      fc.option(fc.nat(3), { nil: undefined }), (namespaces, found, depth) => {
      const expected = namespaces.some((prefix) =>
        prefix.length <= found.length && found.length - prefix.length <= (depth ?? Infinity) &&
        prefix.every((wanted, at) => isSegment(found[at]!, wanted))
      )
      expect(passes({ channels: ['values'], namespaces, depth }, { namespace: found }))
        .toBe(expected)
    }),
  )
})

it('a namespace is not compared with each that a filter names', () => {
  let reads = 0
  const namespace = new Proxy(['a:1', 'b:2'], {
    get: (segments, key) => {
      reads++
      return Reflect.get(segments, key) as unknown
    },
  })
  const namespaces = Array.from({ length: 1_000 }, (_, n) => [`n${n}`])
  expect(passes({ channels: ['values'], namespaces }, { namespace })).toBe(false)
  expect(reads).toBeLessThan(10)
})

it('since takes only events with a greater seq', () => {
  const filter = { channels: ['values'], since: 5 }
  expect([4, 5, 6].map((seq) => passes(filter, { seq }))).toEqual([false, false, true])
})
