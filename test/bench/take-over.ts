/** A take-over of many busy threads from a member that was killed, beside an earlier version. */

import { randomUUID } from 'node:crypto'

import { forEachLimit } from '../../src/store/cassandra/driver/for-each-limit.ts'
import { dropKeyspace, newKeyspace } from '../support/cassandra-keyspace.ts'
import { startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { earlierOrExit } from './against.ts'
import type { CassandraBench } from './cassandra.ts'
import { until, within } from './patience.ts'
import { progress } from './progress.ts'
import type { Bench, Line } from './report.ts'
import { Served } from './served.ts'
import { spreadOf } from './statistics.ts'
import { graphId, turn } from './target.ts'

const clients = 32
const answerMs = 60_000
const wholeMs = 300_000
/** A superstep of a run that continues: long, so that the runs are little load for two cores. */
const superstepMs = 5_000

/** A program under its name in the table; this one if it has no folder. */
interface Side {
  readonly name: string
  readonly program?: string
}

const now: Side = { name: 'now' }

/** Busy threads of the member that is killed. */
interface Load {
  /** What the threads have, and when the next member has taken them over. */
  readonly threads: string
  readonly taken: string
  begin(server: ServerProcess): Promise<void>
  untilTaken(next: ServerProcess): Promise<void>
}

/** `commit` is the earlier version; without one, this version is measured alone. */
export async function benchTakeOver(
  { quick, cassandra, commit }: CassandraBench & { readonly commit?: string | undefined },
): Promise<Bench> {
  const loads = [delayedRuns(quick ? 400 : 20_000), openRuns(quick ? 20 : 100)]
  const earlier = commit === undefined ? undefined : earlierOrExit(commit)
  // The node of Cassandra gets faster with each: whoever comes first comes last, too.
  const turns = earlier === undefined
    ? [now]
    : [now, { name: commit!, program: earlier.home }, { name: commit!, program: earlier.home }, now]
  try {
    const lines: Line[] = []
    for (const load of loads) {
      for (const side of turns) lines.push(await takeOver(cassandra, load, side))
    }
    return { title: 'Benchmark of a take-over', lines, file: 'RESULTS-cluster.md', notes: '' }
  } finally {
    earlier?.remove()
  }
}

/** From the start of the next member until it has taken over. */
async function takeOver(cassandra: CassandraBench['cassandra'], load: Load,
  { name, program }: Side): Promise<Line> {
  const place = newKeyspace(cassandra)
  const options = { project: 'bench', cassandra: place, args: ['--member-host', '127.0.0.1'],
    ...program !== undefined && { program } }
  progress(`${load.threads}, ${name}`)
  const first = await startServer(options)
  const began = performance.now()
  try {
    await load.begin(first)
  } finally {
    await first.kill('SIGKILL')
  }
  const madeMs = performance.now() - began
  progress(`the next member, ${name}`)
  const killed = performance.now()
  const next = await startServer(options)
  try {
    const servedMs = performance.now() - killed
    await load.untilTaken(next)
    const takenMs = performance.now() - killed
    return { measure: `a member killed with ${load.threads}: until the next ${load.taken}, ${name}`,
      unit: 's', ratio: spreadOf([takenMs / 1_000]),
      figures: [`begun in ${(madeMs / 1_000).toFixed(0)} s`,
        `serves after ${(servedMs / 1_000).toFixed(1)} s`] }
  } finally {
    await Promise.all([next.close(), first.close()])
    await dropKeyspace(place)
  }
}

/** A run on each thread that is due much later. */
function delayedRuns(count: number): Load {
  return {
    threads: `${count} busy threads`,
    taken: 'finds them all',
    begin: ({ url }) =>
      beginRuns(url, randomIds(count), { input: turn('later'), after_seconds: 86_400 }),
    async untilTaken({ url }) {
      const served = new Served('member', url)
      await until(wholeMs, `a search that finds ${count} busy threads`, async () => {
        const { body } = await served.ask('POST', '/threads/count', { status: 'busy' })
        return Number(body) >= count || undefined
      })
      served.close()
    },
  }
}

/** A run on each thread that executes one superstep after the other. */
function openRuns(count: number): Load {
  const ids = randomIds(count)
  return {
    threads: `${count} runs in progress`,
    taken: `has ended a superstep of ${superstepMs / 1_000} s of each`,
    async begin(server) {
      await beginRuns(server.url, ids, { assistant_id: 'laps', config: { recursion_limit: 1_000 },
        input: { laps: 900, pauseMs: superstepMs } })
      await untilExecutedBy(server, ids)
    },
    untilTaken: (next) => untilExecutedBy(next, ids),
  }
}

/** Resolves when the newest superstep of each thread was executed in the process of the server. */
async function untilExecutedBy({ url, pid }: ServerProcess, ids: readonly string[]): Promise<void> {
  const served = new Served('member', url)
  await forEachLimit(clients, ids, async (id) => {
    await until(wholeMs, `a superstep of thread ${id}`, async () => {
      // The thread may have no owner yet.
      const answer = await served.ask('GET', `/threads/${id}/state`).catch(() => undefined)
      const { values } = (answer?.body ?? {}) as { values?: { pid?: number } }
      return values?.pid === pid || undefined
    }, 250)
  })
  served.close()
}

/** Begins a run on each of new threads. */
async function beginRuns(url: string, ids: readonly string[], run: object): Promise<void> {
  const served = new Served('member', url)
  const body = { assistant_id: graphId, if_not_exists: 'create', ...run }
  await forEachLimit(clients, ids, async (id) => {
    await within(answerMs, 'a run', served.ask('POST', `/threads/${id}/runs`, body))
  })
  served.close()
}

function randomIds(count: number): readonly string[] {
  return Array.from({ length: count }, () => randomUUID())
}
