/**
 * What the OpenTelemetry Collector sends by its default settings: batches of 8 192 spans of several
 * services, as protobuf with gzip, with all fields that it passes on. Written here byte by byte, so
 * that no library of this repository decides what they are.
 *
 * Usage: node collector-driver.mjs <base URL> <name of the project>
 */

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'

import { Client } from 'langsmith'

import { check, collect } from './report.mjs'

const [base, project] = process.argv.slice(2)
const client = new Client({ apiUrl: base, apiKey: 'a key' })

function varint(value) {
  const bytes = []
  for (let rest = BigInt(value);; rest >>= 7n) {
    if (rest < 128n) return Buffer.from([...bytes, Number(rest)])
    bytes.push(Number(rest & 127n) | 128)
  }
}
const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)])
function fixed64(field, value) {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return Buffer.concat([varint((field << 3) | 1), bytes])
}
function fixed32(field, value) {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return Buffer.concat([varint((field << 3) | 5), bytes])
}
function part(field, ...content) {
  const bytes = Buffer.concat(content.map((each) => Buffer.from(each)))
  return Buffer.concat([varint((field << 3) | 2), varint(bytes.length), bytes])
}
const attribute = (field, key, value) =>
  part(field, part(1, key), part(2, typeof value === 'number' ? number(3, value) : part(1, value)))

const nowNs = BigInt(Date.now()) * 1_000_000n

/** A span of a web server, or of a model. */
function span({ traceId, id, parent, name, at, isModel }) {
  return part(2, part(1, traceId), part(2, id), part(3, 'vendor=1'),
    ...parent ? [part(4, parent)] : [], fixed32(16, 0x101), part(5, name),
    number(6, isModel ? 3 : 2), fixed64(7, at), fixed64(8, at + 5_000_000n), ...isModel
    ? [attribute(9, 'gen_ai.operation.name', 'chat'), attribute(9, 'gen_ai.system', 'openai'),
      attribute(9, 'gen_ai.usage.input_tokens', 7), attribute(9, 'gen_ai.usage.output_tokens', 2)]
    : [attribute(9, 'http.request.method', 'GET'), attribute(9, 'http.response.status_code', 200)],
    number(10, 1), part(11, fixed64(1, at), part(2, 'an event'), attribute(3, 'a', 1)),
    number(12, 1), part(13, part(1, traceId), part(2, id)), number(14, 1), part(15, number(3, 1)))
}

/** Traces of four spans each, over several services. */
function batchOf(traces, services) {
  const spansOf = services.map(() => [])
  for (let trace = 0; trace < traces; trace += 1) {
    const traceId = randomBytes(16)
    const ids = Array.from({ length: 4 }, () => randomBytes(8))
    for (const [index, id] of ids.entries()) {
      spansOf[(trace + index) % services.length].push(
        span({ traceId, id, parent: index > 0 ? ids[index - 1] : undefined,
          name: index === 3 ? 'chat' : `GET /${index}`,
          at: nowNs - BigInt(traces - trace) * 1_000_000n + BigInt(index) * 1_000n,
          isModel: index === 3 }),
      )
    }
  }
  return Buffer.concat(
    services.map((service, index) =>
      part(1, part(1, attribute(1, 'service.name', service), attribute(1, 'host.name', 'h')),
        part(2, part(1, part(1, 'library'), part(2, '1.0')), ...spansOf[index],
          part(3, 'https://opentelemetry.io/schemas/1.30.0')),
        part(3, 'https://opentelemetry.io/schemas/1.30.0'))
    ),
  )
}

await check('a batch of 8 192 spans', async () => {
  const body = gzipSync(batchOf(2_048, ['shop', 'cart', 'model']))
  const answer = await fetch(`${base}/otel/v1/traces`, { method: 'POST', body,
    headers: { 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip',
      'user-agent': 'OpenTelemetry Collector/0.140.0', 'x-api-key': 'a key',
      'langsmith-project': project } })
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.get('content-type'), 'application/x-protobuf')
  assert.equal((await answer.arrayBuffer()).byteLength, 0)
})

await check('is there when it is answered', async () => {
  const models = await collect(
    client.listRuns({ projectName: project, runType: 'llm',
      select: ['id', 'trace_id', 'total_tokens'] }),
  )
  assert.equal(models.length, 2_048)
  assert.equal(new Set(models.map((run) => run.trace_id)).size, 2_048)
  assert.ok(models.every((run) => run.total_tokens === 9))
  const all = await collect(client.listRuns({ projectName: project, select: ['id'] }))
  assert.equal(new Set(all.map((run) => run.id)).size, 8_192)
  const runs = await collect(client.listRuns({ projectName: project, traceId: models[0].trace_id }))
  assert.deepEqual(runs.map((run) => run.name).sort(), ['GET /0', 'GET /1', 'GET /2', 'chat'])
  const root = runs.find((run) => run.parent_run_id === null)
  const tree = await client.readRun(root.id, { loadChildRuns: true })
  assert.equal(tree.child_runs[0].child_runs[0].child_runs[0].name, 'chat')
})
