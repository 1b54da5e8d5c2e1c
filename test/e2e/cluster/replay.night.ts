/**
 * Replays of a deployment on three members: asked at any of them, and gone on with by another one
 * when the member that executes it is killed or stands still.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFailed, vi } from 'vitest'

import type { ControlReplay, ControlVerdict, RunCalls } from '../../../src/api/index.ts'
import { untilPlaced } from '../../bench/ownership-view.ts'
import { dropKeyspace, newKeyspace } from '../../support/cassandra-keyspace.ts'
import type { CassandraKeyspace } from '../../support/cassandra-keyspace.ts'
import { rowsOf } from '../../support/cassandra-tables.ts'
import { cassandraForTests } from '../../support/cassandra.ts'
import { startCluster } from '../../support/cluster.ts'
import type { Cluster } from '../../support/cluster.ts'
import { openModel } from '../../support/model-server.ts'
import type { ModelServer } from '../../support/model-server.ts'
import { oneWorker } from '../../support/server-process.ts'
import { deployedProject } from '../deploy/deployed-project.ts'
import type { DeployedProject } from '../deploy/deployed-project.ts'
import { DeployTarget } from '../deploy/deploy-target.ts'
import { agentsCode, graphNames } from '../replay/agents.ts'
import type { GraphName } from '../replay/agents.ts'

const cassandra = await cassandraForTests()
/** What each graph comes out as on the next revision. */
const outcomes = { same: 'same', word: 'diverged', renamed: 'same_result', branch: 'diverged',
  less: 'same_result', fixed: 'fixed', broken: 'failed' } as const satisfies Partial<
    Record<GraphName, ControlVerdict['verdict']>
  >
const graphs = Object.keys(outcomes) as (keyof typeof outcomes)[]
/** Runs of each graph. */
const each = 4
const runs = graphs.length * each
/** Processes load the engine several times on each member of a busy machine. */
const startMs = 600_000
const patience = { timeout: 300_000, interval: 100 }
/** Tables in which nothing of a replay may be. */
const tables = ['run', 'run_row', 'run_order', 'run_time', 'run_hour', 'thread_row',
  'assistant_row', 'cron_row', 'item_row', 'billing', 'log']

describe.skipIf(!cassandra)('on three members,', () => {
  let keyspace: CassandraKeyspace
  let cluster: Cluster
  let model: ModelServer
  let project: DeployedProject
  /** The deployment, through the front door of each member. */
  let doors: readonly DeployTarget[]
  /** The verdicts of a replay that nothing disturbs. */
  let undisturbed: readonly ControlVerdict[]
  let calls = 0

  beforeAll(async () => {
    keyspace = newKeyspace(cassandra!)
    ;[cluster, model, project] = await Promise.all([
      startCluster({ members: 3, cassandra: keyspace, project: 'judging', args: oneWorker,
        env: { OPENAI_API_KEY: '', ANTHROPIC_API_KEY: '' } }),
      openModel(['Sunny', ' and', ' warm']),
      deployedProject({ 'langgraph.json': JSON.stringify({
        graphs: Object.fromEntries(graphNames.map((name) => [name, `./agent.ts:${name}`])),
      }) }),
    ])
    doors = cluster.frontDoors.map((url) => new DeployTarget(url, 'shop'))
    await untilPlaced(cluster)
    const [door] = doors
    expect(await door!.create({ limits: { workers: 1 }, record: 'all' }))
      .toMatchObject({ status: 201 })
    await door!.deploy(await project.built(agentsCode(false)), { watch_s: 0, prepare_s: 300 })
    const { name } = await door!.upload(await project.built(agentsCode(true)))
    expect(await door!.own('POST', `/revisions/${name}/check`)).toMatchObject({ status: 200 })
    // A thread is executed where its shard is, so that each member records some.
    for (let n = 0; n < each; n++) await Promise.all(graphs.map((graph) => ran(door!, graph)))
    calls = model.received.length
  }, startMs)
  afterAll(async () => {
    await cluster?.close()
    if (keyspace) await dropKeyspace(keyspace)
    await project?.remove()
    model?.close()
  }, 120_000)
  beforeEach(() => onTestFailed(() => console.log(cluster.story())))

  /** Resolves when the run has ended and its calls are written. */
  async function ran({ client: { threads, runs }, url }: DeployTarget,
    graph: GraphName): Promise<void> {
    const { thread_id: threadId } = await threads.create()
    await runs.wait(threadId, graph, { input: { url: model.url, asked: graph } }).catch(() => {})
    const [{ run_id: runId } = { run_id: '' }] = await runs.list(threadId)
    await vi.waitFor(async () => {
      const answer = await fetch(`${url}/d/shop/threads/${threadId}/runs/${runId}/calls`)
      expect((await answer.json() as RunCalls).is_recorded).toBe(true)
    }, patience)
  }

  async function begin(door: DeployTarget): Promise<string> {
    const { status, body } = await door.own('POST', '/replays', { revision: 'r2', sample: 100 })
    expect([status, body]).toEqual([202, expect.anything()])
    return (body as unknown as ControlReplay).replay.id
  }

  async function look(door: DeployTarget, id: string): Promise<ControlReplay> {
    const { status, body } = await door.own('GET', `/replays/${id}`)
    expect([status, body]).toEqual([200, expect.anything()])
    return body as unknown as ControlReplay
  }

  /** Resolves when so many runs have a verdict. */
  const reached = (door: DeployTarget, id: string, done: number) =>
    vi.waitFor(async () => expect((await look(door, id)).done).toBeGreaterThanOrEqual(done),
      patience)

  const ended = (door: DeployTarget, id: string) =>
    vi.waitFor(async () => {
      const seen = await look(door, id)
      expect(seen.replay.phase).not.toBe('running')
      return seen
    }, patience)

  async function verdicts(door: DeployTarget, id: string): Promise<readonly ControlVerdict[]> {
    const { body } = await door.own('GET', `/replays/${id}/runs`)
    return body['runs'] as readonly ControlVerdict[]
  }

  /**
   * The verdicts without their times. Texts of calls that differ are shown around the place where
   * they do, which is that of ids and times that each request has of its own.
   */
  const equal = (all: readonly ControlVerdict[]) =>
    all.map(({ ms: _, asked, recorded, ...rest }) => ({ ...rest,
      asked: asked && { ...asked, text: '' }, recorded: recorded && { ...recorded, text: '' } })
    )

  it('a replay that is asked of one is seen at all, and changes nothing else', async () => {
    // Rows of threads are written behind their logs.
    await vi.waitFor(async () => {
      const rows = (await rowsOf(keyspace, ['thread_row'])).get('thread_row')!
      expect(rows.filter((row) => row.includes('"unsettled": true'))).toEqual([])
    }, patience)
    const before = await rowsOf(keyspace, tables)
    expect(before.get('run')!.length).toBeGreaterThanOrEqual(runs)
    const id = await begin(doors[1]!)
    expect(await ended(doors[2]!, id)).toMatchObject({ done: runs,
      replay: { phase: 'done', runs, experiment: expect.any(String) as string } })
    undisturbed = await verdicts(doors[0]!, id)
    expect(await verdicts(doors[2]!, id)).toEqual(undisturbed)
    for (const graph of graphs) {
      const found = undisturbed.filter(({ graph_id: of }) => of === graph)
      expect([graph, found.map(({ verdict }) => verdict)])
        .toEqual([graph, Array.from({ length: each }, () => outcomes[graph])])
    }
    expect(model.received.length).toBe(calls)
    const after = await rowsOf(keyspace, tables)
    for (const table of tables) {
      const isOfThread = threadRows(before.get('log')!)
      const rows = (from: typeof before) =>
        table === 'log' ? from.get(table)!.filter(isOfThread) : from.get(table)!
      expect([table, rows(after)]).toEqual([table, rows(before)])
    }
  }, startMs)

  it.each([['is killed', 1], ['stands still', 2]] as const)(
    'another one goes on with a replay whose member %s',
    async (what, victim) => {
      await untilPlaced(cluster)
      const member = cluster.members[victim]!
      const other = doors[victim === 1 ? 2 : 0]!
      const id = await begin(doors[victim]!)
      await reached(other, id, 3)
      if (what === 'is killed') await member.kill('SIGKILL')
      else member.pause()
      expect((await look(other, id)).replay.phase).toBe('running')
      const seen = await ended(other, id)
      expect(seen).toMatchObject({ done: runs, replay: { phase: 'done', runs } })
      expect(equal(await verdicts(other, id))).toEqual(equal(undisturbed))
      if (what === 'is killed') await member.restart()
      else {
        member.wake()
        // It finds that another has its place, and ends. Who runs it starts it again.
        await member.exited()
        await member.restart()
      }
      await untilPlaced(cluster)
      // Nothing of the first member comes later.
      expect(await look(doors[victim]!, id)).toEqual(seen)
      expect(model.received.length).toBe(calls)
    },
    startMs,
  )
})

/** Chooses rows of the logs of threads: a branch of a thread has places of checkpoints. */
function threadRows(log: readonly string[]): (row: string) => boolean {
  const read = (row: string) =>
    JSON.parse(row) as { readonly branch_id: string; readonly epoch: number }
  const branches = new Set(log.map(read).filter(({ epoch }) => epoch === 0)
    .map(({ branch_id: branch }) => branch))
  return (row) => branches.has(read(row).branch_id)
}
