/** A take-over of many busy threads from a member that was killed, beside an earlier version. */

import { randomUUID } from 'node:crypto'

import { dropKeyspace, newKeyspace } from '../support/cassandra-keyspace.ts'
import { startServer } from '../support/server-process.ts'
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

/** A program under its name in the table; this one if it has no folder. */
interface Side {
  readonly name: string
  readonly program?: string
}

const now: Side = { name: 'now' }

/** `commit` is the earlier version; without one, this version is measured alone. */
export async function benchTakeOver(
  { quick, cassandra, commit }: CassandraBench & { readonly commit?: string | undefined },
): Promise<Bench> {
  const threads = quick ? 400 : 20_000
  const earlier = commit === undefined ? undefined : earlierOrExit(commit)
  // The node of Cassandra gets faster with each: whoever comes first comes last, too.
  const turns = earlier === undefined
    ? [now]
    : [now, { name: commit!, program: earlier.home }, { name: commit!, program: earlier.home }, now]
  try {
    const lines: Line[] = []
    for (const side of turns) lines.push(await takeOver(cassandra, threads, side))
    return { title: 'Benchmark of a take-over', lines, file: 'RESULTS-cluster.md', notes: '' }
  } finally {
    earlier?.remove()
  }
}

/** From the start of the next member until it finds all threads and their runs. */
async function takeOver(cassandra: CassandraBench['cassandra'], threads: number,
  { name, program }: Side): Promise<Line> {
  const place = newKeyspace(cassandra)
  const options = { project: 'bench', cassandra: place, args: ['--member-host', '127.0.0.1'],
    ...program !== undefined && { program } }
  progress(`${threads} busy threads, ${name}`)
  const first = await startServer(options)
  const began = performance.now()
  try {
    await begin(first.url, threads)
  } finally {
    await first.kill('SIGKILL')
  }
  const madeMs = performance.now() - began
  progress(`the next member, ${name}`)
  const killed = performance.now()
  const next = await startServer(options)
  try {
    const servedMs = performance.now() - killed
    const served = new Served(name, next.url)
    await until(wholeMs, `a search that finds ${threads} busy threads`, async () => {
      const { body } = await served.ask('POST', '/threads/count', { status: 'busy' })
      return Number(body) >= threads || undefined
    })
    const foundMs = performance.now() - killed
    served.close()
    return { measure: `a member killed with ${threads} busy threads: until the next finds them ` +
      `all, ${name}`, unit: 's', ratio: spreadOf([foundMs / 1_000]),
      figures: [`begun ${(threads / madeMs * 1_000).toFixed(0)} /s`,
        `serves after ${(servedMs / 1_000).toFixed(1)} s`] }
  } finally {
    await Promise.all([next.close(), first.close()])
    await dropKeyspace(place)
  }
}

/** A run on each thread that is due much later. */
async function begin(url: string, threads: number): Promise<void> {
  const served = new Served('member', url)
  const run = { assistant_id: graphId, input: turn('later'), after_seconds: 86_400,
    if_not_exists: 'create' }
  let left = threads
  await Promise.all(Array.from({ length: clients }, async () => {
    while (left-- > 0) {
      await within(answerMs, 'a run', served.ask('POST', `/threads/${randomUUID()}/runs`, run))
    }
  }))
  served.close()
}
