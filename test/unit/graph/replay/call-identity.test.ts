/** Requests of the same code are the same, whatever ids and times they have. */

import fc from 'fast-check'
import { expect, it } from 'vitest'

import { callIdentity, maskedText } from '../../../../src/graph/replay/call-identity.ts'

const of = (body: string, url = 'https://api.example.org/v1') =>
  callIdentity('POST', url, Buffer.from(body))

it('The order of members does not count, and that of items does.', () => {
  expect(of('{"a":1,"b":{"c":2,"d":3}}').exact).toBe(of('{"b":{"d":3,"c":2},"a":1}').exact)
  expect(of('[1,2]').exact).not.toBe(of('[2,1]').exact)
})

it('Method, URL and each word of a body count.', () => {
  expect(of('a').masked).not.toBe(of('b').masked)
  expect(of('a').masked).not.toBe(of('a', 'https://api.example.org/v2').masked)
  expect(of('a').masked).not.toBe(
    callIdentity('PUT', 'https://api.example.org/v1', Buffer.from('a')).masked,
  )
})

it.each([
  ['a UUID', '{"id":"3f2504e0-4f89-41d3-9a0c-0305e82c3301"}'],
  ['an ISO time', 'It is 2026-11-29T14:02:11.123Z now.'],
  ['milliseconds', '{"at":1795960931123}'],
  ['seconds', '{"at":1795960931}'],
  ['a trace', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
])('%s is masked, and nothing else.', (_, text) => {
  const other = text.replace(/[1-9](?=\D*$)/, (digit) => `${Number(digit) % 9 + 1}`)
  expect(of(other).exact).not.toBe(of(text).exact)
  expect(of(other).masked).toBe(of(text).masked)
  expect(of(`${text} more`).masked).not.toBe(of(text).masked)
})

it('Prices, counts and years stay.', () => {
  for (const text of ['20.5', '2026', '1234567', 'order 4711', '12345678901234']) {
    expect(maskedText(text)).toBe(text)
  }
})

it('The boundary of a form does not count.', () => {
  const form = (boundary: string) => `--${boundary}\r\na\r\n--${boundary}--`
  expect(of(form('x1')).exact).toBe(of(form('y2')).exact)
})

it('Masking twice changes nothing more, and bytes of any kind have an identity.', () => {
  fc.assert(fc.property(fc.string(), (text) => {
    expect(maskedText(maskedText(text))).toBe(maskedText(text))
  }))
  fc.assert(fc.property(fc.uint8Array(), (bytes) => {
    expect(callIdentity('POST', '/', bytes)).toEqual(callIdentity('POST', '/', bytes))
  }))
})
