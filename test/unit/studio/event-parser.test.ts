/** Server-sent events are the same, wherever their text is cut. */

import fc from 'fast-check'
import { expect, it } from 'vitest'

import { eventParser } from '../../../src/studio/api/event-parser.ts'
import { expectAlways } from '../../support/expect-always.ts'

const stream =
  ': hello\n\nevent: metadata\ndata: {"run_id":"1"}\nid: 1\n\nevent: messages|a:1\r\n' +
  'data: [1,\r\ndata: 2]\r\nid: 2\r\n\r\ndata: {}\n\nid: 9\n\nevent: end\ndata:\n\n'

const events = [
  { event: 'metadata', text: '{"run_id":"1"}', id: '1' },
  { event: 'messages|a:1', text: '[1,\n2]', id: '2' },
  { event: 'message', text: '{}', id: '2' },
  { event: 'end', text: '', id: '9' },
]

it('reads events, wherever their text is cut', () => {
  const cuts = fc.uniqueArray(fc.nat(stream.length), { maxLength: 12 })
  expectAlways(fc.property(cuts, (places) => {
    const parse = eventParser()
    const ends = [...places.toSorted((a, b) => a - b), stream.length]
    const pieces = ends.map((end, index) => stream.slice(ends[index - 1] ?? 0, end))
    expect(pieces.flatMap(parse)).toEqual(events)
  }))
  const parse = eventParser()
  expect([...stream].flatMap(parse)).toEqual(events)
})
