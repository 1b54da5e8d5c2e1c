/** Attacks by traces: bodies that take long to read, spans that take long to file, and floods. */

import { randomBytes, randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'

import { otlpBytes } from '../../support/otlp-message.ts'
import type { Attack, AttackPlace, Dropped } from './place.ts'

const mebibyte = 1024 * 1024
/** Requests of an attack, and how many are under way. */
const [requests, atOnce] = [24, 6]

/** Sends a body again and again. Returns how often each status came. */
async function again({ developer, drop }: AttackPlace, path: string,
  body: (n: number) => Uint8Array,
  headers: Readonly<Record<string, string>>): Promise<Readonly<Record<string, number>>> {
  const statuses: Record<string, number> = {}
  let sent = 0
  const sendSome = async () => {
    while (sent < requests) {
      const { status }: Dropped = await drop(developer, path, body(sent++), headers)
      statuses[status] = (statuses[status] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: atOnce }, sendSome))
  return statuses
}

const boundary = `b${'a'.repeat(69)}`
const multipart = (name: string) => `multipart/form-data; boundary=${name}`

/** A part that nearly ends, and nearly ends, and … */
function nearMisses(near: string, named: string): Uint8Array {
  const data = near.repeat(Math.floor(24 * mebibyte / near.length))
  return gzipSync(`--${named}\r\ncontent-disposition: form-data; name="post.${randomUUID()}"` +
    `\r\n\r\n${data}`)
}

function nearlyMultipart(name: string, near: string, named = boundary): Attack {
  return { name, beside: 'spans', prepare: async (place) => {
    const body = nearMisses(near, named)
    return () =>
      again(place, '/api/v1/runs/multipart', () => body, {
        'content-type': multipart(named),
        'content-encoding': 'gzip',
      })
  } }
}

/** Spans of OpenTelemetry, each below the one that `parent` says. */
function otlp(count: number, parent: (n: number) => number): Uint8Array {
  const id = (n: number) => {
    const bytes = Buffer.alloc(8)
    bytes.writeUInt32BE(n + 1, 4)
    return bytes
  }
  const traceId = randomBytes(16)
  const begun = BigInt(Date.now()) * 1_000_000n
  const spans = Array.from({ length: count },
    (_, n) => ({ traceId, spanId: id(n), parentSpanId: id(parent(n)), name: 's',
      startTimeUnixNano: String(begun), endTimeUnixNano: String(begun + 1_000n) }))
  return otlpBytes({ resource: {}, scopeSpans: [{ spans }] })
}

function manySpans(name: string, parent: (n: number) => number): Attack {
  return { name, beside: 'spans', prepare: async (place) => {
    const bodies = Array.from({ length: requests }, () => otlp(20_000, parent))
    return () =>
      again(place, '/api/v1/otel/v1/traces', (n) => bodies[n]!, {
        'content-type': 'application/x-protobuf',
      })
  } }
}

/** Runs with long inputs that nobody can compress. */
function batch(runs: number, bytes: number): Uint8Array {
  const post = Array.from({ length: runs },
    () => ({ id: randomUUID(), name: 'flood', run_type: 'chain', session_name: 'flood',
      start_time: '2027-11-27T00:00:00Z',
      inputs: { text: randomBytes(Math.ceil(bytes * 3 / 4)).toString('base64') } }))
  return Buffer.from(JSON.stringify({ post, patch: [] }))
}

function flood(name: string, runs: number, bytes: number): Attack {
  return { name, beside: 'spans', prepare: async (place) => {
    const bodies = Array.from({ length: requests }, () => batch(runs, bytes))
    return () => again(place, '/api/v1/runs/batch', (n) => bodies[n]!, {})
  } }
}

/** Each is carried out alone, beside single spans of another tenant. */
export const traceWrites: readonly Attack[] = [
  nearlyMultipart('near misses of a boundary', `\r\n--${boundary.slice(0, -1)}`),
  nearlyMultipart('the first bytes of a boundary', '\r\n--'),
  nearlyMultipart('near misses of a boundary of 14 000 characters', 'a', `b${'a'.repeat(14_000)}`),
  manySpans('twenty thousand spans in a ring', (n) => (n + 1) % 20_000),
  manySpans('twenty thousand spans in a chain', (n) => n + 1),
  flood('two thousand runs in each body', 2_000, 4_000),
  // One transaction holds a block of 18 MiB for 140 ms: all other writes wait for it.
  { ...flood('runs of 20 MiB', 1, 18 * mebibyte), slowestMs: 600 },
  flood('traces that fill the disk', 50, 200_000),
]
