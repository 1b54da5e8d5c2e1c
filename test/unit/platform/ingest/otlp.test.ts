/** What exporters of OpenTelemetry send, in both encodings, as operations. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { TraceResponse } from '../../../../proto/gen/otlp/v1/trace.ts'
import type { AnyValue, KeyValue } from '../../../../proto/gen/otlp/v1/trace.ts'
import { HeddleError } from '../../../../src/errors.ts'
import { mapSpans } from '../../../../src/platform/ingest/otlp/otlp-mapping.ts'
import { otlpAnswer, readOtlp } from '../../../../src/platform/ingest/otlp/otlp.ts'
import { filedStartUs } from '../../../../src/platform/spans/trace-place.ts'
import { expectAlways } from '../../../support/expect-always.ts'
import { otlpBytes } from '../../../support/otlp-message.ts'

type Given = string | number | boolean | Buffer | readonly Given[] | {
  readonly [key: string]: Given
}

const valueOf = (value: Given): AnyValue => {
  if (typeof value === 'string') return { value: { $case: 'stringValue', value } }
  if (typeof value === 'boolean') return { value: { $case: 'boolValue', value } }
  if (typeof value === 'number') {
    return Number.isInteger(value)
      ? { value: { $case: 'intValue', value: String(value) } }
      : { value: { $case: 'doubleValue', value } }
  }
  if (Buffer.isBuffer(value)) return { value: { $case: 'bytesValue', value } }
  if (Array.isArray(value)) {
    return { value: { $case: 'arrayValue', value: { values: value.map(valueOf) } } }
  }
  const pairs = pairsOf(value as Record<string, Given>)
  return { value: { $case: 'kvlistValue', value: { values: pairs } } }
}

const pairsOf = (attributes: Readonly<Record<string, Given>>): KeyValue[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: valueOf(value) }))

interface Shape {
  readonly id?: string
  readonly parent?: string
  readonly attributes?: Readonly<Record<string, Given>>
  readonly events?: readonly { readonly name: string;
    readonly attributes: Readonly<Record<string, Given>> }[]
  readonly failed?: string
}

const traceId = '5b8efff798038103d269b633813fc60c'
const nanos = '1764187200123456789'

const spanOf = (
  { id = 'eee19b7ec3c1b174', parent = '', attributes = {}, events = [], failed }: Shape,
) => ({
  traceId: Buffer.from(traceId, 'hex'),
  spanId: Buffer.from(id, 'hex'),
  parentSpanId: Buffer.from(parent, 'hex'),
  name: 'a span',
  startTimeUnixNano: nanos,
  endTimeUnixNano: '1764187201123456789',
  attributes: pairsOf(attributes),
  events: events.map((event) => ({ name: event.name, timeUnixNano: nanos,
    attributes: pairsOf(event.attributes) })
  ),
  status: failed === undefined ? undefined : { code: 2, message: failed },
})

const bytesOf = (...shapes: readonly Shape[]) =>
  otlpBytes({ resource: { attributes: pairsOf({ 'service.name': 'shop' }) },
    scopeSpans: [{ spans: shapes.map(spanOf) }] })

/** The members of the one span, read from protobuf. */
function mapped(shape: Shape, project?: string) {
  const [first] = mapSpans(readOtlp(bytesOf(shape), 'protobuf'), project)
  return (first as unknown as { run: RunSeen }).run
}

interface RunSeen {
  readonly run_type: string
  readonly session_name: string
  readonly inputs?: unknown
  readonly outputs?: unknown
  readonly error?: string
  readonly extra: { readonly metadata: object }
}

describe('a span', () => {
  it('has ids that are its own, and the trace of its trace id', () => {
    expect(mapped({ parent: 'aaaaaaaaaaaaaaaa' })).toMatchObject({
      id: '00000000-0000-0000-eee1-9b7ec3c1b174',
      trace_id: '5b8efff7-9803-8103-d269-b633813fc60c',
      parent_run_id: '00000000-0000-0000-aaaa-aaaaaaaaaaaa',
      start_time: '2025-11-26T20:00:00.123456Z',
      end_time: '2025-11-26T20:00:01.123456Z',
      session_name: 'default',
      name: 'a span',
      run_type: 'chain',
    })
    expect(mapped({})).not.toHaveProperty('parent_run_id')
  })

  it('has bytes that are text as text, and others in base64', () => {
    expect(mapped({
      attributes: { 'gen_ai.prompt': Buffer.from('{"q":"é"}'),
        'gen_ai.completion': Buffer.from([0xff, 0xfe]) },
    })).toMatchObject({ inputs: { q: 'é' }, outputs: { text: '//4=' } })
  })

  it('is below what a processor says that leaves out spans of others', () => {
    const [root, leaf] = ['aaaaaaaaaaaaaaa1', 'aaaaaaaaaaaaaaa3']
    const [above, below] = [...mapSpans(readOtlp(bytesOf(
      { id: root, parent: 'bbbbbbbbbbbbbbb1', attributes: { 'langsmith.is_root': true } },
      { id: leaf, parent: 'bbbbbbbbbbbbbbb2',
        attributes: { 'langsmith.traceable_parent_otel_span_id': root,
          'langsmith.span.parent_id': `00000000-0000-0000-aaaa-${root.slice(4)}` } },
    ), 'protobuf'), undefined)].map((each) => (each as { run: Record<string, string> }).run)
    expect(above).not.toHaveProperty('parent_run_id')
    expect(below!['parent_run_id']).toBe(above!['id'])
  })

  it.each<[Record<string, Given>, string]>([
    [{ 'langsmith.span.kind': 'LLM' }, 'llm'],
    [{ 'gen_ai.operation.name': 'chat' }, 'llm'],
    [{ 'gen_ai.operation.name': 'execute_tool' }, 'tool'],
    [{ 'gen_ai.operation.name': 'invoke_agent' }, 'chain'],
    [{ 'gen_ai.operation.name': 'embeddings' }, 'embedding'],
    [{ 'openinference.span.kind': 'RETRIEVER' }, 'retriever'],
    [{ 'traceloop.span.kind': 'workflow' }, 'chain'],
    [{ 'gen_ai.tool.name': 'search' }, 'tool'],
    [{ 'llm.prompt_template.variables': '{}' }, 'prompt'],
    [{ 'gen_ai.request.model': 'small', 'gen_ai.usage.input_tokens': 1 }, 'llm'],
    [{ 'llm.token_count.prompt': 1 }, 'llm'],
    [{ agent_name: 'shop', 'gen_ai.usage.input_tokens': 1 }, 'chain'],
    [{ 'ai.operationId': 'ai.generateText', 'gen_ai.request.model': 'small' }, 'chain'],
    [{ 'ai.operationId': 'ai.streamText.doStream' }, 'llm'],
    [{ 'ai.operationId': 'ai.embed.doEmbed' }, 'embedding'],
    [{ 'ai.operationId': 'ai.toolCall' }, 'tool'],
    [{ 'langfuse.observation.type': 'generation' }, 'llm'],
    [{ 'langfuse.observation.type': 'span' }, 'chain'],
    [{ 'traceloop.llm.request.type': 'embedding' }, 'embedding'],
    [{ 'traceloop.llm.request.type': 'chat' }, 'llm'],
  ])('with %o is a %s', (attributes, type) => {
    expect(mapped({ attributes }).run_type).toBe(type)
  })

  it.each<[Record<string, Given>, unknown, unknown]>([
    [{ 'gen_ai.prompt': '{"q":1}', 'gen_ai.completion': 'yes' }, { q: 1 }, { text: 'yes' }],
    [{ 'input.value': 'why?', 'output.value': '["a"]' }, { input: 'why?' }, { text: ['a'] }],
    [{ 'gen_ai.prompt.0.role': 'user', 'gen_ai.prompt.0.content': 'hi',
      'gen_ai.completion.0.message.content': 'ho' }, {
      messages: [{ role: 'user', content: 'hi' }],
    }, { messages: [{ content: 'ho' }] }],
    [{ 'llm.input_messages.1.message.role': 'b', 'llm.input_messages.0.message.role': 'a' }, {
      messages: [{ role: 'a' }, { role: 'b' }],
    }, undefined],
    [{ 'gen_ai.input.messages': '[{"role":"user"}]', 'gen_ai.output.messages': [{ role: 'x' }] }, {
      messages: [{ role: 'user' }],
    }, { messages: [{ role: 'x' }] }],
    [{ 'ai.prompt.messages': '[{"role":"user"}]', 'ai.response.text': 'ho',
      'ai.response.toolCalls': '[{"toolName":"x"}]' }, { input: [{ role: 'user' }] }, { text: 'ho',
      tool_calls: [{ toolName: 'x' }] }],
    [{ 'ai.toolCall.args': '{"a":1}', 'ai.toolCall.result': '{"b":2}' }, { a: 1 }, { b: 2 }],
    [{ tool_arguments: '{"a":1}', tool_response: 'ho' }, { a: 1 }, { text: 'ho' }],
    [{ 'langfuse.observation.input': '{"a":1}', 'langfuse.observation.output': 'ho' }, { a: 1 }, {
      text: 'ho',
    }],
    [{ 'langfuse.trace.input': 'why?', 'langfuse.trace.output': 'ho' }, { input: 'why?' }, {
      text: 'ho',
    }],
    [{ request_data: '{"model":"m"}', response_data: '{"message":{}}' }, { model: 'm' }, {
      message: {},
    }],
    [{ 'pydantic_ai.all_messages': '[{"role":"user"},{"role":"assistant"}]' }, {
      messages: [{ role: 'user' }],
    }, { messages: [{ role: 'user' }, { role: 'assistant' }] }],
    [{
      'pydantic_ai.all_messages':
        '[{"role":"user","n":1},{"role":"assistant"},{"role":"user","n":2},{"role":"assistant"}]',
      'pydantic_ai.new_message_index': 2,
      final_result: 'ho',
    }, { messages: [{ role: 'user', n: 1 }, { role: 'assistant' }, { role: 'user', n: 2 }] }, {
      text: 'ho',
    }],
    [{ all_messages_events: '[{"role":"system"},{"role":"user"},{"role":"assistant"}]' }, {
      messages: [{ role: 'system' }, { role: 'user' }],
    }, { text: [{ role: 'system' }, { role: 'user' }, { role: 'assistant' }] }],
    [{ 'llm.input_messages.0.message.role': 'user',
      'llm.input_messages.0.message.contents.1.message_content.image.image.url': 'data:x',
      'llm.input_messages.0.message.contents.0.message_content.type': 'text',
      'llm.input_messages.0.message.contents.0.message_content.text': 'hi',
      'llm.output_messages.0.message.role': 'assistant',
      'llm.output_messages.0.message.tool_calls.0.tool_call.id': 'c1',
      'llm.output_messages.0.message.tool_calls.0.tool_call.function.name': 'search',
      'llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments': '{"q":"x"}' }, {
      messages: [{ role: 'user',
        content: [{ type: 'text', text: 'hi' }, { image: { image: { url: 'data:x' } } }] }],
    }, {
      messages: [{ role: 'assistant',
        tool_calls: [{ id: 'c1', function: { name: 'search', arguments: { q: 'x' } } }] }],
    }],
    [{ 'gen_ai.input.messages.0.role': 'user', 'gen_ai.input.messages.0.parts.0.type': 'text',
      'gen_ai.input.messages.0.parts.0.content': 'hi',
      'gen_ai.completion.0.tool_calls.0.name': 'search',
      'gen_ai.completion.0.tool_calls.0.arguments': '{}' }, {
      messages: [{ role: 'user', parts: [{ type: 'text', content: 'hi' }] }],
    }, { messages: [{ tool_calls: [{ name: 'search', arguments: {} }] }] }],
    [{ 'llm.prompts.0.prompt.text': 'hi', 'llm.choices.0.completion.text': 'ho' }, {
      prompts: [{ text: 'hi' }],
    }, { choices: [{ text: 'ho' }] }],
    [{ 'reranker.query': 'q', 'reranker.input_documents.0.document.content': 'a',
      'reranker.output_documents.0.document.id': 'd1',
      'reranker.output_documents.0.document.score': 0.5 }, { query: 'q',
      documents: [{ page_content: 'a', metadata: {}, type: 'Document' }] }, {
      documents: [{ id: 'd1', score: 0.5, page_content: '', metadata: {}, type: 'Document' }],
    }],
    [{ 'embedding.embeddings.0.embedding.text': 'hi',
      'embedding.embeddings.0.embedding.vector': [0.1] }, undefined, {
      embeddings: [{ text: 'hi', vector: [0.1] }],
    }],
    [{ 'ai.value': '"day"', 'ai.embedding': '[0.1]' }, { input: '"day"' }, { embedding: [0.1] }],
    [{ 'ai.values': ['"day"'], 'ai.embeddings': ['[0.1]'] }, { input: ['"day"'] }, {
      embeddings: ['[0.1]'],
    }],
    [{ 'retrieval.documents.0.document.content': 'text',
      'retrieval.documents.0.document.metadata': '{"a":1}' }, undefined, {
      documents: [{ page_content: 'text', metadata: { a: 1 }, type: 'Document' }],
    }],
  ])('with %o has its inputs and outputs', (attributes, inputs, outputs) => {
    const run = mapped({ attributes })
    expect(run.inputs).toEqual(inputs)
    expect(run.outputs).toEqual(outputs)
  })

  it.each<[Record<string, Given>, object]>([
    [{ 'llm.tools.0.tool.json_schema': '{"name":"search"}' }, { tools: [{ name: 'search' }] }],
    [{ 'llm.request.functions.1.name': 'b', 'llm.request.functions.0.name': 'a',
      'llm.request.functions.0.parameters': '{"type":"object"}' }, {
      tools: [{ name: 'a', parameters: { type: 'object' } }, { name: 'b' }],
    }],
    [{ 'gen_ai.tool.definitions.0.name': 'a' }, { tools: [{ name: 'a' }] }],
    [{ 'gen_ai.request.stop_sequences.0': 'x', 'gen_ai.request.stop_sequences.1': 'y' }, {
      stop: ['x', 'y'],
    }],
  ])('with %o has nested parameters', (attributes, parameters) => {
    const { extra } = mapped({ attributes })
    expect(extra).toMatchObject({ invocation_params: parameters })
    expect(Object.keys(extra.metadata).filter((key) => /\.\d/.test(key))).toEqual([])
  })

  it('keeps the second of two attributes at one place as metadata', () => {
    const { inputs, extra } = mapped({
      attributes: { 'gen_ai.prompt.0.content': 'hi', 'gen_ai.prompt.0.content.text': 'ho',
        'gen_ai.prompt.01.content': 'hu' },
    })
    expect(inputs).toEqual({ messages: [{ content: 'hi' }] })
    expect(extra.metadata).toMatchObject({ 'OTEL_ATTRIBUTES.gen_ai.prompt.0.content.text': 'ho',
      'OTEL_ATTRIBUTES.gen_ai.prompt.01.content': 'hu' })
  })

  const kinds = { cache_read: 900, cache_creation: 50 }
  const tokens = { 'gen_ai.usage.input_tokens': 1000, 'gen_ai.usage.output_tokens': 10 }
  it.each<[string, Record<string, Given>]>([
    ['OpenTelemetry', { ...tokens, 'gen_ai.usage.cache_read.input_tokens': 900,
      'gen_ai.usage.cache_creation.input_tokens': 50 }],
    ['OpenLLMetry', { ...tokens, 'gen_ai.usage.cache_read_input_tokens': 900,
      'gen_ai.usage.cache_creation_input_tokens': 50 }],
    ['JSON', { ...tokens, 'gen_ai.usage.input_token_details': JSON.stringify(kinds) }],
    ['OpenInference', { 'llm.token_count.prompt': 1000, 'llm.token_count.completion': 10,
      'llm.token_count.prompt_details.cache_read': 900,
      'llm.token_count.prompt_details.cache_write': 50 }],
    ['the AI SDK', { 'ai.usage.inputTokens': 1000, 'ai.usage.outputTokens': 10,
      'ai.usage.cachedInputTokens': 900, 'ai.usage.inputTokenDetails.cacheWriteTokens': 50 }],
    ['Pydantic AI', { ...tokens, 'gen_ai.usage.details.cache_read_tokens': 900,
      'gen_ai.usage.details.cache_write_tokens': 50 }],
    ['Langfuse', {
      'langfuse.observation.usage_details': JSON.stringify({ input: 50,
        cache_read_input_tokens: 900, cache_creation_input_tokens: 50, output: 10 }),
    }],
  ])('has its kinds of tokens in the words of %s', (_, attributes) => {
    expect(mapped({ attributes }).outputs).toEqual({
      usage_metadata: { input_tokens: 1000, output_tokens: 10, total_tokens: 1010,
        input_token_details: kinds },
    })
  })

  it('has its usage, model, metadata, tags, thread and project', () => {
    expect(
      mapped({
        attributes: { 'gen_ai.usage.input_tokens': 3, 'gen_ai.usage.completion_tokens': '4',
          'gen_ai.provider.name': 'openai', 'gen_ai.request.model': 'small',
          'gen_ai.request.temperature': 0.5, 'gen_ai.request.stop_sequences': ['x'],
          'langsmith.metadata.user': 'ada', 'langsmith.span.tags': ' a, b,,',
          'gen_ai.conversation.id': 't1', 'langsmith.trace.session_name': 'shop' },
      }),
    ).toMatchObject({
      outputs: { usage_metadata: { input_tokens: 3, output_tokens: 4, total_tokens: 7 } },
      tags: ['a', 'b'],
      session_name: 'shop',
      extra: {
        metadata: { ls_provider: 'openai', ls_model_name: 'small', user: 'ada', thread_id: 't1',
          OTEL_TRACE_ID: traceId },
        invocation_params: { model: 'small', temperature: 0.5, stop: ['x'] },
      },
    })
    expect(mapped({ attributes: { 'langsmith.trace.session_name': 'shop' } }, 'mine')
      .session_name).toBe('shop')
    expect(mapped({}, 'mine').session_name).toBe('mine')
  })

  it.each<[string, Record<string, Given>, object, object]>([
    ['Langfuse', { 'langfuse.trace.name': 'shop', 'langfuse.trace.tags': ['a'], 'user.id': 'ada',
      'langfuse.session.id': 't1', 'langfuse.trace.metadata.tier': 'gold',
      'langfuse.observation.metadata.step': 2, 'langfuse.observation.level': 'ERROR',
      'langfuse.observation.status_message': 'no',
      'langfuse.observation.model.parameters': '{"temperature":1}',
      'langfuse.observation.usage_details': '{"input":3,"output":4}',
      'langfuse.observation.cost_details': '{"input":0.1,"output":0.2}' }, { name: 'shop',
      tags: ['a'], error: 'no', outputs: {
        usage_metadata: { input_tokens: 3, output_tokens: 4, total_tokens: 7, input_cost: 0.1,
          output_cost: 0.2 },
      } }, { user_id: 'ada', thread_id: 't1', tier: 'gold', step: 2, OTEL_NAME: 'a span',
      'OTEL_ATTRIBUTES.langfuse.observation.level': 'ERROR' }],
    ['Logfire', { 'logfire.msg': 'shop', 'logfire.msg_template': 'a span',
      'logfire.tags': ['LLM'] }, { name: 'a span', tags: ['LLM'] }, {
      'OTEL_ATTRIBUTES.logfire.msg': 'shop',
      'OTEL_ATTRIBUTES.logfire.msg_template': 'a span',
    }],
    ['the AI SDK', { 'ai.toolCall.name': 'search', 'ai.telemetry.metadata.userId': 'ada',
      'ai.telemetry.functionId': 'shop' }, { name: 'search' }, { userId: 'ada', OTEL_NAME: 'a span',
      'OTEL_ATTRIBUTES.ai.telemetry.functionId': 'shop' }],
    ['Pydantic AI', { 'gen_ai.usage.input_tokens': 3, 'operation.cost': 0.5 }, {
      outputs: { usage_metadata: { input_tokens: 3, total_tokens: 3, total_cost: 0.5 } },
    }, {}],
  ])('has its name, tags, user and costs in the words of %s', (_, attributes, run, metadata) => {
    const seen = mapped({ attributes }) as unknown as { extra: { metadata: object } }
    expect(seen).toMatchObject(run)
    expect(seen.extra.metadata).toEqual({ ...metadata, OTEL_TRACE_ID: traceId,
      OTEL_SPAN_ID: 'eee19b7ec3c1b174', 'OTEL_RESOURCE.service.name': 'shop' })
  })

  it('has the message of Logfire as its name where a template would be it', () => {
    const [template, msg] = ['Chat with {model!r}', "Chat with 'small'"]
    const spans = readOtlp(otlpBytes({ scopeSpans: [{ spans: [{ ...spanOf({
      attributes: { 'logfire.msg': msg, 'logfire.msg_template': template },
    }), name: template }] }] }), 'protobuf')
    expect([...mapSpans(spans, undefined)]).toMatchObject([{ run: { name: msg } }])
  })

  it('fails as its status or its exception says', () => {
    expect(mapped({ failed: 'broken' }).error).toBe('broken')
    expect(
      mapped({ failed: '',
        events: [{ name: 'exception',
          attributes: { 'exception.message': 'no', 'exception.stacktrace': 'at x' } }] }).error,
    )
      .toBe('no\n\nat x')
    expect(mapped({})).not.toHaveProperty('error')
  })
})

const jsonValueOf = (value: Given): unknown => {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value === 'number') {
    return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
  }
  if (Buffer.isBuffer(value)) return { bytesValue: value.toString('base64') }
  if (Array.isArray(value)) return { arrayValue: { values: value.map(jsonValueOf) } }
  return { kvlistValue: { values: jsonPairs(value as Record<string, Given>) } }
}
const jsonPairs = (attributes: Readonly<Record<string, Given>>) =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: jsonValueOf(value) }))

it('JSON and protobuf say the same', () => {
  const given = fc.letrec<{ value: Given }>((tie) => ({
    value: fc.oneof({ depthSize: 'small' }, fc.string(), fc.boolean(), fc.integer(),
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      fc.double({ noNaN: true, noDefaultInfinity: true }).filter((n) => !Number.isInteger(n)),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.string(), tie('value'), { maxKeys: 3 }) as fc.Arbitrary<Given>),
  })).value
  expectAlways(fc.property(fc.dictionary(fc.string(), given, { maxKeys: 5 }), (attributes) => {
    const json = {
      resourceSpans: [{
        scopeSpans: [{
          spans: [{ traceId, spanId: 'eee19b7ec3c1b174', name: 'a span', startTimeUnixNano: nanos,
            endTimeUnixNano: Number(nanos), attributes: jsonPairs(attributes), unknown: 1 }],
          unknown: {},
        }],
      }],
    }
    const [read] = readOtlp(Buffer.from(JSON.stringify(json)), 'json')
    const [same] = readOtlp(bytesOf({ attributes }), 'protobuf')
    expect([...read!.attributes.left()]).toEqual([...same!.attributes.left()])
    expect(read).toMatchObject({ traceId, spanId: 'eee19b7ec3c1b174', parentId: '',
      startUs: 1764187200123456 })
  }))
})

it('A body that is cut off or made up is malformed, or has fewer spans: nothing else', () => {
  const whole = bytesOf({ attributes: { a: 'b' } }, { failed: 'x' })
  expectAlways(fc.property(
    fc.oneof(fc.nat(whole.length).map((end) => whole.subarray(0, end)), fc.uint8Array()),
    fc.constantFrom('protobuf' as const, 'json' as const),
    (bytes, encoding) => {
      try {
        void [...mapSpans(readOtlp(bytes, encoding), undefined)]
      } catch (error) {
        expect(error).toBeInstanceOf(HeddleError)
      }
    },
  ))
})

it('Spans without a whole id or a start are rejected alone', () => {
  const spans = readOtlp(bytesOf({ id: 'aa' }, {}, { id: '0000000000000000' }), 'protobuf')
  expect([...mapSpans(spans, undefined)].map((each) => 'rejected' in each))
    .toEqual([true, false, true])
})

it('The answer has the encoding of the request, and says what was rejected', () => {
  expect(otlpAnswer('protobuf', [])).toHaveLength(0)
  expect(Buffer.from(otlpAnswer('json', [])).toString()).toBe('{}')
  expect(JSON.parse(Buffer.from(otlpAnswer('json', ['No.', 'No.'])).toString()))
    .toEqual({ partialSuccess: { rejectedSpans: '2', errorMessage: 'No.' } })
  expect(TraceResponse.decode(otlpAnswer('protobuf', ['No.'])).partialSuccess)
    .toEqual({ rejectedSpans: '1', errorMessage: 'No.' })
})

it('All spans of a trace are filed under the same minute', () => {
  expect(filedStartUs('5b8efff7-9803-8103-d269-b633813fc60c'))
    .toBe((0x5b8efff7 % 4_096) * 60_000_000)
})
