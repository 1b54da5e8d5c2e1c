/** Random requests: mostly malformed, some valid. */

import fc from 'fast-check'

/** A request that HTTP libraries can send. */
export interface WholeRequest {
  /**
   * http1   on a connection of its own
   * http2   as a stream
   */
  readonly wire: 'http1' | 'http2'
  readonly method: string
  readonly path: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Uint8Array
  readonly chunked: boolean
  /** True if the sender disconnects before it can get an answer. */
  readonly calledOff: boolean
}

/** Bytes that may not be a request at all. The server may close the connection. */
export interface RawRequest {
  readonly wire: 'bytes'
  readonly bytes: Uint8Array
}

/** Any request that is sent to a server under test. */
export type FuzzRequest = WholeRequest | RawRequest

/** What exists on the server, so that requests reach something. */
export interface Terrain {
  /** Patterns of paths, with `{name}` for a parameter. */
  readonly routes: readonly { readonly method: string; readonly path: string }[]
  readonly threadIds: readonly string[]
  readonly runIds: readonly string[]
  readonly assistantIds: readonly string[]
}

const text = (bytes: string) => new TextEncoder().encode(bytes)
const oneOf = <T>(...values: readonly T[]) => fc.constantFrom(...values)

/** Words that are special to some part of some server. */
const word = fc.oneof(
  oneOf('', ' ', '0', '-1', '1', 'null', 'true', 'NaN', '..', '../..', '%00', '%2e%2e%2f', '%',
    '%zz', '__proto__', 'constructor', 'toString', '\u0000', '\uFFFD', '\uD83D\uDE00', '🜁', 'ß',
    "'; DROP TABLE run; --", '${7*7}', '9007199254740993', '1e309', '-0', 'a'.repeat(2_000)),
  fc.string({ maxLength: 30 }),
  fc.uuid(),
  fc.string({ unit: 'binary', maxLength: 12 }),
)

const json = fc.oneof(fc.jsonValue({ maxDepth: 3 }), word)

function deep(depth: number, open: string, close: string): string {
  return open.repeat(depth) + close.repeat(depth)
}

/** Fields of bodies, each with valid and invalid values. */
function fieldsOf({ threadIds, assistantIds }: Terrain): fc.Arbitrary<Record<string, unknown>> {
  const id = fc.oneof(fc.constantFrom(...threadIds), word)
  const small = fc.oneof(fc.integer({ min: -2, max: 12 }), fc.double(), word)
  const object = fc.oneof(fc.dictionary(word, json, { maxKeys: 4 }), json)
  const fields: Record<string, fc.Arbitrary<unknown>> = {
    assistant_id: fc.oneof({ weight: 6, arbitrary: oneOf('echo', 'counter', ...assistantIds) },
      word),
    graph_id: fc.oneof({ weight: 3, arbitrary: oneOf('echo', 'counter') }, word),
    thread_id: id,
    run_id: id,
    checkpoint_id: fc.oneof(fc.uuid(), word),
    checkpoint: object,
    input: fc.oneof(json, fc.constant({ messages: [{ role: 'user', content: 'hello' }] })),
    command: fc.oneof(object, fc.record({ resume: json }), fc.record({ goto: word })),
    config: fc.oneof(object,
      fc.record({ configurable: object, tags: json, recursion_limit: small }, {
        requiredKeys: [],
      })),
    context: object,
    metadata: object,
    values: object,
    name: word,
    description: json,
    stream_mode: fc.oneof(oneOf('values', 'updates', 'messages-tuple', 'debug', 'events'),
      fc.array(oneOf('values', 'updates', 'tasks', 'custom', 'lifecycle')), json),
    multitask_strategy: fc.oneof(oneOf('reject', 'enqueue', 'interrupt', 'rollback'), word),
    if_exists: fc.oneof({ weight: 9, arbitrary: fc.constant('do_nothing') }, word),
    if_not_exists: fc.oneof(oneOf('create', 'reject'), word),
    on_completion: fc.oneof(oneOf('delete', 'keep'), word),
    on_disconnect: fc.oneof(oneOf('cancel', 'continue'), word),
    durability: fc.oneof(oneOf('sync', 'async', 'exit'), word),
    interrupt_before: fc.oneof(fc.constant('*'), json),
    subgraphs: fc.oneof(fc.boolean(), word),
    stream_subgraphs: fc.oneof(fc.boolean(), word),
    strict_resume: fc.oneof(fc.boolean(), word),
    select: fc.array(word, { maxLength: 3 }),
    extract: fc.dictionary(word, fc.oneof(oneOf('values.a[0].b', 'metadata.x', 'values[-1]'), word),
      { maxKeys: 3 }),
    supersteps: fc.array(fc.record({ updates: fc.array(object, { maxLength: 2 }) }), {
      maxLength: 2,
    }),
    status: fc.oneof(oneOf('idle', 'busy', 'success', 'error'), word),
    as_node: word,
    limit: small,
    offset: small,
    version: small,
    before: json,
    ids: fc.array(id, { maxLength: 3 }),
    sort_by: fc.oneof(oneOf('created_at', 'thread_id', 'status'), word),
    sort_order: fc.oneof(oneOf('asc', 'desc'), word),
    checkpoint_during: json,
    after_seconds: fc.oneof(fc.constant(0), fc.constant(1e-9), word),
    webhook: word,
  }
  return fc.record(fields, { requiredKeys: [] })
}

function bodies(terrain: Terrain): fc.Arbitrary<Uint8Array> {
  const fields = fieldsOf(terrain)
  const few = fields.chain((all) =>
    fc.subarray(Object.keys(all), { maxLength: 6 })
      .map((kept) =>
        Object.fromEntries(Object.entries(all).filter(([name]) => kept.includes(name)))
      )
  )
  const thread = fc.record({ thread_id: fc.constantFrom(...terrain.threadIds),
    if_exists: fc.constant('do_nothing') })
  return fc.oneof(
    { weight: 6, arbitrary: few.map((body) => text(JSON.stringify(body))) },
    { weight: 2,
      arbitrary: few.map((body) => text(JSON.stringify({ assistant_id: 'echo', ...body }))) },
    { weight: 1, arbitrary: thread.map((body) => text(JSON.stringify(body))) },
    { weight: 1, arbitrary: json.map((body) => text(JSON.stringify(body))) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }) },
    { weight: 1,
      arbitrary: oneOf('{', '', ' ', '[]', 'null', '"', '{"a":1,"a":2}', '\uFEFF{}',
        '{"__proto__":{"polluted":true}}', '{"input":"\\ud800"}', '{"limit":1e400}',
        '{"assistant_id":"echo","input":{"messages":"\\u0000"}}', deep(600, '[', ']'),
        deep(5_000, '{"a":', '}'), `{"metadata":{"x":"${'y'.repeat(20_000)}"}}`).map(text) },
    { weight: 1, arbitrary: few.chain((body) => cut(text(JSON.stringify(body)))) },
  )
}

/** The bytes, cut short or partly changed. */
function cut(whole: Uint8Array): fc.Arbitrary<Uint8Array> {
  const place = fc.nat({ max: Math.max(0, whole.length - 1) })
  return fc.oneof(
    place.map((end) => whole.slice(0, end)),
    fc.array(fc.tuple(place, fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 4 })
      .map((changes) => {
        const changed = Uint8Array.from(whole)
        for (const [at, byte] of changes) if (at < changed.length) changed[at] = byte
        return changed
      }),
  )
}

function paths(terrain: Terrain): fc.Arbitrary<{ method: string; path: string }> {
  const known: Readonly<Record<string, readonly string[]>> = {
    thread_id: terrain.threadIds,
    run_id: terrain.runIds,
    assistant_id: terrain.assistantIds,
  }
  // Deleted things are lost to later requests, so only one of each may be deleted.
  const idOf = (method: string) => (name: string) =>
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...(known[name] ?? ['inner'])
        .slice(0, method === 'DELETE' ? 1 : undefined)) },
      { weight: 2, arbitrary: fc.uuid() },
      { weight: 1, arbitrary: word.map(encoded) },
      { weight: 1, arbitrary: word },
    )
  const real = fc.constantFrom(...terrain.routes).chain(({ method, path }) => {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)
    return fc.tuple(...names.map(idOf(method))).map((ids) => {
      const next = ids.values()
      return { method, path: path.replaceAll(/\{\w+\}/g, () => next.next().value!) }
    })
  })
  const strange = fc.record({
    method: oneOf('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE', 'PROPFIND',
      'QUERY'),
    path: fc.array(word, { maxLength: 4 }).map((parts) => `/${parts.join('/')}`),
  })
  const other = real.chain(({ path }) => strange.map(({ method }) => ({ method, path })))
  return fc.oneof({ weight: 8, arbitrary: real }, { weight: 1, arbitrary: strange }, { weight: 1,
    arbitrary: other })
}

/** Encodes text; what cannot be encoded is replaced. */
function encoded(part: string): string {
  return encodeURIComponent(part.toWellFormed())
}

const query = fc.oneof({ weight: 3, arbitrary: fc.constant('') }, { weight: 1,
  arbitrary: oneOf('?', '??', '?&&=', '?a=%zz', '?limit=1e3&limit=2', '?stream_mode=',
    '?stream_mode=values&stream_mode[]=x', '?__proto__[x]=1', '?check_db=1', '?wait=1') }, {
  weight: 2,
  arbitrary: fc.array(fc.tuple(
    oneOf('limit', 'offset', 'status', 'select', 'stream_mode', 'cancel_on_disconnect', 'wait',
      'action', 'subgraphs', 'checkpoint_id', 'before', 'xray', 'namespace', 'recurse'),
    word,
  ), { maxLength: 3 }).map((pairs) =>
    `?${pairs.map(([name, value]) => `${name}=${encoded(value)}`).join('&')}`
  ),
})

const eventId = fc.oneof(
  oneOf('-1', '-', '0', '1', '1:0', '99999999999999999999', '1.5', '0:0:0', '-1:-1', 'NaN', '5:x'),
  word,
)

const header = fc.oneof<fc.Arbitrary<readonly [string, string]>[]>(
  fc.tuple(fc.constant('last-event-id'), eventId),
  fc.tuple(fc.constant('content-type'),
    oneOf('application/json', 'text/plain;charset=UTF-8', 'application/x-www-form-urlencoded',
      'multipart/form-data', 'application/json; charset=utf-16', '', ';', 'application/proto',
      'application/grpc')),
  fc.tuple(
    oneOf('accept', 'accept-encoding', 'origin', 'host', 'x-api-key', 'x-user-id', 'x-request-id',
      'traceparent', 'idempotency-key', 'x-forwarded-for', 'authorization', 'content-encoding',
      'if-none-match', 'range', 'cookie', 'connect-timeout-ms', 'accept-version',
      'connect-protocol-version', 'grpc-timeout', 'x-http-method-override', 'x-graph'),
    word,
  ),
  fc.tuple(fc.stringMatching(/^[a-z][a-z0-9-]{0,15}$/), word),
)

/** Replaces characters that a header cannot carry. */
const tame = ([name, value]: readonly [string, string]) =>
  [name, value.replaceAll(/[^\x20-\x7e\x80-\xff]/g, '?').trim()] as const

const framing = new Set(['content-length', 'transfer-encoding', 'connection', 'upgrade', 'expect',
  'te', 'trailer', 'keep-alive', 'proxy-connection', 'http2-settings'])

function wholes(terrain: Terrain): fc.Arbitrary<FuzzRequest> {
  return fc.record({
    wire: oneOf('http1', 'http1', 'http2'),
    target: paths(terrain),
    query,
    headers: fc.array(header, { maxLength: 4 }),
    body: bodies(terrain),
    chunked: fc.boolean(),
    calledOff: fc.integer({ min: 0, max: 19 }).map((n) => n === 0),
  }).map(({ target: { method, path }, query: asked, headers, body, ...rest }) =>
    ({
      ...rest,
      method,
      path: lineOf(path + asked),
      headers: headers.map(tame).filter(([name]) => !framing.has(name)),
      body: method === 'GET' || method === 'HEAD' ? new Uint8Array() : body,
    }) as FuzzRequest
  )
}

/** Encodes a path so that it does not break the request line. */
function lineOf(path: string): string {
  return path.toWellFormed().replaceAll(/[^\x21-\x7e]/gu, encodeURIComponent).replace('#', '%23')
}

/** One message in the envelope of the typed API's streams. */
const enveloped = fc.tuple(fc.integer({ min: 0, max: 255 }), fc.uint8Array({ maxLength: 60 }),
  fc.integer({ min: -3, max: 3 })).map(([flags, message, wrong]) => {
    const head = new DataView(new ArrayBuffer(5))
    head.setUint8(0, flags > 200 ? flags : 0)
    head.setUint32(1, Math.max(0, message.length + (flags % 3 === 0 ? wrong : 0)))
    return Uint8Array.from([...new Uint8Array(head.buffer), ...message])
  })

function calls(terrain: Terrain): fc.Arbitrary<FuzzRequest> {
  const methods = ['AssistantService/GetAssistant', 'AssistantService/SearchAssistants',
    'AssistantService/CreateAssistant', 'ThreadService/CreateThread', 'ThreadService/GetThread',
    'ThreadService/SearchThreads', 'ThreadService/GetState', 'ThreadService/UpdateState',
    'ThreadService/GetHistory', 'RunService/CreateRun', 'RunService/StreamRun',
    'RunService/WaitRun', 'RunService/GetRun', 'RunService/ListRuns', 'RunService/JoinRunStream',
    'RunService/CancelRun', 'RunService/Nothing']
  const message = fc.oneof(
    fc.dictionary(
      oneOf('threadId', 'runId', 'assistantId', 'run', 'page', 'lastEventId', 'streamModes',
        'metadataJson'),
      fc.oneof(json, fc.constantFrom(...terrain.threadIds)),
      { maxKeys: 3 },
    ).map((fields) => text(JSON.stringify(fields))),
    fc.uint8Array({ maxLength: 80 }),
    enveloped,
    bodies(terrain),
  )
  return fc.record({
    wire: oneOf('http1', 'http2'),
    method: oneOf('POST', 'POST', 'POST', 'GET', 'PUT'),
    path: fc.constantFrom(...methods).map((name) => `/frontdoor.v1.${name}`),
    type: oneOf('application/json', 'application/proto', 'application/connect+json',
      'application/connect+proto', 'application/grpc', 'application/grpc+proto',
      'application/grpc-web+proto', 'application/grpc-web-text', 'text/html'),
    headers: fc.array(
      fc.oneof(header, fc.tuple(
        oneOf('content-encoding', 'grpc-encoding', 'connect-content-encoding', 'grpc-timeout',
          'connect-timeout-ms', 'grpc-accept-encoding'),
        oneOf('gzip', 'br', 'identity', 'nonsense', '1n', '0', '99999999H', '-1'),
      )),
      { maxLength: 3 },
    ),
    body: message,
    chunked: fc.boolean(),
    calledOff: fc.constant(false),
  }).map(({ type, headers, ...rest }) =>
    ({
      ...rest,
      headers: [['content-type', type] as const, ...headers.map(tame)
        .filter(([name]) => !framing.has(name) && name !== 'content-type')],
      body: rest.method === 'GET' ? new Uint8Array() : rest.body,
    }) as FuzzRequest
  )
}

/** Texts that are nearly a request, or nothing like one. */
function raws(terrain: Terrain): fc.Arbitrary<FuzzRequest> {
  const lines = fc.tuple(paths(terrain), fc.array(
    fc.tuple(
      fc.oneof(word,
        oneOf('Host', 'Content-Length', 'Transfer-Encoding', 'Connection', 'Upgrade', 'Expect',
          'Content-Type')),
      fc.oneof(word,
        oneOf('chunked', '10', '-1', '0', 'close', 'h2c', '100-continue', 'localhost')),
    ),
  ), bodies(terrain)).map(([{ method, path }, headers, body]) => {
    const head = [`${method} ${path} HTTP/1.1`, 'Host: localhost',
      ...headers.map(([name, value]) => `${name}: ${value}`), '', ''].join('\r\n')
    return Uint8Array.from([...text(head), ...body])
  })
  const preface = text('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  return fc.oneof(lines, lines.chain(cut), fc.uint8Array({ maxLength: 300 }),
    fc.uint8Array({ maxLength: 200 }).map((rest) => Uint8Array.from([...preface, ...rest])),
    oneOf('GET / HTTP/1.1\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n', '\r\n\r\n', 'PRI', 'PRI * HTTP/2.0',
      'GET http://localhost/ok HTTP/1.1\r\nHost: localhost\r\n\r\n',
      'CONNECT localhost:1 HTTP/1.1\r\nHost: localhost\r\n\r\n',
      'OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n', 'GET /ok HTTP/1.0\r\n\r\n',
      'POST /threads HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n',
      'POST /threads HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n' +
        'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
      `GET /ok HTTP/1.1\r\nHost: localhost\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`).map(text))
    .map((bytes) => ({ wire: 'bytes', bytes }))
}

/** Random requests to what exists on a server. */
export function fuzzRequests(terrain: Terrain): fc.Arbitrary<FuzzRequest> {
  return fc.oneof({ weight: 6, arbitrary: wholes(terrain) }, { weight: 2,
    arbitrary: calls(terrain) }, { weight: 2, arbitrary: raws(terrain) })
}
