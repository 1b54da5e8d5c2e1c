/**
 * The exporters of OpenTelemetry for JavaScript, unmodified, over HTTP: protobuf and JSON, with
 * gzip and without. The LangSmith client reads back what they sent.
 *
 * Usage: node otlp-driver.mjs <base URL> <name of the project>
 */

import assert from 'node:assert/strict'

import { context, diag, DiagConsoleLogger, DiagLogLevel, SpanStatusCode,
  trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { Client } from 'langsmith'

import { check, collect } from './report.mjs'

const [base, project] = process.argv.slice(2)
const client = new Client({ apiUrl: base, apiKey: 'a key' })

// What an exporter cannot deliver it only says here.
diag.setLogger(new DiagConsoleLogger(), DiagLogLevel.WARN)
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())

function send(Exporter, compression, here, work) {
  const exporter = new Exporter({ url: `${base}/otel/v1/traces`, compression,
    headers: { 'x-api-key': 'a key', 'Langsmith-Project': here } })
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'shop' }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  })
  work(provider.getTracer('driver'))
  return provider.shutdown()
}

const runsIn = (projectName, more = {}) => collect(client.listRuns({ projectName, ...more }))

/** An agent that asks a model by the conventions for generative models, and fails with a tool. */
function agent(tracer) {
  tracer.startActiveSpan('invoke_agent planner', { attributes: {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.conversation.id': 'talk 1',
    'langsmith.metadata.user': 'ada',
    'langsmith.span.tags': 'first, second',
  } }, (root) => {
    const model = tracer.startSpan('chat small', { attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'small',
      'gen_ai.request.temperature': 0.5,
      'gen_ai.usage.input_tokens': 12,
      'gen_ai.usage.output_tokens': 4,
      'gen_ai.input.messages': JSON.stringify([{ role: 'user',
        parts: [{ type: 'text', content: 'Why?' }] }]),
      'gen_ai.output.messages': JSON.stringify([{ role: 'assistant',
        parts: [{ type: 'text', content: 'Because.' }], finish_reason: 'stop' }]),
    } })
    model.end()
    const tool = tracer.startSpan('execute_tool search', { attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'search',
      'gen_ai.tool.call.arguments': '{"q":"why"}',
    } })
    tool.recordException(new TypeError('This is meant to fail.'))
    tool.setStatus({ code: SpanStatusCode.ERROR, message: 'failed' })
    tool.end()
    root.end()
  })
}

const exporters = [['protobuf', ProtobufExporter, 'none'], ['protobuf, gzip', ProtobufExporter,
  'gzip'], ['JSON', JsonExporter, 'none'], ['JSON, gzip', JsonExporter, 'gzip']]

for (const [name, Exporter, compression] of exporters) {
  await check(`an agent, ${name}`, async () => {
    const here = `${project} ${name}`
    await send(Exporter, compression, here, agent)
    const runs = await runsIn(here)
    assert.deepEqual(runs.map((run) => `${run.run_type} ${run.name}`).sort(), [
      'chain invoke_agent planner',
      'llm chat small',
      'tool execute_tool search',
    ])
    const [root, model, tool] = ['chain', 'llm', 'tool'].map((type) =>
      runs.find((run) => run.run_type === type)
    )
    assert.equal(root.parent_run_id, null)
    assert.deepEqual([model.parent_run_id, tool.parent_run_id], [root.id, root.id])
    assert.equal(new Set(runs.map((run) => run.trace_id)).size, 1)
    assert.deepEqual(root.tags, ['first', 'second'])
    assert.equal(root.extra.metadata.user, 'ada')
    assert.equal(model.inputs.messages[0].parts[0].content, 'Why?')
    assert.equal(model.outputs.messages[0].parts[0].content, 'Because.')
    assert.deepEqual([model.prompt_tokens, model.completion_tokens, model.total_tokens], [12, 4,
      16])
    assert.equal(model.extra.invocation_params.temperature, 0.5)
    assert.deepEqual(tool.inputs, { q: 'why' })
    assert.match(tool.error, /This is meant to fail/)
    assert.equal(tool.status, 'error')
    assert.equal(root.status, 'success')
    assert.deepEqual(
      (await runsIn(here, { filter: 'eq(thread_id, "talk 1")', isRoot: true }))
        .map((run) => run.id),
      [root.id],
    )
    const tree = await client.readRun(root.id, { loadChildRuns: true })
    assert.deepEqual(tree.child_runs.map((run) => run.name).sort(), ['chat small',
      'execute_tool search'])
    const byTrace = await runsIn(here, { traceId: root.trace_id })
    assert.equal(byTrace.length, 3)
  })
}

await check('other conventions', async () => {
  const here = `${project} conventions`
  await send(ProtobufExporter, 'gzip', here, (tracer) => {
    tracer.startSpan('inference', {
      attributes: { 'openinference.span.kind': 'LLM', 'llm.model_name': 'small',
        'llm.token_count.prompt': 3, 'llm.token_count.completion': 2,
        'llm.input_messages.0.message.role': 'user', 'llm.input_messages.0.message.content': 'Why?',
        'output.value': '{"said":"Because."}', 'session.id': 'talk 2' },
    }).end()
    tracer.startSpan('openllmetry', {
      attributes: { 'llm.request.type': 'chat', 'gen_ai.prompt.0.role': 'user',
        'gen_ai.prompt.0.content': 'Why?', 'gen_ai.completion.0.role': 'assistant',
        'gen_ai.completion.0.content': 'Because.', 'gen_ai.usage.prompt_tokens': 5,
        'gen_ai.usage.completion_tokens': 1 },
    }).end()
    tracer.startSpan('elsewhere', { attributes: {
      'langsmith.trace.session_name': `${project} named`,
    } }).end()
    tracer.startSpan('GET /cart', { kind: 1,
      attributes: { 'http.request.method': 'GET', 'http.response.status_code': 200 } }).end()
  })
  const runs = await runsIn(here)
  const [inference, openllmetry, plain] = ['inference', 'openllmetry', 'GET /cart'].map((name) =>
    runs.find((run) => run.name === name)
  )
  assert.deepEqual([inference.run_type, inference.total_tokens, inference.outputs.said], ['llm', 5,
    'Because.'])
  assert.deepEqual(inference.inputs.messages, [{ role: 'user', content: 'Why?' }])
  assert.equal(inference.extra.metadata.ls_model_name, 'small')
  assert.deepEqual([openllmetry.run_type, openllmetry.total_tokens], ['llm', 6])
  assert.deepEqual(openllmetry.outputs.messages, [{ role: 'assistant', content: 'Because.' }])
  assert.deepEqual([plain.run_type, plain.status], ['chain', 'success'])
  assert.equal(runs.length, 3)
  assert.deepEqual((await runsIn(`${project} named`)).map((run) => run.name), ['elsewhere'])
})

await check('set up by the environment alone', async () => {
  const here = `${project} environment`
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `${base}/otel`
  process.env.OTEL_EXPORTER_OTLP_HEADERS = `x-api-key=a key,Langsmith-Project=${here}`
  const provider = new TracerProvider({
    spanProcessors: [new BatchSpanProcessor({ exporter: new ProtobufExporter() })],
  })
  provider.getTracer('driver').startSpan('alone').end()
  await provider.shutdown()
  assert.deepEqual((await runsIn(here)).map((run) => run.name), ['alone'])
})

await check('one trace in many requests', async () => {
  const here = `${project} long trace`
  await send(ProtobufExporter, 'gzip', here, (tracer) => {
    tracer.startActiveSpan('root', (root) => {
      const inner = trace.setSpan(context.active(), root)
      for (let index = 0; index < 1_500; index += 1) {
        tracer.startSpan(`child ${index}`, {}, inner).end()
      }
      root.end()
    })
  })
  const [root] = await runsIn(here, { isRoot: true })
  const runs = await runsIn(here, { traceId: root.trace_id })
  assert.equal(runs.length, 1_501)
  assert.ok(
    runs.every((run) => run === root || run.id === root.id || run.parent_run_id === root.id),
  )
})

await check('a trace is deleted by its id', async () => {
  const here = `${project} deleted`
  await send(ProtobufExporter, 'gzip', here, agent)
  const [run] = await runsIn(here)
  const answer = await fetch(`${base}/runs/delete`, { method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'a key' },
    body: JSON.stringify({ session_id: run.session_id, trace_ids: [run.trace_id] }) })
  assert.equal(answer.status, 202)
  assert.deepEqual(await runsIn(here), [])
})
