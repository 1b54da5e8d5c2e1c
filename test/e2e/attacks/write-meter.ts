/**
 * Writes of a tenant that does nothing else, at a steady rate, and how long each took. A thread of
 * its own, so that what the test does meanwhile delays nothing here.
 */

import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

export interface Measured {
  /** Milliseconds of each write, from when it was due, sorted. */
  readonly ms: readonly number[]
  /** Statuses of writes that failed; 0 for a broken connection. */
  readonly failures: readonly number[]
}

export interface WriteMeter {
  /** Ends it. */
  stop(): Promise<Measured>
}

interface Place {
  readonly url: string
  readonly key: string
  /** What is written: threads, or spans. */
  readonly writes: 'threads' | 'spans'
}

/** A write is due this often, whether or not those before are done. */
const everyMs = 25

export function startWriteMeter(place: Place): WriteMeter {
  const worker = new Worker(new URL(import.meta.url), { workerData: place })
  const measured = new Promise<Measured>((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
  return {
    stop: () => {
      worker.postMessage('stop')
      return measured
    },
  }
}

/** The time that a share of the writes did not exceed. */
export function percentile({ ms }: Measured, share: number): number {
  return ms[Math.min(ms.length - 1, Math.floor(share * ms.length))] ?? 0
}

/** Path, body and status of one write. */
const writes = {
  threads: () => ['/threads', '{}', 200] as const,
  spans: () =>
    ['/api/v1/runs',
      JSON.stringify({ id: randomUUID(), name: 'other', run_type: 'chain',
        start_time: new Date().toISOString(), inputs: { text: 'of somebody else' },
        session_name: 'other' }), 202] as const,
}

async function measure({ url, key, writes: kind }: Place): Promise<void> {
  const agent = new Agent({ keepAlive: true })
  const ms: number[] = []
  const failures: number[] = []
  const underWay = new Set<Promise<void>>()
  const stop = new AbortController()
  parentPort!.once('message', () => stop.abort())
  const beganMs = performance.now()
  for (let n = 0; !stop.signal.aborted; n += 1) {
    const dueMs = beganMs + n * everyMs
    const early = dueMs - performance.now()
    if (early > 0) await pause(early)
    const [path, body, expected] = writes[kind]()
    const write = send(new URL(path, url), { agent, key, body }).then((status) => {
      ms.push(performance.now() - dueMs)
      if (status !== expected) failures.push(status)
    })
    underWay.add(write)
    void write.finally(() => underWay.delete(write))
  }
  await Promise.all(underWay)
  agent.destroy()
  parentPort!.postMessage({ ms: ms.sort((a, b) => a - b), failures } satisfies Measured)
}

/** The status of the answer to a write; 0 if there was none. */
function send(url: URL,
  { agent, key, body }: { readonly agent: Agent; readonly key: string;
    readonly body: string }): Promise<number> {
  return new Promise((resolve) => {
    const sent = request(url, { method: 'POST', agent,
      headers: { 'content-type': 'application/json', 'x-api-key': key } }, (answer) => {
      answer.resume()
      answer.once('close', () => resolve(answer.complete ? answer.statusCode! : 0))
    })
    sent.once('error', () => resolve(0))
    sent.end(body)
  })
}

if (!isMainThread && (workerData as Partial<Place> | null)?.key !== undefined) {
  await measure(workerData as Place)
}
