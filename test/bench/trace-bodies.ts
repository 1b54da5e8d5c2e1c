/** Bodies of `/runs/multipart` as a client sends them: traces of an agent, posts and patches. */

import { zstdCompressSync } from 'node:zlib'

import { v7 } from 'uuid'

/** What the traces of a body are. */
export interface TraceShape {
  readonly project: string
  /** Spans of each trace. */
  readonly spans: number
  /** Characters of the text that each span takes in, and gives. */
  readonly characters: number
  /** Start of the first trace in milliseconds since 1970. */
  readonly startMs: number
  /** Milliseconds between the starts of two traces. */
  readonly apartMs: number
  /** One user in so many has each trace. */
  readonly users: number
}

/** A body and how many spans it finishes. */
export interface TraceBody {
  readonly bytes: Buffer
  readonly spans: number
}

export const boundary = '----HeddleBenchBoundary'

const types = ['chain', 'chain', 'llm', 'tool', 'llm', 'chain', 'retriever']
const words = 'the weaver throws a shuttle through the shed and beats the weft home '

/** A body with so many traces. Each span is posted and patched. */
export function traceBody(shape: TraceShape, traces: number, seed: number): TraceBody {
  return { bytes: zstdCompressSync(plainBody(shape, traces, seed)), spans: traces * shape.spans }
}

/** The same without compression. */
export function plainBody(shape: TraceShape, traces: number, seed: number): Buffer {
  const parts: string[] = []
  for (let at = 0; at < traces; at++) addTrace(parts, shape, seed + at)
  parts.push(`--${boundary}--\r\n`)
  return Buffer.from(parts.join(''))
}

/** One trace of many spans, in bodies of so many. */
export function* longTrace(shape: TraceShape, spansOfBody: number): Generator<TraceBody> {
  const root = spanAt(shape, 0, 0, undefined)
  for (let from = 0; from < shape.spans; from += spansOfBody) {
    const parts: string[] = []
    const until = Math.min(from + spansOfBody, shape.spans)
    for (let at = from; at < until; at++) {
      addSpan(parts, shape, 0, at === 0 ? root : spanAt(shape, 0, at, root), at)
    }
    parts.push(`--${boundary}--\r\n`)
    yield { bytes: zstdCompressSync(Buffer.from(parts.join(''))), spans: until - from }
  }
}

interface Span {
  readonly id: string
  readonly trace: string
  readonly parent: string | undefined
  readonly order: string
  readonly startMs: number
}

function spanAt({ startMs, apartMs }: TraceShape, seed: number, at: number,
  root: Span | undefined): Span {
  const beganMs = startMs + seed * apartMs + at
  const id = v7({ msecs: beganMs })
  const time = new Date(beganMs).toISOString().replaceAll(/[-:.]/g, '').replace('Z', '000Z')
  return { id, trace: root?.trace ?? id, parent: root?.id, startMs: beganMs,
    order: root === undefined ? time + id : `${root.order}.${time}${id}` }
}

function addTrace(parts: string[], shape: TraceShape, seed: number): void {
  let root: Span | undefined
  for (let at = 0; at < shape.spans; at++) {
    const span = spanAt(shape, seed, at, root)
    root ??= span
    addSpan(parts, shape, seed, span, at)
  }
}

function addSpan(parts: string[], { project, characters, users }: TraceShape, seed: number,
  span: Span, at: number): void {
  const { id, trace, parent, order, startMs } = span
  const type = types[at % types.length]!
  const text = words.repeat(Math.ceil(characters / words.length)).slice(0, characters)
  const shared = { id, trace_id: trace, dotted_order: order, name: `${type} ${at % 20}`,
    run_type: type, start_time: new Date(startMs).toISOString(), session_name: project,
    ...parent !== undefined && { parent_run_id: parent }, tags: ['bench'] }
  const extra = { metadata: { user: `user ${seed % users}`, step: at, ls_model_name: 'small' },
    runtime: { library: 'langsmith', sdk: 'langsmith-js' } }
  add(parts, `post.${id}`, shared)
  add(parts, `post.${id}.inputs`, { messages: [{ role: 'user', content: `${seed} ${text}` }] })
  add(parts, `post.${id}.extra`, extra)
  add(parts, `patch.${id}`, { ...shared, end_time: startMs + 5 + (seed * 31 + at * 17) % 900 })
  add(parts, `patch.${id}.outputs`, { messages: [{ role: 'assistant', content: text }],
    ...type === 'llm' &&
      {
        usage_metadata: { input_tokens: 100 + at, output_tokens: seed % 50,
          total_tokens: 100 + at + seed % 50 },
      } })
  add(parts, `patch.${id}.extra`, extra)
}

function add(parts: string[], name: string, value: object): void {
  const json = JSON.stringify(value)
  parts.push(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n` +
    `Content-Type: application/json; length=${Buffer.byteLength(json)}\r\n\r\n${json}\r\n`)
}
