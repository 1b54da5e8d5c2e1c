/** The benchmark of a cluster: three members on three nodes of Cassandra, on this machine. */

import { dropKeyspace, newKeyspace } from '../support/cassandra-keyspace.ts'
import type { CassandraKeyspace } from '../support/cassandra-keyspace.ts'
import { startCluster } from '../support/cluster.ts'
import type { Cluster } from '../support/cluster.ts'
import { startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { burstLinesOf, burstPlans } from './bursts.ts'
import { whereOf } from './cassandra.ts'
import type { CassandraBench } from './cassandra.ts'
import { failoverLines } from './failover.ts'
import { handOverLines } from './hand-over.ts'
import { idleLines, probedEnv } from './idle-actors.ts'
import { clusterLimitLines } from './limits.ts'
import { memberCountLines } from './member-count.ts'
import { untilWhole } from './ownership-view.ts'
import { within } from './patience.ts'
import { progress } from './progress.ts'
import { readerLines } from './readers.ts'
import type { Bench, Line } from './report.ts'
import { requestLines, untilLoaded } from './request-calls.ts'
import { statelessLines } from './stateless-memory.ts'
import { callLines, storeCalls } from './store-calls.ts'
import type { CallCounts } from './store-calls.ts'
import { openStoreHouse } from './store-house.ts'
import { putThreads } from './thread-rows.ts'
import { wrongDoorLines } from './wrong-door.ts'

const plans = {
  // No more watchers of hand-overs than two cores can serve: further ones would wait for the CPU.
  full: {
    threads: 100_000,
    wrongDoor: { rounds: 5, threads: 20, samples: 100 },
    readers: { rounds: 2, runs: 100, readers: 10, perSecond: 20, seconds: 20, leadMs: 20_000 },
    handOver: { rounds: 3, threads: 6, pauseMs: 100, callers: 2 },
    failover: { kills: 10, steps: 40, pauseMs: 100, before: 10 },
    memberCount: { rounds: 5, runs: 400, warmUp: 300, clients: 32 },
    idle: { actors: 10_000, clients: 32 },
    // The heaps of V8 grow until a server has done some 30 000 runs.
    stateless: { runs: 20_000, warmUp: 30_000, clients: 32 },
    requests: 400,
    limits: { rounds: 7, alone: 400, seldom: 40, together: 2_000, clients: 32 },
  },
  quick: {
    threads: 1_000,
    wrongDoor: { rounds: 2, threads: 6, samples: 10 },
    readers: { rounds: 1, runs: 10, readers: 10, perSecond: 20, seconds: 3, leadMs: 8_000 },
    handOver: { rounds: 1, threads: 6, pauseMs: 100, callers: 2 },
    failover: { kills: 1, steps: 20, pauseMs: 100, before: 5 },
    memberCount: { rounds: 2, runs: 64, warmUp: 32, clients: 32 },
    idle: { actors: 200, clients: 32 },
    stateless: { runs: 200, warmUp: 50, clients: 32 },
    requests: 40,
    limits: { rounds: 2, alone: 50, seldom: 2, together: 200, clients: 32 },
  },
}

type Plan = typeof plans.full

const members = 3
const project = 'bench'
const startMs = 120_000

export async function benchCluster({ quick, cassandra, own }: CassandraBench): Promise<Bench> {
  const plan = quick ? plans.quick : plans.full
  const [place, alone, limited] = [newKeyspace(cassandra), newKeyspace(cassandra),
    newKeyspace(cassandra)]
  try {
    await fill(place, plan.threads)
    const lines = await withCluster(place, plan, async (cluster) => [
      ...await failoverLines(cluster, plan.failover, plan.threads),
      ...await handOverLines(cluster, plan.handOver, plan.threads),
      ...await wrongDoorLines(cluster, plan.wrongDoor),
      ...await readerLines(cluster, plan.readers),
      ...await clusterLimitLines(cluster, limited, plan.limits),
      ...await besideOne(cluster, alone, plan),
      ...await requestLines(alone, plan.requests),
      ...await burstLinesOf(`${members} members`, cluster.frontDoors,
        quick ? burstPlans.quick : burstPlans.full),
    ])
    return { title: 'Benchmark of a cluster', lines, notes: notes(own), file: 'RESULTS-cluster.md' }
  } finally {
    if (!own) await Promise.all([place, alone, limited].map(dropKeyspace))
  }
}

/** Measures only bursts, through the front doors of three members. */
export async function benchClusterBursts(
  { quick, cassandra, own }: CassandraBench,
): Promise<Bench> {
  const plan = quick ? plans.quick : plans.full
  const place = newKeyspace(cassandra)
  try {
    await fill(place, 0)
    const lines = await withCluster(place, { ...plan, threads: 0 }, ({ frontDoors }) =>
      burstLinesOf(`${members} members`, frontDoors, quick ? burstPlans.quick : burstPlans.full))
    return { title: 'Benchmark of bursts in a cluster', lines, notes: notes(own),
      file: 'RESULTS-cluster.md' }
  } finally {
    if (!own) await dropKeyspace(place)
  }
}

/** Measures only calls of Cassandra, of one member. */
export async function benchCalls({ quick, cassandra, own }: CassandraBench): Promise<Bench> {
  const plan = quick ? plans.quick : plans.full
  const place = newKeyspace(cassandra)
  try {
    const together = await withOne(place, async (server) => {
      await untilLoaded(place)
      const before = await storeCalls(place)
      const idle = await idleLines(server, plan.idle)
      return [...runLines(before, await storeCalls(place), plan), ...idle,
        ...await statelessLines(server, plan.stateless)]
    })
    const lines = [...together, ...await requestLines(place, plan.requests)]
    return { title: 'Calls of Cassandra', lines, notes: callNotes(own), file: 'RESULTS-calls.md' }
  } finally {
    if (!own) await dropKeyspace(place)
  }
}

/** Creates the tables, and threads without runs. */
async function fill(place: CassandraKeyspace, threads: number): Promise<void> {
  progress(`${threads} threads`)
  // The first to open the store creates its tables.
  const house = await openStoreHouse(place)
  await house.close()
  await putThreads(place, threads)
}

/** The cost of several members compared to one, and the cost of threads to one member. */
async function besideOne(cluster: Cluster, place: CassandraKeyspace, plan: Plan): Promise<Line[]> {
  return withOne(place, async (single) => {
    const counts = await memberCountLines(single.url, cluster.frontDoors, plan.memberCount)
    const before = await storeCalls(place)
    const idle = await idleLines(single, plan.idle)
    const runs = runLines(before, await storeCalls(place), plan)
    return [...counts, ...runs, ...idle, ...await statelessLines(single, plan.stateless)]
  })
}

function runLines(before: CallCounts, after: CallCounts, { idle: { actors } }: Plan): Line[] {
  return callLines(before, after, { times: actors, request: 'run, 32 clients', writes: 3.2,
    reads: 0.5 })
}

async function withOne(place: CassandraKeyspace,
  measure: (server: ServerProcess) => Promise<Line[]>): Promise<Line[]> {
  progress('a member alone')
  const single = await within(startMs, 'a member alone',
    startServer({ project, env: probedEnv, cassandra: place,
      args: ['--member-host', '127.0.0.1'] }))
  try {
    return await measure(single)
  } finally {
    await single.close()
  }
}

async function withCluster(place: CassandraKeyspace, { threads }: Plan,
  measure: (cluster: Cluster) => Promise<Line[]>): Promise<Line[]> {
  progress(`${members} members`)
  const cluster = await within(startMs, 'a cluster that serves',
    startCluster({ members, cassandra: place, project }))
  try {
    await untilWhole(cluster, threads)
    return await measure(cluster)
  } catch (error) {
    console.error(cluster.story())
    throw error
  } finally {
    await cluster.close()
  }
}

function callNotes(own: boolean): string {
  return [
    own ? 'One node of Cassandra on this machine.' : `${whereOf(false)}.`,
    'Calls as the node counts them, of one member, with those that it makes anyway: the line of a',
    'second without a request has these. Without a number of clients, of one client that sends one',
    'request after the other. Reads of node_session are ownership checks. Cold: the member was',
    'started anew, and has read the rows of its shards. Threads of runs are new, with ids that the',
    'client chose. Memory is counted after a collection of garbage in all threads; resident memory',
    'also has what their heaps, and the allocator, have not given back.',
  ].join('\n')
}

function notes(own: boolean): string {
  return [
    `${whereOf(own)}. The nodes, the members, the clients and`,
    'what measures them share its cores: a member that starts or takes over competes with all',
    'of them. Three members, each with a front door. Before a member is killed or ended every',
    'shard is owned where it is placed, and searches cover all threads. SIGKILL: from the signal',
    'to the first update that another member executed, of a run in supersteps of 100 ms, in a',
    'stream that was opened through a front door that lives on; claimed: until that front door',
    'hears of another owner. No update was lost or told twice. SIGTERM: streams and requests go',
    'through the other front doors; anything but success is a failure, and so is a stream that',
    'the client had to open again; a pause is the time between two updates of one stream, and the',
    'longest of all streams and rounds stands in the table. A member that returns takes its shards',
    'over from members that live. Another front door: the same requests on the same threads,',
    'through the one and the other in turn. Readers: bare sockets in two processes, through all',
    'front doors in turn; delay from when a node of the graph writes a custom event to when a',
    'reader has it, by the clock of this machine. One member beside three: each on a keyspace of',
    'its own in the same Cassandra, in turn; one machine gets no faster by more processes. Calls',
    'of Cassandra: as its nodes count them, of one member; without a number of clients, of one',
    'client that sends one request after the other. Reads of node_session are ownership checks.',
    'Cold: the member was started anew, and reads the rows of its shards as well. Idle: threads',
    'after one run with two messages, counted after a collection of garbage; resident memory holds',
    'what the collector has not given back.',
  ].join('\n')
}
