/** A collector for traces in OTLP over HTTP, reduced to what tests need. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'

import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'

/** A span as it was sent. */
export interface ReceivedSpan {
  /** Instance id of its process. */
  readonly instance: string
  readonly traceId: string
  readonly spanId: string
  /** Empty if it begins its trace. */
  readonly parentId: string
  readonly name: string
  /** 1 inner, 2 server, 3 client. */
  readonly kind: number
  readonly details: Readonly<Record<string, string>>
}

/** A collector that keeps the spans it received. */
export interface OtlpReceiver {
  readonly url: string
  readonly spans: readonly ReceivedSpan[]
  close(): Promise<void>
}

/** Starts a collector on a free port. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = []
  const server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const body = Buffer.concat(pieces)
      const plain = request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
      if (request.url === '/v1/traces') spans.push(...spansIn(plain))
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
    })
  })
  await new Promise<void>((listens) => server.listen(0, '127.0.0.1', listens))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
}

/** Fields of a message by number: messages, texts and bytes, and whole numbers. */
type Fields = ReadonlyMap<number, readonly (Uint8Array | number)[]>

function fieldsOf(bytes: Uint8Array): Fields {
  const fields = new Map<number, (Uint8Array | number)[]>()
  const reader = new BinaryReader(bytes)
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag()
    const values = fields.get(number) ?? []
    fields.set(number, values)
    if (type === WireType.LengthDelimited) values.push(reader.bytes())
    else if (type === WireType.Varint) values.push(Number(reader.uint64()))
    else reader.skip(type)
  }
  return fields
}

const messagesIn = (fields: Fields, number: number) =>
  (fields.get(number) ?? []).map((value) => fieldsOf(value as Uint8Array))
const bytesIn = (fields: Fields, number: number) =>
  Buffer.from((fields.get(number)?.[0] ?? []) as Uint8Array)

/** ExportTraceServiceRequest: resource_spans 1, whose resource is 1 and has attributes 1. */
function spansIn(body: Uint8Array): ReceivedSpan[] {
  return messagesIn(fieldsOf(body), 1).flatMap((sent) => {
    const [resource] = messagesIn(sent, 1)
    return spansOf(sent, detailsIn(resource!, 1)['service.instance.id'] ?? '')
  })
}

/** In resource_spans: scope_spans 2, and in each of these spans 2. */
function spansOf(sent: Fields, instance: string): ReceivedSpan[] {
  return messagesIn(sent, 2).flatMap((scope) => messagesIn(scope, 2))
    .map((span) => ({
      instance,
      traceId: bytesIn(span, 1).toString('hex'),
      spanId: bytesIn(span, 2).toString('hex'),
      parentId: bytesIn(span, 4).toString('hex'),
      name: bytesIn(span, 5).toString(),
      kind: (span.get(6)?.[0] ?? 0) as number,
      details: detailsIn(span, 9),
    }))
}

/** KeyValue: key 1, value 2, which is a text by its field 1 and a number by its field 3. */
function detailsIn(fields: Fields, number: number): Record<string, string> {
  return Object.fromEntries(messagesIn(fields, number).map((pair) => {
    const [value] = messagesIn(pair, 2)
    return [bytesIn(pair, 1).toString(),
      value!.has(3) ? String(value!.get(3)![0]) : bytesIn(value!, 1).toString()]
  }))
}
