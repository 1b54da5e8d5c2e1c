/** The pointer moves with the runs under way: each stops once, and goes on where its nodes are. */

import { describe, expect, it } from 'vitest'

import { decodeRow } from '../../../../src/checkpoint/index.ts'
import type { GraphDescription, Step } from '../../../../src/graph/index.ts'
import type { StartRun } from '../../../../src/thread/index.ts'
import { aGraph, FakeDeployments, shop } from '../../../support/fake-deployments.ts'
import { ScriptedHost } from '../../../support/scripted-host.ts'
import { settled, ThreadHouse } from '../../../support/thread-house.ts'

/** A host whose steps say which nodes come next. */
class NodeHost extends ScriptedHost {
  readonly #graphs: readonly GraphDescription[]
  #count = 0

  constructor(graph: GraphDescription) {
    super()
    this.#graphs = [graph]
  }

  override graphs = () => this.#graphs
  override describe = (graphId: string) => this.#graphs.find((each) => each.graphId === graphId)

  /** A superstep after which these nodes come, and what is written after its checkpoint. */
  async stepTo(nodes: readonly string[],
    after: (checkpointId: string) => readonly Step[] = () => []): Promise<void> {
    const scripted = this.only
    const id = `${scripted.execution.id} ${++this.#count}`
    const changes = nodes.map((node) => ({ channel: `branch:to:${node}`,
      change: { $case: 'set' as const, value: { json: 'null', form: 0 as const } } })
    )
    const step = { ...checkpoint, id, parentId: scripted.headId ?? '', full: true, changes }
    scripted.headId = id
    await scripted.listener.steps({ steps: [{ $case: 'checkpoint', value: step }, ...after(id)],
      events: [] })
  }

  /** Ends as one that was asked to stop. */
  async drain(): Promise<void> {
    expect(this.paused).toContain(this.only.execution.id)
    this.end(this.only, { status: 'drained' })
    await settled()
  }
}

const checkpoint = { ns: '', skeletonJson: '{}', metadataJson: '{}', runId: '', atMs: 0 }

/** r1 has nodes that r2 has as well; r3 lacks the second one; r4 is made for each use. */
function revisions() {
  const deployed = new FakeDeployments()
  const { channels: _, ...made } = aGraph('agent')
  const [r1, r2, r3, r4] = [new NodeHost(aGraph('agent', 'one', 'two')),
    new NodeHost(aGraph('agent', 'one', 'two', 'more')), new NodeHost(aGraph('agent', 'one')),
    new NodeHost(made)] as const
  for (const [i, host] of [r1, r2, r3, r4].entries()) deployed.hosts.set(`r${i + 1}`, host)
  const house = new ThreadHouse({}, undefined, deployed)
  const start = async (run: Partial<StartRun> = {}) => {
    await house.client.startRun(shop, 'x', house.run(run))
    await settled()
  }
  const point = async (active: string, movesRuns = true) => {
    deployed.change({ active, movesRuns })
    await settled()
  }
  const newest = async () =>
    (await house.client.listRuns({ tenant: shop, threadId: 'x', limit: 1, offset: 0 }))[0]!
  return { deployed, house, r1, r2, r3, r4, start, point, newest }
}

describe('a run under way when the pointer moves with runs', () => {
  it('stops, and goes on with the new revision in the same attempt, as its log says', async () => {
    const { house, r1, r2, start, point, newest } = revisions()
    await start()
    await point('r2')
    await r1.stepTo(['two'])
    await r1.drain()
    expect(r2.only.execution).toMatchObject({ attempt: 1, request: { input: 'null' } })
    expect(await newest()).toMatchObject({ revision: 'r2', attempt: 1, status: 'running' })
    const { row } = await house.client.get(shop, 'x')
    const entries = await house.log.read(row.branch!, { from: 1, through: row.seq })
    const starts = entries.flatMap(({ body }) => decodeRow(body))
      .flatMap(({ $case, value }) => ($case === 'runStarted' ? [value.revision] : []))
    expect(starts).toEqual(['r1', 'r2'])
    await r2.stepTo([])
    r2.end(r2.only)
    await settled()
    expect(await newest()).toMatchObject({ status: 'success', revision: 'r2' })
  })

  it('goes on with it from the beginning if it has done nothing yet', async () => {
    const { r1, r3, start, point } = revisions()
    await start({ kwargs: { input: { a: 1 } } })
    await point('r3')
    await r1.drain()
    expect(r3.only.execution.request).toMatchObject({ input: '{"a":1}' })
  })

  it.each<[string, (host: NodeHost) => Promise<void>]>([
    ['its next node is gone', (host) => host.stepTo(['two'])],
    ['one of several next nodes is gone', (host) => host.stepTo(['one', 'two'])],
    ['its next nodes are not known', (host) => host.stepTo([])],
    ['it is within a subgraph',
      (host) =>
        host.stepTo(['one'],
          () => [{ $case: 'checkpoint',
            value: { ...checkpoint, ns: 'one:1', id: 'inner', parentId: '', full: true,
              changes: [] } }])],
    ['a task of the superstep has written', async (host) => {
      await host.stepTo(['one'])
      const { headId } = host.only
      await host.only.listener.steps({ events: [],
        steps: [{ $case: 'writes',
          value: { ns: '', checkpointId: headId!, taskId: 'task', writes: [] } }] })
    }],
  ])('keeps its revision if %s, and stops again only for another one', async (_, step) => {
    const { r1, r2, r3, start, point } = revisions()
    await start()
    await point('r3')
    await step(r1)
    await r1.drain()
    expect([r1.only.execution.attempt, r3.executions]).toEqual([1, []])
    await point('r3')
    expect(r1.paused).not.toContain(r1.only.execution.id)
    await point('r2')
    await r1.stepTo(['two'])
    await r1.drain()
    expect(r2.only.execution.attempt).toBe(1)
  })

  it('is not stopped if it keeps its revision anyhow', async () => {
    const { house, r1, start, point } = revisions()
    await start()
    await point('r2', false)
    await point('r4')
    expect(r1.paused.size).toBe(0)
    await house.client.delete(shop, 'x')
    await start({ plan: { ...house.run().plan, revision: 'r1' } })
    await point('r2')
    expect([r1.running.size, r1.paused.size]).toEqual([1, 0])
  })

  it('is stopped by the owner that takes it over, too', async () => {
    const { deployed, house, r1, r2, start } = revisions()
    await start()
    await r1.stepTo(['two'])
    r1.running.clear()
    Object.assign(deployed, { active: 'r2', movesRuns: true })
    deployed.watchers.clear()
    house.restart()
    await house.client.get(shop, 'x')
    await settled()
    await r1.drain()
    expect(r2.only.execution.attempt).toBe(1)
  })

  it('is handed back and not started while its thread moves to another owner', async () => {
    const { house, r1, r2, start, point } = revisions()
    await start()
    await point('r2')
    const { runId } = r1.only.execution
    const closed = house.activations.close(new AbortController().signal)
    await settled()
    await r1.drain()
    await closed
    expect([r1.running.size, r2.executions.length]).toEqual([0, 0])
    expect((await house.tables.runs.get(shop, 'x', runId))?.status).toBe('pending')
  })

  it('is handed back once if its host takes nothing any more', async () => {
    const { r1, r2, start, point, newest } = revisions()
    await start()
    await point('r2')
    await r1.stepTo(['two'])
    r2.execute = (execution, _, listener) => {
      r2.executions.push(execution)
      listener.ended({ status: 'drained', waiting: false, interrupts: '{}', error: null })
    }
    await r1.drain()
    expect([r2.executions.length, (await newest()).status]).toEqual([1, 'pending'])
  })
})
