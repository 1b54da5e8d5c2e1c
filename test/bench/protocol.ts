/** The benchmark of protocol v2: first events, many readers, and streams that rest. */

import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'

import { startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import type { EventReaderReport } from './event-reader-process.ts'
import { openEvents } from './event-socket.ts'
import type { ThreadEvent, ThreadPlace } from './event-socket.ts'
import { memoryOf, probedEnv } from './idle-actors.ts'
import { within } from './patience.ts'
import { progress } from './progress.ts'
import { figure } from './report.ts'
import type { Bench, Line } from './report.ts'
import { Served } from './served.ts'
import { quantile, ratios, spreadOf } from './statistics.ts'

const plans = {
  full: { rounds: 9, runs: 200, idle: 2_000,
    readers: { threads: 100, each: 10, perSecond: 20, seconds: 20, leadMs: 15_000 } },
  quick: { rounds: 2, runs: 20, idle: 100,
    readers: { threads: 4, each: 2, perSecond: 20, seconds: 2, leadMs: 5_000 } },
}
const patienceMs = 60_000
const processes = 2

type ReadersPlan = (typeof plans)['full']['readers']

export async function benchProtocol({ quick }: { readonly quick: boolean }): Promise<Bench> {
  const plan = quick ? plans.quick : plans.full
  const server = await startServer({ project: 'bench', env: probedEnv })
  const served = new Served('heddle', server.url)
  try {
    const lines = [await firstEventLine(server, served, plan),
      await readersLine(server, served, plan.readers), await idleLine(server, plan.idle)]
    return { title: 'Benchmark of protocol v2', lines, notes, file: 'RESULTS-protocol.md' }
  } finally {
    served.close()
    await server.close()
  }
}

/** Both wires start the same run on a new thread, in turn. */
async function firstEventLine({ url }: ServerProcess, served: Served,
  { rounds, runs }: { readonly rounds: number; readonly runs: number }): Promise<Line> {
  const sides = new Map<string, number[]>([['runs/stream', []], ['run.start', []]])
  for (let round = -1; round < rounds; round += 1) {
    progress(round < 0 ? 'warming up' : `first events, round ${round + 1} of ${rounds}`)
    const times: Record<string, number[]> = { 'runs/stream': [], 'run.start': [] }
    for (let n = 0; n < runs; n += 1) {
      times['runs/stream']!.push((await served.stream(randomUUID(), 'hello')).firstMs)
      times['run.start']!.push(await firstEventMs(url, served))
    }
    if (round < 0) continue
    for (const [name, side] of sides) side.push(quantile(times[name]!, 0.5))
  }
  return {
    measure: 'run.start to the first event, 1 client, p50 over runs/stream',
    unit: 'times',
    figures: [...sides.keys()].map((name) => figure(sides, name, 'ms')),
    ratio: spreadOf(ratios(sides.get('run.start')!, sides.get('runs/stream')!)),
    aim: { sign: '≤', value: 1.3 },
  }
}

async function firstEventMs(url: string, served: Served): Promise<number> {
  const threadId = randomUUID()
  const first = Promise.withResolvers<number>()
  const ended = Promise.withResolvers<void>()
  const place: ThreadPlace = { url, threadId, transport: 'sse', channels: ['lifecycle'] }
  const stream = openEvents(place, (event) => {
    first.resolve(performance.now())
    if (isEnd(event)) ended.resolve()
  })
  await within(patienceMs, 'the answer to a stream of events', stream.opened)
  const began = performance.now()
  await served.ask('POST', `/threads/${threadId}/commands`, start('echo', {
    messages: [{ role: 'user', content: 'hello' }],
  }))
  const firstMs = await within(patienceMs, 'the first event', first.promise) - began
  await within(patienceMs, 'the end of the run', ended.promise)
  stream.close()
  return firstMs
}

function isEnd({ method, params: { namespace, data } }: ThreadEvent): boolean {
  const { event } = data as { event?: string }
  return method === 'lifecycle' && namespace.length === 0 && event === 'completed'
}

function start(assistant: string, input: object): object {
  return { id: 1, method: 'run.start', params: { assistant_id: assistant, input } }
}

/** Half of the readers of each thread use a WebSocket. */
async function readersLine({ url }: ServerProcess, served: Served,
  plan: ReadersPlan): Promise<Line> {
  progress(`${plan.threads * plan.each} readers`)
  const threads = Array.from({ length: plan.threads }, () => randomUUID())
  const places = threads.flatMap((threadId) =>
    Array.from({ length: plan.each },
      (_, reader): ThreadPlace => ({ url, threadId,
        transport: reader % 2 === 0 ? 'sse' : 'websocket', channels: ['custom'] }))
  )
  const events = plan.perSecond * plan.seconds
  const children = Array.from({ length: processes },
    (_, index) => readIn(places.filter((_place, reader) => reader % processes === index), events))
  try {
    await within(plan.leadMs, 'the answer to all streams', Promise.all(children.map(({ open }) =>
      open
    )))
    await startTicking(served, threads, plan)
    const spanMs = plan.seconds * 1_000 + patienceMs
    const reads = await within(spanMs, 'the last event of every reader',
      Promise.all(children.map(({ read }) => read)))
    const delays = reads.flat().flatMap((own) => [...own])
    return {
      measure: `${plan.threads} threads × ${plan.each} readers, ${plan.perSecond} events a ` +
        'second each: delay, p99',
      unit: 'ms',
      figures: [`p50 ${quantile(delays, 0.5).toFixed(0)} ms`,
        `worst ${quantile(delays, 1).toFixed(0)} ms`,
        `${delays.length} of ${places.length * events} events heard`],
      ratio: spreadOf([quantile(delays, 0.99)]),
      aim: { sign: '≤', value: 100 },
    }
  } finally {
    for (const { end } of children) end()
  }
}

async function startTicking(served: Served, threads: readonly string[],
  { perSecond, seconds, leadMs }: ReadersPlan): Promise<void> {
  const everyMs = 1_000 / perSecond
  const beginAtMs = Date.now() + leadMs / 3
  await Promise.all(
    threads.map((threadId, index) =>
      served.ask('POST', `/threads/${threadId}/commands`,
        start('ticks', { everyMs, count: perSecond * seconds,
          beginAtMs: beginAtMs + everyMs * index / threads.length }))
    ),
  )
}

function readIn(places: readonly ThreadPlace[], events: number) {
  const file = fileURLToPath(new URL('./event-reader-process.ts', import.meta.url))
  const child = fork(file, { serialization: 'advanced' })
  const open = Promise.withResolvers<void>()
  const read = Promise.withResolvers<readonly Float64Array[]>()
  read.promise.catch(() => undefined)
  child.on('message', (report: EventReaderReport) => {
    if (report.kind === 'open') open.resolve()
    else if (report.kind === 'read') read.resolve(report.delaysMs)
    else for (const waiting of [open, read]) waiting.reject(new Error(report.why))
  })
  child.send({ places, events })
  return { open: open.promise, read: read.promise, end: () => child.kill('SIGKILL') }
}

/** Streams of threads that do not exist yet, so that nothing but the streams is counted. */
async function idleLine(server: ServerProcess, count: number): Promise<Line> {
  progress(`${count} streams that rest`)
  const before = await memoryOf(server)
  const streams = Array.from({ length: count },
    (_, index) =>
      openEvents({ url: server.url, threadId: randomUUID(), channels: ['values', 'lifecycle'],
        transport: index % 2 === 0 ? 'sse' : 'websocket' }, () => undefined))
  await within(patienceMs, 'the answer to all streams',
    Promise.all(streams.map(({ opened }) => opened)))
  const after = await memoryOf(server)
  for (const stream of streams) stream.close()
  const each = (part: 'heapUsed' | 'external' | 'rss') => (after[part] - before[part]) / count
  return {
    measure: `${count} streams that rest, heap and buffers for each`,
    unit: 'bytes',
    figures: [`resident memory ${each('rss').toFixed(0)} bytes`],
    ratio: spreadOf([each('heapUsed') + each('external')]),
    aim: { sign: '≤', value: 15 * 1_024 },
  }
}

const notes = [
  'First event: the stream of the thread is open, and run.start is sent; beside it runs/stream on',
  'another new thread, in turn. Readers: half of them over SSE, half over WebSocket, in two',
  'processes on this machine; delay from when a node writes a custom event to when a reader has',
  'it, by the same clock. Resting: half of the streams over each transport, after a collection of',
  'garbage.',
].join('\n')
