/** Clients that send bodies of traces to a server, and what it pays for them. */

import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

import type { ServerProcess } from '../support/server-process.ts'
import { boundary, traceBody } from './trace-bodies.ts'
import type { TraceBody, TraceShape } from './trace-bodies.ts'

const hourMs = 3_600_000

/** What taking in some bodies cost. */
export interface IngestCost {
  readonly spansPerSecond: number
  /** Microseconds of the server's processor for a span. */
  readonly cpuUs: number
}

/** Traces of seven spans, which began some days ago. */
export function shapeOf(project: string, characters: number): TraceShape {
  return { project, spans: 7, characters, users: 997, startMs: Date.now() - 300 * hourMs,
    apartMs: 7_000 }
}

/** So many bodies of seven traces each. */
export function* bodiesOf(shape: TraceShape, count: number, seed: number): Generator<TraceBody> {
  for (let at = 0; at < count; at++) yield traceBody(shape, 7, seed + at * 7)
}

/** Sends a body. Throws if it is not taken. */
export async function send({ url }: ServerProcess, { bytes }: TraceBody,
  encoding = 'zstd'): Promise<void> {
  const answer = await fetch(`${url}/api/v1/runs/multipart`, { method: 'POST', body: bytes,
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-encoding': encoding } })
  await answer.arrayBuffer()
  if (answer.status !== 202) throw new Error(`ingest answered ${answer.status}`)
}

/** Sends all bodies by so many clients, each one after another. */
export async function sendAll(server: ServerProcess, bodies: Iterable<TraceBody>,
  clients: number): Promise<IngestCost> {
  const [began, cpuBefore] = [performance.now(), cpuMs(server.pid)]
  let spans = 0
  const rest = bodies[Symbol.iterator]()
  const sendRest = async () => {
    for (let next = rest.next(); !next.done; next = rest.next()) {
      await send(server, next.value)
      spans += next.value.spans
    }
  }
  await Promise.all(Array.from({ length: clients }, sendRest))
  return { spansPerSecond: spans * 1_000 / (performance.now() - began),
    cpuUs: (cpuMs(server.pid) - cpuBefore) * 1_000 / spans }
}

/** Bytes that the traces of a data directory take, with their log. */
export function bytesOfTraces({ dataDir }: ServerProcess): number {
  return ['traces.db', 'traces.db-wal'].reduce(
    (sum, name) => sum + (statSync(join(dataDir, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
}

/** CPU time of a process, in milliseconds. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}
