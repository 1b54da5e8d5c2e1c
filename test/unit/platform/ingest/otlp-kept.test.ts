/** Nothing that an exporter of OpenTelemetry sends is thrown away: kept, found, given out again. */

import { randomBytes } from 'node:crypto'

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { KeyValue } from '../../../../proto/gen/otlp/v1/trace.ts'
import type { RunsQuestion } from '../../../../src/platform/query/question.ts'
import { queryHandlers } from '../../../../src/platform/threads/query-handlers.ts'
import { expectAlways } from '../../../support/expect-always.ts'
import { otlpBytes } from '../../../support/otlp-message.ts'
import { projectOf } from '../../../support/random-spans.ts'
import { ingestHouse, projectId } from './ingest-house.ts'
import type { IngestHouse } from './ingest-house.ts'

type Value = string | number | boolean

const pairs = (values: Readonly<Record<string, Value>>) =>
  Object.entries(values).map(([key, value]) => ({ key, value: typeof value === 'string'
    ? { stringValue: value }
    : typeof value === 'boolean'
    ? { boolValue: value }
    : { doubleValue: value } })
  )

interface Sent {
  readonly span?: object
  readonly attributes?: Readonly<Record<string, Value>>
  readonly resource?: Readonly<Record<string, Value>>
  readonly scope?: object
}

const idOf = (n: number, digits = 16) => (n + 1).toString(16).padStart(digits, '0')

/** A request with a span for each of `sent`, all in the first one's resource. */
const bodyOf = (sent: readonly Sent[], traceOf: (n: number) => number = () => 0) =>
  Buffer.from(JSON.stringify({ resourceSpans: [{
    ...sent[0]!.resource && { resource: { attributes: pairs(sent[0]!.resource) } },
    scopeSpans: [{ ...sent[0]!.scope && { scope: sent[0]!.scope },
      spans: sent.map(({ span, attributes = {} }, n) => ({ traceId: idOf(traceOf(n), 32),
        spanId: idOf(n), name: 'a span', startTimeUnixNano: '1764187200123456789',
        endTimeUnixNano: '1764187201123456789', attributes: pairs(attributes), ...span })
      ) }],
  }] }))

const send = (house: IngestHouse, body: Buffer) =>
  house.send({ form: 'otlp', contentType: 'application/json', project: 'demo', body })

const metadataIn = async (house: IngestHouse) => {
  const [span] = (await house.spans()).values()
  return (span!.payload['extra'] as { metadata: Record<string, unknown> }).metadata
}

const ids = { OTEL_TRACE_ID: idOf(0, 32), OTEL_SPAN_ID: idOf(0) }

describe('a span', () => {
  it('keeps what no mapping reads, its resource and its scope, behind its metadata', async () => {
    const house = ingestHouse()
    await send(house, bodyOf([{
      attributes: { 'http.request.method': 'GET', 'gen_ai.operation.name': 'chat', tries: 2.5,
        'gen_ai.request.model': 'small', 'langsmith.metadata.user': 'ada' },
      resource: { 'service.name': 'shop' },
      scope: { name: 'http', version: '1.2', attributes: pairs({ team: 'web', name: 'other' }) },
    }]))
    const metadata = await metadataIn(house)
    expect(metadata).toEqual({ ...ids, user: 'ada', ls_model_name: 'small',
      'OTEL_ATTRIBUTES.http.request.method': 'GET', 'OTEL_ATTRIBUTES.gen_ai.operation.name': 'chat',
      'OTEL_ATTRIBUTES.tries': 2.5, 'OTEL_RESOURCE.service.name': 'shop', 'OTEL_SCOPE.name': 'http',
      'OTEL_SCOPE.version': '1.2', 'OTEL_SCOPE.team': 'web',
      'OTEL_SCOPE.attributes.name': 'other' })
    expect(Object.keys(metadata).slice(0, 2)).toEqual(['ls_model_name', 'user'])
  })

  it('keeps its kind, state, links, status and what was left out, where they are set', async () => {
    const house = ingestHouse()
    const link = { traceId: idOf(7, 32), spanId: idOf(7), attributes: pairs({ why: 'retry' }) }
    await send(house, bodyOf([{
      span: { kind: 2, traceState: 'a=b', flags: 257, links: [link], droppedAttributesCount: 3,
        status: { code: 1, message: 'fine' } },
      attributes: { 'langsmith.trace.name': 'given' },
    }]))
    expect(await metadataIn(house)).toEqual({ ...ids, OTEL_NAME: 'a span', OTEL_KIND: 'server',
      OTEL_TRACE_STATE: 'a=b', OTEL_FLAGS: 257, OTEL_STATUS: 'ok', OTEL_STATUS_MESSAGE: 'fine',
      OTEL_LINKS: [{ trace_id: idOf(7, 32), span_id: idOf(7), attributes: { why: 'retry' } }],
      OTEL_DROPPED: { attributes: 3 } })
    const plain = ingestHouse()
    await send(plain, bodyOf([{ span: { kind: 1 } }]))
    expect(await metadataIn(plain)).toEqual(ids)
  })

  it('keeps nothing twice that a mapping took', async () => {
    const house = ingestHouse()
    await send(house, bodyOf([{
      attributes: { 'langsmith.span.kind': 'llm', 'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': 'small', 'gen_ai.request.temperature': 0.5,
        'gen_ai.usage.input_tokens': 3, 'gen_ai.usage.cache_read.input_tokens': 2,
        'gen_ai.input.messages': '[{"role":"user"}]', 'gen_ai.completion.0.role': 'assistant',
        'gen_ai.conversation.id': 't', 'langsmith.span.tags': 'a,b',
        'traceloop.association.properties.user': 'ada', 'langsmith.trace.session_name': 'demo' },
    }]))
    expect(await metadataIn(house)).toEqual({ ...ids, thread_id: 't', ls_provider: 'openai',
      ls_model_name: 'small', user: 'ada' })
  })

  it('keeps numbers that JSON would change', async () => {
    const house = ingestHouse()
    const attributes = [{ key: 'long', value: { intValue: '9007199254740993' } }, { key: 'none',
      value: { doubleValue: 'NaN' } }, { key: 'empty', value: {} }]
    await send(house, bodyOf([{ span: { attributes } }]))
    expect(await metadataIn(house)).toMatchObject({ 'OTEL_ATTRIBUTES.long': '9007199254740993',
      'OTEL_ATTRIBUTES.none': 'NaN', 'OTEL_ATTRIBUTES.empty': null })
  })
})

const question: RunsQuestion = { tenant: 'acme', projects: [projectOf(projectId('demo'))],
  order: 'oldest', limit: 100, version: 1 }

const handlersOf = ({ store, env }: IngestHouse) => queryHandlers({ store, env })

it('What is kept is found by filters and divides statistics, also beyond 200 keys', async () => {
  const house = ingestHouse()
  const many = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`key ${n}`, n]))
  await send(house,
    bodyOf([{ attributes: { ...many, method: 'GET' }, resource: { 'service.name': 'shop' } }, {
      attributes: { method: 'PUT', ok: true },
    }]))
  const foundBy = async (filter: string) => {
    const answer = await handlersOf(house).runs({ ...question, filter })
    const { runs } = JSON.parse(Buffer.from(answer).toString()) as { runs: { id: string }[] }
    return runs.map(({ id }) => Number.parseInt(id.slice(-4), 16) - 1)
  }
  expect(await foundBy('has(metadata, \'{"OTEL_ATTRIBUTES.method": "GET"}\')')).toEqual([0])
  expect(await foundBy('has(metadata, \'{"OTEL_ATTRIBUTES.ok": true}\')')).toEqual([1])
  expect(await foundBy('eq(metadata_key, "OTEL_RESOURCE.service.name")')).toEqual([0, 1])
  expect(await foundBy('neq(metadata_key, "OTEL_ATTRIBUTES.key 299")')).toEqual([1])
  expect(await foundBy(
    'and(eq(metadata_key, "OTEL_ATTRIBUTES.key 299"), eq(metadata_value, "299"))',
  )).toEqual([0])
  expect(await foundBy('search("shop")')).toEqual([])
  const stats = await handlersOf(house).stats({ ...question,
    groupBy: { attribute: 'metadata', path: 'OTEL_ATTRIBUTES.method', maxGroups: 5 } })
  expect(Object.keys(JSON.parse(Buffer.from(stats).toString()) as object).sort())
    .toEqual(['GET', 'PUT'])
})

/** Attributes of every convention, as likely as those that nobody knows. */
const words = ['a', 'http.route', 'gen_ai.prompt', 'gen_ai.completion', 'gen_ai.input.messages',
  'gen_ai.request.model', 'gen_ai.response.model', 'gen_ai.operation.name', 'gen_ai.tool.name',
  'gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens', 'input.value', 'output.value',
  'llm.invocation_parameters', 'langsmith.metadata.user', 'langsmith.metadata.OTEL_KIND',
  'langsmith.span.kind', 'langsmith.trace.name', 'langsmith.span.tags', 'metadata', 'tag.tags',
  'openinference.span.kind', 'session.id', 'traceloop.entity.name', 'heddle.other', 'model']
const value = fc.oneof(fc.constantFrom<Value>('chat', '{"a":1}', '[{"role":"user"}]', 7, true),
  fc.string())
const attributes = fc.dictionary(fc.constantFrom(...words), value, { maxKeys: 8 })
const scopes = fc.record({ name: fc.constantFrom('', 'lib'), version: fc.constantFrom('', '1'),
  attributes: fc.dictionary(fc.constantFrom('a', 'name', 'attributes.b'), value).map(pairs) })
const events = fc.array(fc.constantFrom('gen_ai.user.message', 'exception', 'gen_ai.choice').map(
  (name) => ({ name, timeUnixNano: '1764187200123456000', droppedAttributesCount: 2,
    attributes: pairs({ 'exception.message': 'no', content: '{"q":1}' }) }),
), { maxLength: 2 })
const aSpan = fc.record({ attributes,
  resource: fc.dictionary(fc.constantFrom('service.name', 'b'), value), scope: scopes,
  span: fc.record({ kind: fc.nat({ max: 7 }), events, traceState: fc.constantFrom('', 'a=b'),
    status: fc.record({ code: fc.nat({ max: 2 }), message: fc.constantFrom('', 'm') }),
    links: fc.array(fc.constant({ traceId: idOf(3, 32), spanId: idOf(3), flags: 1 }), {
      maxLength: 1,
    }) }) })

async function exportedFrom(house: IngestHouse): Promise<Buffer> {
  const { lines } = await handlersOf(house).exported({ ...question, form: 'otlp' })
  return Buffer.from(lines)
}

it('Given out and sent in again, a span has the same payload and the same origin', async () => {
  await expectAlways(fc.asyncProperty(aSpan, async (given) => {
    const [first, second] = [ingestHouse(), ingestHouse()]
    // A kind that no exporter has would reject the span.
    const { 'langsmith.span.kind': _, ...own } = given.attributes
    await send(first, bodyOf([{ ...given, attributes: own }]))
    const request = await exportedFrom(first)
    await send(second, request)
    const payloads = async (house: IngestHouse) =>
      [...(await house.spans()).values()].map(({ payload, name, type }) => ({ payload, name,
        type })
      )
    expect(await payloads(second)).toEqual(await payloads(first))
    const { resourceSpans: [out] } = JSON.parse(request.toString()) as {
      resourceSpans: [
        { resource: { attributes?: object[] };
          scopeSpans: [{ spans: [{ attributes: { key: string }[] }] }] },
      ]
    }
    if (Object.keys(given.resource).length > 0) {
      expect(out.resource.attributes).toEqual(
        pairs(given.resource).map((each) => expect.objectContaining({ key: each.key }) as unknown),
      )
    }
    if (given.attributes['http.route'] !== undefined) {
      expect(out.scopeSpans[0].spans[0].attributes.map(({ key }) => key)).toContain('http.route')
    }
  }), { share: 4 })
})

it('Lines of runs that are given out come back into one trace, whatever it came in', async () => {
  const [first, second] = [ingestHouse(), ingestHouse()]
  const spans = [2, 1, 0].map((n) => ({ traceId: idOf(0, 32), spanId: idOf(n), name: `span ${n}`,
    ...n > 0 && { parentSpanId: idOf(n - 1) }, startTimeUnixNano: `176418720012345${n}000` })
  )
  for (const span of spans) await send(first, bodyOf([{ span }]))
  const read = async (house: IngestHouse) => {
    const trace = '00000000-0000-0000-0000-000000000001'
    const answer = await handlersOf(house).runs({ ...question, trace })
    const { runs } = JSON.parse(Buffer.from(answer).toString()) as {
      runs: Record<string, unknown>[]
    }
    return runs.map((run) =>
      ['id', 'parent_run_id', 'parent_run_ids', 'trace_id', 'dotted_order', 'execution_order',
        'name'].map((name) => run[name])
    )
  }
  const { lines } = await handlersOf(first).exported({ ...question, form: 'jsonl' })
  const runs = Buffer.from(lines).toString().trim().split('\n').map((line) =>
    JSON.parse(line) as Record<string, unknown>
  )
  for (const run of runs.reverse()) {
    await second.send({ form: 'batch',
      body: Buffer.from(JSON.stringify({ post: [{ ...run, session_name: 'demo' }] })) })
  }
  const trace = await read(first)
  expect(trace.map(([, , parents]) => (parents as string[]).length)).toEqual([0, 1, 2])
  expect(await read(second)).toEqual(trace)
})

/** Bytes of blocks and of rows that the spans of a body of protobuf take. */
async function bytesAtRest(body: Uint8Array): Promise<number> {
  let bytes = 0
  const house = ingestHouse((store) => ({ ...store, write: (request) => {
    for (const { data } of request.blocks) bytes += data.byteLength
    for (const { terms } of request.spans) bytes += 8 * terms.length
    return store.write(request)
  } }))
  // A long body is moved away.
  await house.send({ form: 'otlp', contentType: 'application/x-protobuf', body: Buffer.from(body) })
  return bytes
}

const messages = (values: Readonly<Record<string, string | number>>): KeyValue[] =>
  Object.entries(values).map(([key, value]) => ({ key, value: { value: typeof value === 'string'
    ? { $case: 'stringValue', value }
    : { $case: 'intValue', value: String(value) } } })
  )

it('Attributes that nobody knows cost 1.2 times their bytes at most', async () => {
  const count = 20
  const unknown = (n: number) => ({ 'http.request.method': n % 2 ? 'GET' : 'POST',
    'url.path': `/cart/${randomBytes(6).toString('hex')}`, 'user_agent.original': `agent ${n % 7}`,
    'http.response.status_code': 200 + n % 3, 'network.peer.port': 40_000 + n * 7 % 9_999,
    note: randomBytes(24).toString('base64') })
  const resource = { 'service.name': 'shop', 'telemetry.sdk.language': 'nodejs',
    'telemetry.sdk.name': 'opentelemetry', 'telemetry.sdk.version': '2.0.1',
    'process.runtime.version': '24.21.0', 'host.name': 'web-7' }
  // All in one trace, and each in a trace of its own.
  for (const traceOf of [() => 0, (n: number) => n]) {
    const bodyWith = (attributesOf: (n: number) => Readonly<Record<string, string | number>>,
      shared: Readonly<Record<string, string>> = {}) =>
      otlpBytes({ resource: { attributes: messages(shared) }, scopeSpans: [{
        spans: Array.from({ length: count },
          (_, n) => ({ name: 'a span', traceId: Buffer.from(idOf(traceOf(n), 32), 'hex'),
            spanId: Buffer.from(idOf(n), 'hex'), startTimeUnixNano: '1764187200123456789',
            attributes: messages({
              'input.value': 'Why is that? '.repeat(30),
              ...attributesOf(n),
            }) })),
      }] })
    const [bare, more, within] = [bodyWith(() => ({})), bodyWith(unknown),
      bodyWith(() => ({}), resource)]
    const rest = await bytesAtRest(bare)
    const ratio = (await bytesAtRest(more) - rest) / (more.length - bare.length)
    // What a resource says counts for each of its spans.
    const ofResource = (await bytesAtRest(within) - rest) / (within.length - bare.length) / count
    expect(ratio).toBeLessThan(1.2)
    expect(ofResource).toBeLessThan(1.2)
  }
})
