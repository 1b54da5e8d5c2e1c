/** Members that are killed between the writes of one run: of its log, its row and its thread's. */

import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFailed } from 'vitest'

import { ownerPlace, untilPlaced } from '../../bench/ownership-view.ts'
import { dropKeyspace, newKeyspace } from '../../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../../support/cassandra.ts'
import { startCluster } from '../../support/cluster.ts'
import type { Cluster } from '../../support/cluster.ts'
import { eventually } from '../../support/eventually.ts'
import { killVariable } from '../../support/kill-at-write.ts'
import type { WriteMoment } from '../../support/kill-at-write.ts'
import { say } from '../../support/run-events.ts'
import { oneWorker } from '../../support/server-process.ts'
import { ask } from '../../support/wire.ts'

const cassandra = await cassandraForTests()
const root = resolve(import.meta.dirname, '../../..')
const preload = join(root, 'test/support/kill-at-write.ts')

const short = { assistant_id: 'echo', input: say('hi') }
/** Each superstep has a row of the log of its own, and the run two rows. */
const long = { assistant_id: 'laps', input: { laps: 2, pauseMs: 500 } }

type Moment = Omit<WriteMoment, 'pid'>

const shortMoments: readonly Moment[] = [
  { table: 'log', nth: 1, when: 'before' },
  { table: 'log', nth: 1, when: 'with' },
  { table: 'run', nth: 1, when: 'before' },
  { table: 'run', nth: 1, when: 'with' },
  { table: 'thread_row', nth: 1, when: 'before' },
  { table: 'thread_row', nth: 1, when: 'after' },
]
const longMoments: readonly Moment[] = [
  { table: 'run', nth: 1, when: 'before' },
  { table: 'thread_row', nth: 1, when: 'before' },
  { table: 'log', nth: 2, when: 'before' },
  { table: 'log', nth: 2, when: 'after' },
  { table: 'log', nth: 3, when: 'with' },
  { table: 'run', nth: 2, when: 'before' },
  { table: 'thread_row', nth: 2, when: 'before' },
  { table: 'thread_row', nth: 2, when: 'after' },
]

interface Killed extends Moment {
  readonly run: string
  readonly request: typeof short | typeof long
  /** Runs of the thread before. */
  readonly earlier: number
  /** Checkpoints that one such run adds to the history. */
  readonly checkpoints: number
}

const kills: readonly Killed[] = [
  ...shortMoments.map((moment) => ({ ...moment, run: 'the first short run', request: short,
    earlier: 0, checkpoints: 3 })
  ),
  ...shortMoments.map((moment) => ({ ...moment, run: 'the next short run', request: short,
    earlier: 1, checkpoints: 3 })
  ),
  ...longMoments.map((moment) => ({ ...moment, run: 'a long run', request: long, earlier: 0,
    checkpoints: 4 })
  ),
]

describe.skipIf(!cassandra)('of two members, the owner of a thread', () => {
  const place = newKeyspace(cassandra!)
  let folder: string
  let file: string
  let cluster: Cluster

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'heddle-killed-'))
    file = join(folder, 'moment')
    cluster = await startCluster({ members: 2, project: 'bench', cassandra: place, program: root,
      args: [...oneWorker, '--own-traces', 'off'],
      env: { NODE_OPTIONS: `--import=${preload}`, [killVariable]: file } })
    await untilPlaced(cluster)
    // The first run of a graph is slow: it may have one row more.
    await Promise.all(
      cluster.frontDoors.flatMap((url) =>
        [short, long].map((request) => ask(url, 'POST', '/runs/wait', request))
      ),
    )
  }, 240_000)
  afterAll(async () => {
    await cluster?.close()
    await dropKeyspace(place)
    await rm(folder, { recursive: true, force: true })
  }, 120_000)
  beforeEach(() => onTestFailed(() => console.log(cluster.story())))

  it.each(kills)('is killed $when write $nth to $table of $run, which ends once', async (
    { run: _, request, earlier, checkpoints, ...moment },
  ) => {
    const threadId = randomUUID()
    const send = (url: string) =>
      ask(url, 'POST', `/threads/${threadId}/runs/wait`, { ...request, if_not_exists: 'create' })
    const owner = await ownerPlace(cluster, threadId)
    const door = cluster.frontDoors[1 - owner]!
    for (let runs = 0; runs < earlier; runs++) await send(door)
    const expected = { runs: earlier + 1, checkpoints: (earlier + 1) * checkpoints }

    await writeFile(file, JSON.stringify({ ...moment, pid: cluster.members[owner]!.pid }))
    const [sent, exit] = await Promise.all([send(door), cluster.members[owner]!.exited()])
    expect(exit).toMatchObject({ signal: 'SIGKILL' })
    expect(sent.status).toBe(200)
    expect(sent.body).not.toHaveProperty('__error__')
    await expectAtRest(door, threadId, expected)

    await cluster.members[owner]!.restart()
    await untilPlaced(cluster)
    for (const url of cluster.frontDoors) await expectAtRest(url, threadId, expected)
  }, 120_000)
})

/** Until all shards have an owner, searches are refused. */
function search<Row>(url: string, path: string, query: object): Promise<Row[]> {
  return eventually(async () => {
    const { status, body } = await ask(url, 'POST', path, query)
    expect(status).toBe(200)
    return body as Row[]
  })
}

/** All runs have succeeded, lists and searches agree, and nothing was executed into it twice. */
async function expectAtRest(url: string, threadId: string,
  expected: { readonly runs: number; readonly checkpoints: number }): Promise<void> {
  interface Run {
    readonly run_id: string
    readonly thread_id: string
    readonly status: string
  }
  const read = async (path: string) => (await ask(url, 'GET', `/threads/${threadId}${path}`)).body
  const runs = await read('/runs?limit=100') as Run[]
  expect(runs.map(({ status }) => status)).toEqual(
    Array.from({ length: expected.runs }, () => 'success'),
  )
  const found = await search<Run>(url, '/runs/search', { limit: 1_000 })
  expect(found.filter((run) => run.thread_id === threadId)
    .map(({ run_id: id, status }) => [id, status]))
    .toEqual(runs.map(({ run_id: id, status }) => [id, status]))
  expect(await read('')).toMatchObject({ status: 'idle' })
  const inStatus = async (status: string) =>
    (await search<{ thread_id: string }>(url, '/threads/search', { ids: [threadId], status }))
      .map((thread) => thread.thread_id)
  expect(await inStatus('idle')).toEqual([threadId])
  expect(await inStatus('busy')).toEqual([])
  expect(await read('/history?limit=100')).toHaveLength(expected.checkpoints)
}
