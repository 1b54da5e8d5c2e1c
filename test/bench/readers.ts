/** Many readers of many streams: how late each of them gets an event. */

import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import type { Cluster } from '../support/cluster.ts'
import { within } from './patience.ts'
import { progress } from './progress.ts'
import type { ReaderOrder, ReaderReport } from './reader-process.ts'
import type { Line } from './report.ts'
import { Served } from './served.ts'
import { quantile, spreadOf } from './statistics.ts'

export interface ReadersPlan {
  readonly rounds: number
  readonly runs: number
  /** Readers per run, through all front doors in turn. */
  readonly readers: number
  readonly perSecond: number
  readonly seconds: number
  /** Time until the first event, enough for all readers to connect. */
  readonly leadMs: number
}

type Read = Extract<ReaderReport, { kind: 'read' }>

const processes = 2
const requestMs = 30_000
const afterMs = 60_000

export async function readerLines(cluster: Cluster, plan: ReadersPlan): Promise<Line[]> {
  const { runs, readers, perSecond, seconds } = plan
  const all: Record<'p50' | 'p99' | 'worst', number[]> = { p50: [], p99: [], worst: [] }
  let [seen, expected] = [0, 0]
  for (let round = 0; round < plan.rounds; round += 1) {
    progress(`${runs * readers} readers`)
    const delays = await readRuns(cluster, plan)
    all.p50.push(quantile(delays, 0.5))
    all.p99.push(quantile(delays, 0.99))
    all.worst.push(quantile(delays, 1))
    seen += delays.length
    expected += runs * readers * perSecond * seconds
  }
  return [{
    measure: `${runs} runs × ${readers} readers, ${perSecond} events a second each: delay, p99`,
    unit: 'ms',
    ratio: spreadOf(all.p99),
    aim: { sign: '≤', value: 100 },
    figures: [`p50 ${quantile(all.p50, 0.5).toFixed(0)} ms`,
      `worst ${Math.max(...all.worst).toFixed(0)} ms`, `${seen} of ${expected} events heard`],
  }]
}

/** Delays in milliseconds of all events of all readers. */
async function readRuns({ frontDoors }: Cluster, plan: ReadersPlan): Promise<number[]> {
  const beginAtMs = Date.now() + plan.leadMs
  const paths = await startRuns(frontDoors, plan, beginAtMs)
  const doors = Array.from({ length: plan.readers },
    (_, reader) => frontDoors[reader % frontDoors.length]!)
  const children = Array.from({ length: processes }, () => new ReaderProcess())
  try {
    for (const [index, child] of children.entries()) {
      child.begin({ doors, paths: paths.filter((_, run) => run % processes === index) })
    }
    await Promise.all(
      children.map(({ connected }) =>
        within(plan.leadMs, 'the connection of every reader, before the first event,', connected)
      ),
    )
    const spanMs = plan.leadMs + plan.seconds * 1_000 + afterMs
    const reads = await Promise.all(
      children.map(({ read }) => within(spanMs, 'the end of every stream', read)),
    )
    const broken = reads.reduce((sum, read) => sum + read.broken, 0)
    if (broken > 0) throw new Error(`${broken} of the streams broke.`)
    const all = reads.flatMap(({ delaysMs }) => delaysMs)
    notifyShort(all.map(({ length }) => length), plan)
    return all.flatMap((own) => [...own])
  } finally {
    for (const child of children) child.end()
  }
}

/** Starts the runs, which are out of phase; returns the paths of their streams. */
async function startRuns(frontDoors: readonly string[], plan: ReadersPlan,
  beginAtMs: number): Promise<string[]> {
  const doors = frontDoors.map((url) => new Served(url, url))
  const everyMs = 1_000 / plan.perSecond
  try {
    return await Promise.all(Array.from({ length: plan.runs }, async (_, run) => {
      const threadId = randomUUID()
      const input = { everyMs, count: plan.perSecond * plan.seconds,
        beginAtMs: beginAtMs + everyMs * run / plan.runs }
      const { body } = await within(requestMs, 'a run in the background',
        doors[run % doors.length]!.ask('POST', `/threads/${threadId}/runs`, {
          assistant_id: 'ticks',
          input,
          stream_mode: ['custom'],
          if_not_exists: 'create',
        }))
      const { run_id: runId } = body as { run_id: string }
      return `/threads/${threadId}/runs/${runId}/stream?stream_mode=custom`
    }))
  } finally {
    for (const door of doors) door.close()
  }
}

/** Warns of lost events: events of this kind may be lost, and the figures do not show it. */
function notifyShort(received: readonly number[], { perSecond, seconds }: ReadersPlan): void {
  const short = received.filter((events) => events < perSecond * seconds)
  if (short.length === 0) return
  progress(`${short.length} readers missed events; one heard ${Math.min(...short)} of ` +
    `${perSecond * seconds}`)
}

class ReaderProcess {
  readonly #child: ChildProcess
  readonly #connected = Promise.withResolvers<void>()
  readonly #read = Promise.withResolvers<Read>()

  constructor() {
    this.#child = fork(fileURLToPath(new URL('./reader-process.ts', import.meta.url)), {
      serialization: 'advanced',
    })
    const fail = (why: string) => {
      for (const waiting of [this.#connected, this.#read]) waiting.reject(new Error(why))
    }
    for (const { promise } of [this.#connected, this.#read]) promise.catch(() => undefined)
    this.#child.on('message', (report: ReaderReport) => {
      if (report.kind === 'connected') this.#connected.resolve()
      else if (report.kind === 'read') this.#read.resolve(report)
      else fail(`A reader could not read: ${report.why}`)
    })
    this.#child.on('exit', () => fail('A process of readers ended.'))
  }

  get connected(): Promise<void> {
    return this.#connected.promise
  }

  get read(): Promise<Read> {
    return this.#read.promise
  }

  begin(order: ReaderOrder): void {
    this.#child.send(order)
  }

  end(): void {
    this.#child.kill('SIGKILL')
  }
}
