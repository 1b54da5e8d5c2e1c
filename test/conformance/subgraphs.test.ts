/** Graphs inside graphs: their events, their state, their interrupts. */

import { describe, expect, it } from 'vitest'
import { collect, dataOf, namesOf } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'

const server = useServer()
const inner = /^(\w+)\|sub:[0-9a-f-]{36}$/

async function streamOf(graphId: string, streamMode: string[], streamSubgraphs: boolean) {
  const { thread_id: threadId } = await server.client.threads.create()
  const parts = await collect(server.client.runs.stream(threadId, graphId, {
    input: { topic: 't' },
    streamMode: streamMode as ['values'],
    streamSubgraphs,
  }))
  return { threadId, parts }
}

describe('the stream of a graph with a subgraph', () => {
  it('has only events of the root unless subgraphs are asked for', async () => {
    const { parts } = await streamOf('nested', ['updates', 'values'], false)
    expect(namesOf(parts).every((name) => !name.includes('|'))).toBe(true)
    expect(dataOf(parts, 'updates')).toEqual([
      { outer: { log: ['outer'] } },
      { sub: { topic: 't', log: ['outer', 'deep'] } },
    ])
  })

  it('names the namespace of inner events if subgraphs are asked for', async () => {
    const { parts } = await streamOf('nested', ['updates', 'custom'], true)
    expect(parts.map(({ event, data }) => [event.replace(inner, '$1 inside'), data])).toEqual([
      ['metadata', expect.anything()],
      ['updates', { outer: { log: ['outer'] } }],
      ['custom inside', { from: 'deep' }],
      ['updates inside', { deep: { inner: 'deep t', log: ['deep'] } }],
      ['updates', { sub: { topic: 't', log: ['outer', 'deep'] } }],
    ])
  })

  it('holds no event of a mode that was not asked for', async () => {
    const { parts } = await streamOf('nested', ['values'], true)
    const modes = new Set(parts.slice(1).map(({ event }) => event.split('|')[0]))
    expect([...modes]).toEqual(['values'])
    expect(dataOf(parts, 'values').at(-1)).toEqual({ topic: 't', log: ['outer', 'outer', 'deep'] })
  })
})

describe('the state of a graph with a subgraph', () => {
  it('names the checkpoint of the subgraph, or shows its state if asked for', async () => {
    const { runs, threads } = server.client
    const { thread_id: id } = await threads.create()
    await runs.wait(id, 'nestedask', { input: { topic: 't' } })
    const outer = await threads.getState(id)
    expect(outer).toMatchObject({ next: ['sub'], tasks: [{
      name: 'sub',
      state: null,
      interrupts: [{ value: 't?' }],
      checkpoint: { thread_id: id, checkpoint_ns: expect.stringMatching(/^sub:/) },
    }] })
    const whole = await threads.getState(id, undefined, { subgraphs: true })
    expect(whole.tasks[0]!.state).toMatchObject({
      values: { topic: 't', inner: 'prepared', log: [] },
      next: ['deep'],
      tasks: [{ name: 'deep', interrupts: [{ value: 't?' }] }],
      checkpoint: { checkpoint_ns: outer.tasks[0]!.checkpoint!.checkpoint_ns },
    })
  })

  it('can be read at the subgraph itself', async () => {
    const { runs, threads } = server.client
    const { thread_id: id } = await threads.create()
    await runs.wait(id, 'nestedask', { input: { topic: 't' } })
    const outer = await threads.getState(id)
    const { checkpoint } = outer.tasks[0]!
    expect(
      await threads.getState(id, { ...checkpoint!, checkpoint_id: null, checkpoint_map: null }),
    ).toMatchObject({ values: { inner: 'prepared' }, next: ['deep'] })
  })
})

describe('a subgraph that interrupts', () => {
  it('is answered, and its finished steps are not repeated', async () => {
    const { runs, threads } = server.client
    const { threadId: id, parts } = await streamOf('nestedask', ['updates'], true)
    expect(parts.at(-1)).toMatchObject({
      event: 'updates',
      data: { __interrupt__: [{ value: 't?' }] },
    })
    const resumed = await collect(runs.stream(id, 'nestedask', {
      command: { resume: 'yes' },
      streamMode: ['updates'],
      streamSubgraphs: true,
    }))
    expect(resumed.slice(1).map(({ event, data }) => [event.replace(inner, '$1 inside'), data]))
      .toEqual([
        ['updates inside', { deep: { log: ['answer yes'] } }],
        ['updates', { sub: { topic: 't', log: ['answer yes'] } }],
        ['updates', { after: { log: ['after'] } }],
      ])
    expect((await threads.get(id)).values)
      .toMatchObject({ topic: 't', log: ['answer yes', 'after'] })
  })
})

describe('an edit of the state inside a subgraph', () => {
  /** A thread whose subgraph waits, edited at the checkpoint that the subgraph's state names. */
  async function edited() {
    const { runs, threads } = server.client
    const { thread_id: id } = await threads.create()
    await runs.wait(id, 'nestedask', { input: { topic: 't' } })
    const checkpoint = (await threads.getState(id)).tasks[0]!.checkpoint!
    await threads.updateState(id, { values: { log: ['edited'] }, asNode: 'prepare',
      checkpoint: checkpoint as never })
    return id
  }

  it('shows in its state, on top of what it held before', async () => {
    const id = await edited()
    const { tasks } = await server.client.threads.getState(id, undefined, { subgraphs: true })
    expect(tasks[0]!.state).toMatchObject(
      { values: { topic: 't', inner: 'prepared', log: ['edited'] }, next: ['deep'] },
    )
  })

  it('is where the run that answers continues', async () => {
    const id = await edited()
    expect(await server.client.runs.wait(id, 'nestedask', { command: { resume: 'yes' } }))
      .toEqual({ topic: 't', log: ['edited', 'answer yes', 'after'] })
  })
})
