/** Each recorded call answers one request; the nearest one stands beside what is not answered. */

import fc from 'fast-check'
import { expect, it } from 'vitest'

import { AnswerBook } from '../../../../src/graph/replay/answer-book.ts'
import { callIdentity } from '../../../../src/graph/replay/call-identity.ts'
import { redactedIdentity } from '../../../../src/graph/replay/compared-request.ts'
import type { RecordedCall } from '../../../../src/graph/recording/recording.ts'
import { recordedCall, siteAt } from './recorded-calls.ts'

const opened = (calls: readonly RecordedCall[]) =>
  AnswerBook.of(calls, (call) => redactedIdentity(call, (text) => text))

const ask = (book: AnswerBook, body: string,
  { site = siteAt(1, 'ask'), url = 'https://api.example.org/v1' } = {}) =>
  book.take({ site, identity: callIdentity('POST', url, Buffer.from(body)) })

const numberOf = (match: ReturnType<typeof ask>) =>
  match.kind === 'none' ? match.near?.call.no : match.found.call.no

it('Equal requests are answered in their order, and then no more.', async () => {
  const book = await opened([recordedCall(0, 'a'), recordedCall(1, 'a')])
  expect([0, 1, 2].map(() => ask(book, 'a').kind)).toEqual(['same', 'same', 'none'])
  expect(book.unused).toEqual([])
})

it('An exact match is taken before a match with other ids.', async () => {
  const [one, two] = ['3f2504e0-4f89-41d3-9a0c-0305e82c3301',
    '3f2504e0-4f89-41d3-9a0c-0305e82c3302']
  const book = await opened([recordedCall(0, one), recordedCall(1, two)])
  expect(numberOf(ask(book, two))).toBe(1)
  expect(numberOf(ask(book, two))).toBe(0)
})

it('A call of another node has moved.', async () => {
  const book = await opened([recordedCall(0, 'a')])
  expect(ask(book, 'a', { site: siteAt(1, 'renamed') }).kind).toBe('moved')
})

it('A changed call is listed next to the call of its place with its method and URL.', async () => {
  const book = await opened([recordedCall(0, 'x', { url: 'https://other.example.org' }),
    recordedCall(1, 'a')])
  expect(ask(book, 'b')).toMatchObject({ kind: 'none', near: { call: { no: 1 } } })
})

it('A call of a place without recorded calls is new.', async () => {
  const book = await opened([recordedCall(0, 'a')])
  expect(ask(book, 'b', { site: siteAt(1, 'more') })).toEqual({ kind: 'none', near: undefined })
})

it('Concurrent requests get their responses in any order.', async () => {
  const bodies = fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 12 })
  await fc.assert(
    fc.asyncProperty(
      bodies.chain((all) =>
        fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))
      ),
      async ([all, asked]) => {
        const book = await opened(all.map((body, no) => recordedCall(no, body)))
        for (const body of asked) expect(ask(book, body).kind).toBe('same')
        expect(book.unused).toEqual([])
      },
    ),
    { numRuns: 30 },
  )
})
