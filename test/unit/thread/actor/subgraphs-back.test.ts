/** Checkpoints of subgraphs in a thread's log are found with their state, unless dropped. */

import { describe, expect, it } from 'vitest'

import type { Step } from '../../../../src/graph/index.ts'
import type { Scripted } from '../../../support/scripted-host.ts'
import { settled, ThreadHouse } from '../../../support/thread-house.ts'

/** A checkpoint that adds `id` to the subgraph's list; one without a parent is complete. */
const nested = (id: string, parentId = '', ns = 'sub'): Step => {
  const value = { json: JSON.stringify(id), form: 0 as const }
  const change = parentId === ''
    ? { $case: 'list' as const, value: { elements: [value] } }
    : { $case: 'splice' as const,
      value: { at: Number(parentId.slice(1)), remove: 0, insert: [value] } }
  return { $case: 'checkpoint',
    value: { ns, id, parentId, full: parentId === '', changes: [{ channel: 'log', change }],
      skeletonJson: '{}', metadataJson: '{}', runId: '', atMs: 0 } }
}

const put = ({ listener }: Scripted, ...steps: Step[]) => listener.steps({ steps, events: [] })

/** The newest checkpoint of a subgraph and what it holds. */
async function newest({ source }: Scripted, ns = 'sub') {
  const found = await source.tuple(ns, null)
  const content = found?.channels[0]?.content
  return found && [found.id, ...content && 'list' in content
    ? content.list.map(({ json }) => JSON.parse(json) as string)
    : []]
}

async function begun() {
  const house = new ThreadHouse()
  const begin = async () => {
    const run = house.run()
    await house.client.startRun('t', 'x', run)
    await settled()
    return run.runId
  }
  const end = async () => {
    house.host.end(house.host.only)
    await settled()
  }
  await begin()
  await put(house.host.only, nested('n1'))
  await house.host.step(house.host.only, 'one')
  await end()
  const takeBack = (runId: string) =>
    house.client.cancelRun('t', 'x', runId, { action: 'rollback' })
  return { house, begin, end, takeBack }
}

describe('the newest checkpoint of a subgraph', () => {
  it('includes the values of its ancestors from earlier runs', async () => {
    const { house, begin } = await begun()
    await begin()
    await put(house.host.only, nested('n2', 'n1'), nested('n3', 'n2'))
    expect(await newest(house.host.only)).toEqual(['n3', 'n1', 'n2', 'n3'])
  })

  it('includes them even if they are still being written', async () => {
    const { house, begin, end } = await begun()
    await begin()
    const disk = Promise.withResolvers<void>()
    house.log.gate = disk.promise
    void put(house.host.only, nested('n2', 'n1'))
    await settled()
    void house.startRun('x')
    await end()
    const later = put(house.host.only, nested('n3', 'n2'))
    await settled()
    disk.resolve()
    await later
    expect(await newest(house.host.only)).toEqual(['n3', 'n1', 'n2', 'n3'])
  })

  it('includes them even if it was put by a state update', async () => {
    const { house, begin } = await begun()
    const update = { values: '{}', command: null, asNode: null }
    const edited = house.client.updateState('t', 'x', { update, checkpoint: null })
    await settled()
    void put(house.host.only, nested('n2', 'n1'))
    house.host.end(house.host.only)
    await edited
    await begin()
    expect(await newest(house.host.only)).toEqual(['n2', 'n1', 'n2'])
  })
})

describe('a rollback', () => {
  it('takes a subgraph back to before the run, or to nothing', async () => {
    const { house, begin, takeBack } = await begun()
    const runId = await begin()
    await put(house.host.only, nested('n2', 'n1'), nested('n3', 'n2'), nested('m1', '', 'new'))
    await house.host.step(house.host.only, 'two')
    await takeBack(runId)
    await begin()
    expect(await newest(house.host.only)).toEqual(['n1', 'n1'])
    expect(await newest(house.host.only, 'new')).toBeUndefined()
  })

  it('drops what the run was still writing, but nothing else of the same row', async () => {
    const { house, begin, takeBack } = await begun()
    await begin()
    const back = house.run()
    await house.client.startRun('t', 'x', back)
    const first = house.host.only
    // The next run begins in the row in which this one ends.
    void house.host.step(first, 'kept')
    house.host.end(first)
    await settled()
    const disk = Promise.withResolvers<void>()
    house.log.gate = disk.promise
    const { only } = house.host
    void house.host.step(only, 'dropped').catch(() => {})
    const taken = takeBack(back.runId)
    await settled()
    disk.resolve()
    await taken
    await begin()
    await house.host.step(house.host.only, 'new')
    const { source } = house.host.only
    expect((await source.tuple('', first.headId))?.id).toBe(first.headId)
    expect(await source.tuple('', only.headId)).toBeUndefined()
  })
})

describe('the subgraphs of a run', () => {
  const wrote = (taskId: string, channel: string): Step => ({ $case: 'writes',
    value: { ns: '', checkpointId: '', taskId,
      writes: [{ index: 0, channel, value: undefined }] } })

  it('are those of its own rows, while it runs and after it, also after a restart', async () => {
    const { house, begin, end } = await begun()
    const first = await house.client.listRuns({ tenant: 't', threadId: 'x', limit: 9, offset: 0 })
    const runId = await begin()
    await put(house.host.only, nested('n2', 'n1'), nested('k1', '', 'a:1'))
    const graphsOf = async (id: string) =>
      Object.fromEntries(
        (await house.client.runGraphs('t', 'x', id)).graphs.map(({ ns, status }) => [ns, status]),
      )
    expect(await graphsOf(runId)).toEqual({ sub: 'running', 'a:1': 'running' })
    await put(house.host.only, wrote('1', '__error__'))
    await house.host.step(house.host.only, 'two')
    await end()
    await begin()
    await put(house.host.only, nested('k2', '', 'b:1'))
    await end()
    const expected = { sub: 'completed', 'a:1': 'failed' }
    expect(await graphsOf(runId)).toEqual(expected)
    house.restart()
    expect(await graphsOf(runId)).toEqual(expected)
    expect(await graphsOf(first[0]!.runId)).toEqual({ sub: 'completed' })
    await expect(graphsOf(house.env.uuid())).rejects.toMatchObject({ code: 'not_found' })
  })
})
