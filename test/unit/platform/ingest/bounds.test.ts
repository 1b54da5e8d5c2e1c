/** What a small request could make of itself: memory, and errors that are tried again for ever. */

import { describe, expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { readOtlpBody } from '../../../../src/platform/ingest/body/otlp-body.ts'
import { readDottedOrder } from '../../../../src/platform/spans/dotted-order.ts'
import { TraceMemory } from '../../../../src/platform/ingest/trace-memory.ts'
import { multipartOf } from '../../../support/ingest-bodies.ts'
import { otlpBytes } from '../../../support/otlp-message.ts'
import { ingestHouse } from './ingest-house.ts'

const [json, protobuf] = ['application/json', 'application/x-protobuf']

const codeOf = (work: () => unknown) => {
  try {
    work()
    return 'fine'
  } catch (error) {
    return HeddleError.from(error).code
  }
}

const bodyOf = (count: number, span: object, attributes: object[] = []) =>
  Buffer.from(
    JSON.stringify({
      resourceSpans: [{ resource: { attributes },
        scopeSpans: [{ spans: Array.from({ length: count }, (_, index) => ({
          traceId: '0af7651916cd43dd8448eb211c80319c',
          spanId: String(index + 1).padStart(16, '0'),
          startTimeUnixNano: '1764187200123456789',
          ...span,
        })) }] }],
    }),
  )

describe('OpenTelemetry', () => {
  it('Millions of empty messages are refused before they are objects', () => {
    const empty = Buffer.alloc(6 * 1024 * 1024)
    for (let at = 0; at < empty.length; at += 2) empty[at] = 2 << 3 | 2
    const nested = (field: number, inner: Uint8Array) => {
      const length = Buffer.from([inner.length & 127 | 128, inner.length >> 7 & 127 | 128,
        inner.length >> 14 & 127 | 128, inner.length >> 21])
      return Buffer.concat([Uint8Array.of(field << 3 | 2), length, inner])
    }
    expect(codeOf(() => readOtlpBody(nested(1, nested(2, empty)), protobuf, 'p'))).toBe('too_large')
    // Links and scopes are messages as well.
    const attributes = Buffer.alloc(empty.length)
    for (let at = 0; at < empty.length; at += 2) attributes[at] = 4 << 3 | 2
    const linked = nested(1, nested(2, nested(2, nested(13, attributes))))
    expect(codeOf(() => readOtlpBody(linked, protobuf, 'p'))).toBe('too_large')
    const listed = Buffer.from(`{"resourceSpans":[${'{"b":[]},'.repeat(600_000)}{}]}`)
    expect(codeOf(() => readOtlpBody(listed, json, 'p'))).toBe('too_large')
    // What is in a text is none.
    const text = bodyOf(1, { name: '{\\"['.repeat(600_000) })
    expect(readOtlpBody(text, json, 'p').operations).toHaveLength(1)
  })

  it('What a resource says is not repeated for thousands of spans without a bound', () => {
    const attributes = [{ key: 'langsmith.metadata.x',
      value: { stringValue: 'a'.repeat(100_000) } }]
    const [few, many] = [bodyOf(10, {}, attributes), bodyOf(1_000, {}, attributes)]
    expect(readOtlpBody(few, json, 'p').operations).toHaveLength(10)
    expect(codeOf(() => readOtlpBody(many, json, 'p'))).toBe('too_large')
    const long = {
      attributes: [{ key: 'x',
        value: { value: { $case: 'stringValue', value: 'a'.repeat(100_000) } } }],
    } as const
    const spans = Array.from({ length: 1_000 },
      () => ({ traceId: Buffer.alloc(16, 1), spanId: Buffer.alloc(8, 1),
        startTimeUnixNano: '1764187200123456789' }))
    for (const ofAll of [{ resource: { attributes: [...long.attributes] },
      scopeSpans: [{ spans }] }, {
      scopeSpans: [{ scope: { attributes: [...long.attributes] }, spans }],
    }, { scopeSpans: [{ scope: { name: 'a'.repeat(100_000) }, spans }] }, { scopeSpans: [{ spans }],
      schemaUrl: 'a'.repeat(100_000) }]) {
      const bytes = Buffer.from(otlpBytes(ofAll))
      expect(codeOf(() => readOtlpBody(bytes, protobuf, 'p'))).toBe('too_large')
    }
    const scoped = JSON.parse(bodyOf(1_000, {}).toString()) as { resourceSpans: [{
      scopeSpans: object[]
    }] }
    const [ofScope] = scoped.resourceSpans[0].scopeSpans
    scoped.resourceSpans[0].scopeSpans = [{ ...ofScope, scope: { version: 'a'.repeat(100_000) } }]
    expect(codeOf(() => readOtlpBody(Buffer.from(JSON.stringify(scoped)), json, 'p')))
      .toBe('too_large')
  })

  it('A time that is no number, and JSON that is too deep, fail alone', () => {
    const endless = bodyOf(1, { startTimeUnixNano: 0 }).toString().replace('UnixNano":0',
      'UnixNano":1e999')
    expect(readOtlpBody(Buffer.from(endless), json, 'p').rejected).toHaveLength(1)
    const deep = '['.repeat(50_000) + ']'.repeat(50_000)
    const attributes = [{ key: 'input.value', value: { stringValue: deep } }]
    expect(readOtlpBody(bodyOf(1, { attributes }), json, 'p'))
      .toMatchObject({ operations: [], rejected: [{}] })
  })
})

it('A dotted order is no longer than its segments', () => {
  const segment = '20260101T000000000000Z018f0000-0000-7000-8000-000000000001'
  const path = Array.from({ length: 64 }, () => segment)
  expect(readDottedOrder(path.join('.')).parent).not.toBeNull()
  const long = [segment, 'x'.repeat(4_000), segment, segment].join('.')
  expect(codeOf(() => readDottedOrder(long))).toBe('invalid')
})

it('The memory of traces has a bound, also for traces that grow', () => {
  const memory = new TraceMemory()
  const idOf = (group: number, number: number) =>
    `018f0000-0000-7000-${String(group).padStart(4, '0')}-${String(number).padStart(12, '0')}`
  const fill = (trace: number) => {
    for (let span = 0; span < 4_096; span++) {
      memory.hasRoom({ tenant: 't', project: idOf(0, 0), startUs: 1, traceStartUs: 1,
        trace: idOf(1, trace), id: idOf(2, span) })
    }
  }
  for (let trace = 0; trace < 40; trace++) fill(trace)
  expect(memory.projectOf('t', idOf(1, 39))).toBeDefined()
  expect(memory.projectOf('t', idOf(1, 0))).toBeUndefined()
})

it('A body has as much feedback as operations at most', async () => {
  const house = ingestHouse()
  const feedback = (count: number) =>
    multipartOf(Array.from({ length: count }, (_, index) => [
      `feedback.018f0000-0000-7000-8000-${String(index).padStart(12, '0')}`,
      'application/json',
      Buffer.from(JSON.stringify({ key: 'k', run_id: '018f0000-0000-7000-8000-000000000001' })),
    ]))
  await expect(house.send(feedback(2_001))).rejects.toMatchObject({ code: 'too_large' })
  await expect(house.send(feedback(2_000))).resolves.toMatchObject({ rejected: [] })
})
