/**
 * Rows that are written behind the acknowledgement, beside the same server without them: what a run
 * writes, and how many there are in a second, if it is short and if it takes seconds.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'

import { dropKeyspace, newKeyspace } from '../support/cassandra-keyspace.ts'
import type { CassandraKeyspace } from '../support/cassandra-keyspace.ts'
import { startServer } from '../support/server-process.ts'
import { earlierOrExit, quartiles } from './against.ts'
import type { CassandraBench } from './cassandra.ts'
import { within } from './patience.ts'
import { progress } from './progress.ts'
import type { Bench, Line } from './report.ts'
import { Served } from './served.ts'
import { median, ratios } from './statistics.ts'
import { storeCalls } from './store-calls.ts'
import type { CallCounts } from './store-calls.ts'
import { graphId, turn } from './target.ts'

/** Runs of one kind: each client waits for one after the other. */
interface Load {
  readonly name: string
  readonly clients: number
  /** Runs of a round. */
  readonly runs: number
  readonly body: object
}

const pauseMs = 2_000
const echo = { assistant_id: graphId, input: turn('hello') }
const laps = { assistant_id: 'laps', input: { laps: 1, pauseMs } }

const plans = {
  full: { rounds: 6, short: 600, long: 600, warmUp: 600 },
  quick: { rounds: 1, short: 40, long: 20, warmUp: 20 },
}

const answerMs = 120_000
/** By then rows that waited are written. */
const restMs = 6_000
const line = '  const projections = isFinished\n'

/** Measures both on keyspaces of their own in one Cassandra, in turn. */
export async function benchLateRows({ quick, cassandra }: CassandraBench): Promise<Bench> {
  const plan = quick ? plans.quick : plans.full
  const before = earlierOrExit('HEAD')
  writeThrough(before.home)
  const places = [newKeyspace(cassandra), newKeyspace(cassandra)] as const
  const args = ['--member-host', '127.0.0.1']
  const servers = [await startServer({ project: 'bench', cassandra: places[0], args }),
    await startServer({ project: 'bench', cassandra: places[1], args, program: before.home })]
  const late = { name: 'late', place: places[0], served: new Served('late', servers[0]!.url) }
  const through = { name: 'written before', place: places[1],
    served: new Served('written before', servers[1]!.url) }
  try {
    const loads: Load[] = [
      { name: 'short runs, 32 clients', clients: 32, runs: plan.short, body: echo },
      { name: `runs of ${pauseMs / 1_000} s, 200 clients`, clients: 200, runs: plan.long,
        body: laps },
    ]
    for (const { served } of [late, through]) {
      await all(served, { ...loads[0]!, runs: plan.warmUp })
      await all(served, { ...loads[1]!, runs: 200 })
    }
    const lines: Line[] = []
    for (const load of loads) lines.push(...await linesOf(load, [late, through], plan.rounds))
    return { title: 'Benchmark of rows that are written later', lines, notes: '',
      file: 'RESULTS-cassandra.md' }
  } finally {
    for (const { served } of [late, through]) served.close()
    for (const server of servers) await server.close()
    before.remove()
    await Promise.all(places.map(dropKeyspace))
  }
}

/** Takes rows that are written later out of a checkout of this program. */
function writeThrough(home: string): void {
  const file = join(home, 'src/store/cassandra/store.ts')
  const text = readFileSync(file, 'utf8')
  if (!text.includes(line)) throw new Error(`${file} has no line that says what is written later`)
  writeFileSync(file, text.replace(line, '  const projections = isFinished && shards < 0\n'))
}

interface Side {
  readonly name: string
  readonly place: CassandraKeyspace
  readonly served: Served
}

async function linesOf(load: Load, sides: readonly [Side, Side], rounds: number): Promise<Line[]> {
  const perSecond = sides.map((): number[] => [])
  const calls: CallCounts[][] = sides.map(() => [])
  for (let round = 0; round < rounds; round++) {
    for (const [i, { name, place, served }] of sides.entries()) {
      progress(`${load.name}, ${name}, round ${round + 1}`)
      const before = await storeCalls(place)
      const began = performance.now()
      await all(served, load)
      perSecond[i]!.push(load.runs / (performance.now() - began) * 1_000)
      await pause(restMs)
      calls[i]!.push(difference(before, await storeCalls(place), load.runs))
    }
  }
  const measured = (i: 0 | 1): Measured => ({ name: sides[i].name, perSecond: perSecond[i]!,
    calls: calls[i]! })
  const [now, then] = [measured(0), measured(1)]
  const compared = (measure: string, of: (side: Measured) => readonly number[],
    figure: (value: number) => string): Line => ({ measure: `${load.name}: ${measure}`,
      unit: 'times', ratio: quartiles(ratios(of(now), of(then))),
      figures: [now, then].map((side) => `${side.name} ${figure(median(of(side)))}`) })
  return [
    compared('runs per second', (side) => side.perSecond, (value) => `${value.toFixed(0)} /s`),
    compared('writes of Cassandra', (side) => side.calls.map((each) => sumOf(each, 'write')),
      (value) => value.toFixed(2)),
    compared('reads of Cassandra', (side) => side.calls.map((each) => sumOf(each, 'read')),
      (value) => value.toFixed(2)),
    { measure: `${load.name}: writes by table, late`, unit: 'rows', figures: tables(now),
      ratio: quartiles(now.calls.map((each) => sumOf(each, 'write'))) },
    { measure: `${load.name}: writes by table, written before`, unit: 'rows', figures: tables(then),
      ratio: quartiles(then.calls.map((each) => sumOf(each, 'write'))) },
  ]
}

interface Measured {
  readonly name: string
  readonly perSecond: readonly number[]
  readonly calls: readonly CallCounts[]
}

function sumOf(counts: CallCounts, what: string): number {
  return [...counts].filter(([call]) => call.startsWith(what))
    .reduce((sum, [, count]) => sum + count, 0)
}

function tables({ calls }: Measured): string[] {
  const names = [...new Set(calls.flatMap((each) => [...each.keys()]))]
    .filter((call) => call.startsWith('write'))
  return names.map((call) => [call, median(calls.map((each) => each.get(call) ?? 0))] as const)
    .filter(([, count]) => count >= 0.005)
    .map(([call, count]) => `${call.slice('write '.length)} ${count.toFixed(2)}`)
}

function difference(before: CallCounts, after: CallCounts, times: number): CallCounts {
  return new Map(
    [...after].map(([call, count]) => [call, (count - (before.get(call) ?? 0)) / times]),
  )
}

async function all(served: Served, { name, clients, runs, body }: Load): Promise<void> {
  let left = runs
  await Promise.all(Array.from({ length: clients }, async () => {
    while (left-- > 0) {
      await within(answerMs, name,
        served.ask('POST', `/threads/${randomUUID()}/runs/wait`, { ...body,
          if_not_exists: 'create' }))
    }
  }))
}
