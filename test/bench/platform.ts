/** Traces: how fast they are taken in, found, counted and read, and what they cost beside runs. */

import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'

import { startCassandra } from '../../scripts/cassandra/cluster.ts'
import { newKeyspace } from '../support/cassandra-keyspace.ts'
import type { CassandraKeyspace } from '../support/cassandra-keyspace.ts'
import { startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import type { LongBodyOrder } from './long-body-sender.ts'
import { progress } from './progress.ts'
import type { Bench, Line } from './report.ts'
import { Served } from './served.ts'
import { quantile, ratios, spreadOf } from './statistics.ts'
import { longTrace, plainBody } from './trace-bodies.ts'
import type { TraceBody } from './trace-bodies.ts'
import { bodiesOf, bytesOfTraces, send, sendAll, shapeOf } from './trace-sender.ts'

const plans = {
  full: { ingest: 400, seeded: 1_000_000, samples: 200, trace: 10_000, rounds: 8, runs: 60 },
  quick: { ingest: 10, seeded: 2_000, samples: 5, trace: 200, rounds: 2, runs: 5 },
}

type Plan = typeof plans.full

/** What is measured on which store. */
export interface PlatformBench {
  readonly quick: boolean
  readonly store: 'embedded' | 'cassandra'
}

/** Measures a server that listens, over HTTP. */
export async function benchPlatform({ quick, store }: PlatformBench): Promise<Bench> {
  const plan = quick ? plans.quick : plans.full
  const file = store === 'embedded' ? 'RESULTS-platform.md' : 'RESULTS-platform-cassandra.md'
  const notes = `${plan.seeded} spans before the questions, of seven each a trace. ` +
    'Ingest: eight clients, bodies of 98 operations, 4.3 KB a span, until the 202. The ranges of ' +
    'single calls are their p50 and the longest; the figure is their p99.'
  if (store === 'embedded') {
    return { title: 'Traces', lines: await linesOn(undefined, plan), notes, file }
  }
  const cassandra = await startCassandra({ nodes: 1, light: quick, firstAddress: '127.0.0.71',
    log: progress })
  try {
    const lines = await linesOn(newKeyspace(cassandra), plan)
    return { title: 'Traces on Cassandra', lines, notes, file }
  } finally {
    await cassandra.close()
  }
}

async function linesOn(cassandra: CassandraKeyspace | undefined, plan: Plan): Promise<Line[]> {
  const start = (ownTraces: 'off' | 'runs') =>
    startServer({ project: 'conformance', cassandra, args: ['--own-traces', ownTraces] })
  const onDisk = cassandra === undefined
  const ownTraces = onDisk ? [await ownTracesLine(start, plan)] : []
  const server = await start('off')
  try {
    const lines = [...await ingestLines(server, plan, onDisk)]
    lines.push(...await questionLines(server, plan))
    lines.push(...await longTraceLines(server, plan))
    lines.push(...await mixedLines(server, plan))
    lines.push(...await besideLines(server, plan))
    return [...lines, ...ownTraces]
  } finally {
    await server.close()
  }
}

async function ingestLines(server: ServerProcess, plan: Plan, onDisk: boolean): Promise<Line[]> {
  progress('ingest')
  const shape = shapeOf('ingest', 1_000)
  await sendAll(server, bodiesOf(shape, 10, 120_000), 8)
  const [rates, costs]: [number[], number[]] = [[], []]
  let sent = 0
  for (let round = 0; round < 5; round++) {
    const bodies = [...bodiesOf(shape, plan.ingest / 5, round * 10_000)]
    const { spansPerSecond, cpuUs } = await sendAll(server, bodies, 8)
    rates.push(spansPerSecond)
    costs.push(cpuUs)
    sent += bodies.reduce((sum, body) => sum + body.spans, 0)
  }
  const rate = { floor: { sign: '≥', value: onDisk ? 2_000 : 1_000 },
    aim: { sign: '≥', value: onDisk ? 5_000 : 4_000 } } as const
  const lines: Line[] = [{ measure: 'spans taken in a second', unit: 'requests',
    figures: [`${Math.round(quantile(rates, 0.5))}/s`,
      `${Math.round(quantile(costs, 0.5))} µs of CPU a span`], ratio: spreadOf(rates), ...rate }]
  if (!onDisk) return lines
  await pause(3_000)
  const bytes = bytesOfTraces(server)
  return [...lines, { measure: 'bytes of a span at rest, its log included', unit: 'bytes',
    figures: [`${sent} spans`], ratio: spreadOf([Math.round(bytes / sent)]),
    floor: { sign: '≤', value: 1_200 }, aim: { sign: '≤', value: 900 } }]
}

async function questionLines(server: ServerProcess, plan: Plan): Promise<Line[]> {
  progress(`${plan.seeded} spans`)
  await sendAll(server, bodiesOf(shapeOf('asked', 60), plan.seeded / 49, 0), 8)
  const served = new Served('platform', server.url)
  const project = await projectOf(served, 'asked')
  const head = ['id', 'name', 'run_type', 'start_time', 'end_time', 'status', 'total_tokens']
  let user = 0
  const filters: readonly (readonly [name: string, filter: () => object])[] = [
    ['newest 100', () => ({})],
    ['newest 100 of a user', () => ({
      filter: `and(eq(metadata_key, "user"), eq(metadata_value, "user ${user++ % 997}"))`,
    })],
    ['newest 100 of a user that nobody is', () => ({
      filter: `and(eq(metadata_key, "user"), eq(metadata_value, "nobody ${user++}"))`,
    })],
    ['newest 100 llm spans of a user',
      () => ({ run_type: 'llm',
        filter: `and(eq(metadata_key, "user"), eq(metadata_value, "user ${user++ % 997}"))` })],
  ]
  const lines: Line[] = []
  for (const [name, filter] of filters) {
    progress(name)
    lines.push(
      await timed(`${name}, p99`, plan.samples, () =>
        served.ask('POST', '/api/v1/runs/query', { session: [project], limit: 100, select: head,
          ...filter() }), name.includes('user') ? { floor: 20, aim: 5 } : {}),
    )
  }
  progress('statistics')
  const first = await once(() => served.ask('POST', '/api/v1/runs/stats', { session: [project] }))
  lines.push({ measure: 'statistics of all spans, first time', unit: 'ms', figures: [],
    ratio: spreadOf([first]) })
  lines.push(
    await timed('statistics of all spans, then, p99', Math.min(plan.samples, 30),
      () => served.ask('POST', '/api/v1/runs/stats', { session: [project] }), { floor: 200,
      aim: 100 }),
  )
  return lines
}

async function longTraceLines(server: ServerProcess, plan: Plan): Promise<Line[]> {
  progress(`a trace of ${plan.trace} spans`)
  const shape = { ...shapeOf('long', 1_000), spans: plan.trace }
  await sendAll(server, longTrace(shape, 49), 8)
  const served = new Served('platform', server.url)
  const project = await projectOf(served, 'long')
  const { body } = await served.ask('POST', '/api/v1/runs/query', { session: [project],
    is_root: true, select: ['id'] })
  const [root] = (body as { runs: { id: string }[] }).runs
  const read = (select: readonly string[]) => () =>
    served.ask('POST', '/api/v1/runs/query', { trace: root!.id, select })
  const head = ['id', 'name', 'run_type', 'start_time', 'end_time', 'parent_run_id', 'dotted_order']
  return [
    await timed(`trace of ${plan.trace} spans, heads, p99`, 10, read(head), { floor: 150,
      aim: 60 }),
    await timed(`trace of ${plan.trace} spans, with payload, p99`, 5,
      read([...head, 'inputs', 'outputs']), { floor: 1_500, aim: 700 }),
  ]
}

/** A waiting run alone, and beside 2 000 spans a second; and the main loop beside long bodies. */
async function besideLines(server: ServerProcess, plan: Plan): Promise<Line[]> {
  const served = new Served('runs', server.url)
  const runs = async () => {
    const took: number[] = []
    for (let at = 0; at < plan.runs; at++) {
      took.push(await once(() => served.wait(crypto.randomUUID(), 'hello')))
    }
    return quantile(took, 0.5)
  }
  await runs()
  const shape = shapeOf('beside', 1_000)
  const [alone, beside]: [number[], number[]] = [[], []]
  for (let round = 0; round < plan.rounds; round++) {
    progress(`a run beside 2 000 spans a second, round ${round + 1}`)
    alone.push(await runs())
    const ended = new AbortController()
    const sending = sendPaced(server, [...bodiesOf(shape, 60, round * 1_000)], ended.signal)
    beside.push(await runs())
    ended.abort()
    await sending
  }
  const pauses = await pausesBeside(server, served)
  return [
    { measure: 'a waiting run beside 2 000 spans a second, over one alone', unit: 'times',
      figures: [`${quantile(beside, 0.5).toFixed(2)} ms`, `${quantile(alone, 0.5).toFixed(2)} ms`],
      ratio: spreadOf(ratios(beside, alone)), floor: { sign: '≤', value: 1.1 },
      aim: { sign: '≤', value: 1.05 } },
    { measure: '`/ok` beside bodies of 20 MB, longest', unit: 'ms',
      figures: [`p50 ${quantile(pauses, 0.5).toFixed(2)} ms`, `${pauses.length} calls`],
      ratio: spreadOf([Math.max(...pauses)]), floor: { sign: '≤', value: 20 },
      aim: { sign: '≤', value: 10 } },
  ]
}

/** Calls of `/ok` while another process sends long bodies, in milliseconds. */
async function pausesBeside({ url }: ServerProcess, served: Served): Promise<number[]> {
  progress('bodies of 20 MB')
  const folder = mkdtempSync(join(tmpdir(), 'heddle-bodies-'))
  const file = join(folder, 'body')
  writeFileSync(file, plainBody(shapeOf('large', 200_000), 7, 0))
  const order: LongBodyOrder = [`${url}/api/v1/runs/multipart`, file, '8']
  const sender = promisify(execFile)(process.execPath, [
    join(import.meta.dirname, 'long-body-sender.ts'),
    ...order,
  ])
  const sent = new AbortController()
  const sending = sender.finally(() => sent.abort())
  const pauses: number[] = []
  while (!sent.signal.aborted) pauses.push((await served.ask('GET', '/ok')).ms)
  await sending
  rmSync(folder, { recursive: true })
  return pauses
}

/** The questions of a page of the web UI beside 2 000 spans a second. */
async function mixedLines(server: ServerProcess, plan: Plan): Promise<Line[]> {
  progress('questions beside 2 000 spans a second')
  const served = new Served('platform', server.url)
  const project = await projectOf(served, 'asked')
  const ended = new AbortController()
  const bodies = [...bodiesOf(shapeOf('mixed', 1_000), 60, 0)]
  const sending = sendPaced(server, bodies, ended.signal)
  let user = 0
  const select = ['id', 'name', 'run_type', 'start_time', 'end_time', 'status']
  const lines = [
    await timed('beside it: newest 100 of a user, p99', plan.samples,
      () =>
        served.ask('POST', '/api/v1/runs/query', { session: [project], limit: 100, select,
          filter: `and(eq(metadata_key, "user"), eq(metadata_value, "user ${user++ % 997}"))` })),
    await timed('beside it: newest 20 traces with payload, p99', plan.samples,
      () =>
        served.ask('POST', '/api/v1/runs/query', { session: [project], limit: 20, is_root: true })),
    await timed('beside it: statistics of all spans, p99', Math.min(plan.samples, 30),
      () => served.ask('POST', '/api/v1/runs/stats', { session: [project] })),
  ]
  ended.abort()
  await sending
  return lines
}

async function sendPaced(server: ServerProcess, bodies: readonly TraceBody[],
  ended: AbortSignal): Promise<void> {
  const began = performance.now()
  const underway: Promise<void>[] = []
  let spans = 0
  while (!ended.aborted) {
    const body = bodies[underway.length % bodies.length]!
    underway.push(send(server, body))
    spans += body.spans
    await pause(Math.max(0, began + spans / 2 - performance.now()))
  }
  await Promise.all(underway)
}

/** Two servers of the same age, in turn. */
async function ownTracesLine(start: (ownTraces: 'off' | 'runs') => Promise<ServerProcess>,
  plan: Plan): Promise<Line> {
  progress('runs that are traces')
  const servers = [await start('off'), await start('runs')] as const
  const [without, traced] = servers.map(({ url }) => new Served('runs', url))
  const runs = async (served: Served) => {
    const took: number[] = []
    for (let at = 0; at < plan.runs; at++) {
      took.push(await once(() => served.wait(crypto.randomUUID(), 'hello')))
    }
    return quantile(took, 0.5)
  }
  const [plain, seen]: [number[], number[]] = [[], []]
  for (let round = -2 * plan.rounds; round < 4 * plan.rounds; round++) {
    const took = [await runs(without!), await runs(traced!)] as const
    // They become quicker until their code is compiled.
    if (round < 0) continue
    plain.push(took[0])
    seen.push(took[1])
  }
  for (const server of servers) await server.close()
  return { measure: 'a waiting run that is a trace, over one that is not', unit: 'times',
    figures: [`${quantile(seen, 0.5).toFixed(2)} ms`, `${quantile(plain, 0.5).toFixed(2)} ms`],
    ratio: spreadOf(ratios(seen, plain)), aim: { sign: '≤', value: 1.01 } }
}

async function projectOf(served: Served, name: string): Promise<string> {
  const { body } = await served.ask('GET', `/api/v1/sessions?name=${name}`)
  return (body as { id: string }[])[0]!.id
}

async function once(call: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await call()
  return performance.now() - began
}

async function timed(measure: string, samples: number, call: () => Promise<unknown>,
  { floor, aim }: { readonly floor?: number; readonly aim?: number } = {}): Promise<Line> {
  await call()
  const took: number[] = []
  for (let at = 0; at < samples; at++) took.push(await once(call))
  return { measure, unit: 'ms', figures: [`p50 ${quantile(took, 0.5).toFixed(1)} ms`],
    ratio: { low: Math.min(...took), high: Math.max(...took), median: quantile(took, 0.99) },
    ...floor !== undefined && { floor: { sign: '≤', value: floor } as const },
    ...aim !== undefined && { aim: { sign: '≤', value: aim } as const } }
}
