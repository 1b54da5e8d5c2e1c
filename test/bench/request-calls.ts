/** Calls of Cassandra for single requests of one client, by the kind of the request. */

import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'

import type { CassandraKeyspace } from '../support/cassandra-keyspace.ts'
import { startServer } from '../support/server-process.ts'
import { within } from './patience.ts'
import { progress } from './progress.ts'
import type { Line } from './report.ts'
import { Served } from './served.ts'
import { callLines, storeCalls } from './store-calls.ts'
import type { CountedRequest } from './store-calls.ts'
import { graphId, turn } from './target.ts'

const startMs = 120_000
const answerMs = 60_000
const restS = 10
/** A run that takes long: each of its supersteps is in a row of its own. */
const threeSteps = { assistant_id: 'laps', input: { laps: 3, pauseMs: 600 } }
const warmUp = { assistant_id: 'laps', input: { laps: 3, pauseMs: 50 } }
/** Runs that take long, one after the other. */
const longRuns = 10

/** Starts members on the keyspace, one after the other, and sends so many requests of each kind. */
export async function requestLines(place: CassandraKeyspace, times: number): Promise<Line[]> {
  const threads = Array.from({ length: times }, () => randomUUID())
  const run = { assistant_id: graphId, input: turn('hello') }
  const warm = await withMember(place, async (served) => {
    const begin = threads.slice(0, 20).map((): Request => ['POST', '/runs/wait', run])
    await counted(place, served, { name: 'run to begin with' }, begin)
    // The first run of a graph in a worker is slow, and may write a row more.
    await Promise.all(begin.map(() => served.ask('POST', '/runs/wait', warmUp)))
    await untilLoaded(place)
    const rest = await restLines(place)
    const each = (kind: Kind, requests: readonly Request[]) =>
      counted(place, served, kind, requests)
    return [
      ...rest,
      ...await each({ name: 'created thread', writes: 1.2, ofLog: 0.1 },
        threads.map(() => ['POST', '/threads', {}])),
      ...await each({ name: 'run, 1 client', writes: 3.2, reads: 1.2 }, threads.map((
        id,
      ) => ['POST', `/threads/${id}/runs/wait`, { ...run, if_not_exists: 'create' }])),
      ...await each({ name: 'run on an existing thread', writes: 3.2, reads: 1.2 },
        threads.map((id) => ['POST', `/threads/${id}/runs/wait`, run])),
      ...await each({ name: 'run of three supersteps of 0.6 s', writes: 8.2 },
        Array.from({ length: longRuns }, () => ['POST', `/threads/${randomUUID()}/runs/wait`, {
          ...threeSteps,
          if_not_exists: 'create',
        }])),
      ...await each({ name: 'state in memory', ofLog: 0 }, threads.map(stateOf)),
      ...await each({ name: 'stateless run', writes: 3, reads: 1 },
        threads.map(() => ['POST', '/runs/wait', run])),
    ]
  })
  const cold = await withMember(place, async (served) => {
    await untilLoaded(place)
    return coldLines(place, served, threads)
  })
  return [...warm, ...cold]
}

async function coldLines(place: CassandraKeyspace, served: Served,
  threads: readonly string[]): Promise<Line[]> {
  return [
    ...await counted(place, served, { name: 'cold state', ofLog: 3 }, threads.map(stateOf)),
    ...await counted(place, served, { name: 'copied thread', writes: 1.5, reads: 4.2 },
      threads.map((id) => ['POST', `/threads/${id}/copy`])),
    ...await counted(place, served, { name: 'deleted thread', writes: 4.5, reads: 6 },
      threads.map((id) => ['DELETE', `/threads/${id}`])),
  ]
}

/** A kind of request, and at most how many calls it may take. */
type Kind = Omit<CountedRequest, 'times' | 'request'> & { readonly name: string }

type Request = readonly [method: string, path: string, body?: object]

function stateOf(threadId: string): Request {
  return ['GET', `/threads/${threadId}/state`]
}

/** Resolves when the member has read the rows of its shards. */
export async function untilLoaded(place: CassandraKeyspace): Promise<void> {
  for (let before = -1;;) {
    const reads = (await storeCalls(place)).get('read item_row') ?? 0
    if (reads === before && reads > 0) return
    before = reads
    await pause(2_000)
  }
}

/** Calls that the member makes without any request. */
async function restLines(place: CassandraKeyspace): Promise<Line[]> {
  progress(`${restS} seconds without a request`)
  const before = await storeCalls(place)
  await pause(restS * 1_000)
  return callLines(before, await storeCalls(place), { times: restS,
    request: 'second without a request' })
}

async function withMember(place: CassandraKeyspace,
  measure: (served: Served) => Promise<Line[]>): Promise<Line[]> {
  const server = await within(startMs, 'a member alone',
    startServer({ project: 'bench', cassandra: place, args: ['--member-host', '127.0.0.1'] }))
  const served = new Served('member', server.url)
  try {
    return await measure(served)
  } finally {
    served.close()
    await server.close()
  }
}

async function counted(place: CassandraKeyspace, served: Served, { name, ...most }: Kind,
  requests: readonly Request[]): Promise<Line[]> {
  progress(`${requests.length} times: ${name}`)
  const before = await storeCalls(place)
  for (const request of requests) await within(answerMs, name, served.ask(...request))
  return callLines(before, await storeCalls(place), { times: requests.length, request: name,
    ...most })
}
