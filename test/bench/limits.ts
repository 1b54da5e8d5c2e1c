/** The cost of a request that is counted against a limit, compared to one that is not. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CassandraKeyspace } from '../support/cassandra-keyspace.ts'
import { startCluster } from '../support/cluster.ts'
import type { Cluster } from '../support/cluster.ts'
import { startServer } from '../support/server-process.ts'
import { progress } from './progress.ts'
import { figure } from './report.ts'
import type { Line } from './report.ts'
import { Served } from './served.ts'
import { median, ratios, spreadOf } from './statistics.ts'
import type { Rounds } from './throughput.ts'

export interface LimitPlan {
  readonly rounds: number
  /** Requests per side and round: by one client, by one that pauses, and by several. */
  readonly alone: number
  readonly seldom: number
  readonly together: number
  readonly clients: number
}

/** How many are sent at once, to one side and the other in turn. */
const blockSize = 25
/** Enough of them to lie on every member. */
const threads = 12
/** The pause of a client that asks now and then. */
const pauseMs = 200

const [unlimited, limited] = ['not limited', 'limited'] as const

/** Compares two equal servers, one with a limit, which is never reached. */
export async function limitLines(plan: LimitPlan): Promise<Line[]> {
  progress('limits')
  return await withOverrides(async (args) => {
    const servers = await Promise.all([
      startServer({ project: 'conformance' }),
      startServer({ project: 'conformance', args }),
    ])
    try {
      return await linesOf('heddle', servers.map(({ url }) => [url]), plan)
    } finally {
      await Promise.all(servers.map((server) => server.close()))
    }
  })
}

/** Compares that cluster to one of the same size with limits, through all front doors in turn. */
export async function clusterLimitLines(cluster: Cluster, place: CassandraKeyspace,
  plan: LimitPlan): Promise<Line[]> {
  progress('a cluster with limits')
  const members = cluster.members.length
  return await withOverrides(async (args) => {
    const counting = await startCluster({ members, cassandra: place, project: 'bench', args })
    try {
      progress('limits')
      return await linesOf(`${members} members`, [cluster.frontDoors, counting.frontDoors], plan)
    } finally {
      await counting.close()
    }
  })
}

/** Measures with the options of a server whose limit is never reached. */
async function withOverrides(
  measure: (args: readonly string[]) => Promise<Line[]>,
): Promise<Line[]> {
  const folder = await mkdtemp(join(tmpdir(), 'heddle-limits-'))
  const file = join(folder, 'limits.json')
  await writeFile(file, JSON.stringify({ 'catch-all': { count: 1_000_000, intervalSeconds: 10 } }))
  try {
    return await measure(['--limits', 'on', '--limit-overrides', file])
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function linesOf(whose: string, urls: readonly (readonly string[])[],
  plan: LimitPlan): Promise<Line[]> {
  const doors = urls.map((side) => side.map((url) => new Served(url, url)))
  try {
    const asks = await Promise.all(doors.map(getsThrough))
    const [alone, seldom, together] = [newRounds(), newRounds(), newRounds()]
    for (let round = -1; round < plan.rounds; round += 1) {
      const rows = [await oneByOne(asks, plan), await nowAndThen(asks, plan)]
        .map((sides) => sides.map(median))
      rows.push(await atOnce(asks, plan))
      // The first round is a warm-up.
      if (round < 0) continue
      for (const [number, figures] of [alone, seldom, together].entries()) {
        for (const [index, name] of [unlimited, limited].entries()) {
          figures.get(name)!.push(rows[number]![index]!)
        }
      }
    }
    const line = (who: string, what: string, figures: Rounds, unit: 'ms' | '/s'): Line => ({
      measure: `${whose}: get of a thread, ${who}, ${what}, limited over not limited`,
      unit: 'times',
      figures: [figure(figures, unlimited, unit), figure(figures, limited, unit)],
      ratio: spreadOf(unit === 'ms'
        ? ratios(figures.get(limited)!, figures.get(unlimited)!)
        : ratios(figures.get(unlimited)!, figures.get(limited)!)),
      aim: { sign: '≤', value: 1.3 },
    })
    return [
      line('1 client', 'p50', alone, 'ms'),
      line(`1 client every ${pauseMs} ms`, 'p50', seldom, 'ms'),
      line(`${plan.clients} clients`, 'time a request', together, '/s'),
    ]
  } finally {
    for (const door of doors.flat()) door.close()
  }
}

/**
 * Asks for one thread after the other, for each through those doors in turn. A single thread would
 * make a third of the time depend on chance: if its owner is the member that counts, a request
 * through another door goes to that member twice, and otherwise to two members once each.
 */
async function getsThrough(doors: readonly Served[]): Promise<Ask> {
  const paths = await Promise.all(Array.from({ length: threads }, async () => {
    const { body } = await doors[0]!.ask('POST', '/threads', {})
    return `/threads/${(body as { thread_id: string }).thread_id}`
  }))
  let turn = 0
  return () => {
    const path = paths[Math.floor(turn / doors.length) % threads]!
    return doors[turn++ % doors.length]!.ask('GET', path)
  }
}

type Ask = () => Promise<{ readonly ms: number }>

function newRounds() {
  return new Map<string, number[]>([[unlimited, []], [limited, []]])
}

async function oneByOne(asks: readonly Ask[], { alone }: LimitPlan): Promise<number[][]> {
  const times: number[][] = asks.map(() => [])
  for (let asked = 0; asked < alone; asked += blockSize) {
    for (const [index, ask] of asks.entries()) {
      for (let number = 0; number < blockSize; number += 1) times[index]!.push((await ask()).ms)
    }
  }
  return times
}

/** One request on each side, then a pause. */
async function nowAndThen(asks: readonly Ask[], { seldom }: LimitPlan): Promise<number[][]> {
  const times: number[][] = asks.map(() => [])
  for (let asked = 0; asked < seldom; asked += 1) {
    await new Promise((ended) => setTimeout(ended, pauseMs))
    for (const [index, ask] of asks.entries()) times[index]!.push((await ask()).ms)
  }
  return times
}

/** Requests per second; the sides alternate, because the speed of a machine varies. */
async function atOnce(asks: readonly Ask[], { together, clients }: LimitPlan): Promise<number[]> {
  const spentMs = asks.map(() => 0)
  for (let turn = 0; turn < turns; turn += 1) {
    for (const [index, ask] of asks.entries()) {
      let left = together / turns
      const began = performance.now()
      await Promise.all(Array.from({ length: clients }, async () => {
        while (left-- > 0) await ask()
      }))
      spentMs[index]! += performance.now() - began
    }
  }
  return spentMs.map((ms) => together / (ms / 1_000))
}

const turns = 8
