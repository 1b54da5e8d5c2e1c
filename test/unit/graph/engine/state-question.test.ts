/** States and histories of a thread in the format of the API. */

import { Annotation, START, StateGraph } from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'

import type { WorkerBatch } from '../../../../src/graph/events/worker-batch.ts'
import type { SnapshotAnswer } from '../../../../src/graph/execution.ts'
import { GraphBench } from '../../../support/graph-bench.ts'
import { echo, fanOut, line, nestedAsk, said } from '../../../support/small-graphs.ts'

type State = Record<string, never> & {
  metadata: Record<string, unknown>
  checkpoint: { checkpoint_id: string }
  tasks: Record<string, unknown>[]
  next: string[]
}

function state({ json }: SnapshotAnswer): State {
  return JSON.parse(json) as State
}

describe('a state', () => {
  it('names the checkpoint that holds its values, and has every field of the specification',
    async () => {
      const bench = new GraphBench(echo)
      await bench.run({ input: said('a'), config: { metadata: { run_id: 'r' } } })
      const [answer] = await bench.ask({ kind: 'state' })
      const { headId, log: { checkpoints }, threadId } = { headId: bench.log.headId!, ...bench,
        log: bench.log, threadId: bench.threadId }
      expect(answer!.valuesOf).toBe(headId)
      expect(answer!.values).toBe('')
      const parentId = checkpoints.at(-2)!.id
      const at = (checkpoint_id: string) => ({ thread_id: threadId, checkpoint_id,
        checkpoint_ns: '', checkpoint_map: null })
      expect(state(answer!)).toEqual({
        next: [],
        tasks: [],
        metadata: { graph_id: 'graph', run_id: 'r', thread_id: threadId, checkpoint_id: headId,
          source: 'loop', step: 1, parents: {},
          writes: { echo: { messages: [expect.objectContaining({ content: 're: a' })] } } },
        created_at: expect.stringMatching(/^\d{4}-.*Z$/),
        checkpoint: at(headId),
        parent_checkpoint: at(parentId),
        checkpoint_id: headId,
        parent_checkpoint_id: parentId,
      })
    })

  it('is that of the named checkpoint', async () => {
    const bench = new GraphBench(echo)
    await bench.run({ input: said('a') })
    const { id } = bench.log.checkpoints[1]!
    const [answer] = await bench.ask({ kind: 'state', checkpointId: id })
    expect(answer!.valuesOf).toBe(id)
    expect(state(answer!)).toMatchObject({ next: ['echo'],
      tasks: [{ name: 'echo', path: ['__pregel_pull', 'echo'], error: null, interrupts: [],
        checkpoint: null, state: null, result: { messages: [{ content: 're: a' }] } }] })
  })

  it('is missing if there is no such checkpoint', async () => {
    const bench = new GraphBench(echo)
    expect(await bench.ask({ kind: 'state' })).toEqual([])
    await bench.run({ input: said('a') })
    const unknown = '1f000000-0000-6000-8000-000000000000'
    expect(await bench.ask({ kind: 'state', checkpointId: unknown })).toEqual([])
  })

  it('has the error of a failed task, as a text of JSON', async () => {
    const bench = new GraphBench(line(['a'], () => {
      throw new TypeError('no')
    }))
    await bench.run({ input: { log: [] } })
    const [answer] = await bench.ask({ kind: 'state' })
    const [task] = state(answer!).tasks
    expect(JSON.parse(String(task!.error))).toEqual({ name: 'TypeError', message: 'no' })
  })

  it('has what finished tasks wrote, even before a checkpoint has it', async () => {
    const done = Promise.withResolvers<void>()
    const State = Annotation.Root({ left: Annotation<string>(), right: Annotation<string>() })
    const bench = new GraphBench(new StateGraph(State)
      .addNode('writes', () => ({ left: 'done' }))
      .addNode('fails', async () => {
        await done.promise
        throw new Error('no')
      })
      .addEdge(START, 'writes').addEdge(START, 'fails').compile())
    const onBatch = ({ events }: WorkerBatch) => {
      if (events.length > 0) done.resolve()
    }
    await bench.run({ input: { right: 'in' }, streamModes: ['updates'], onBatch })
    const [answer] = await bench.ask({ kind: 'state' })
    expect(answer!.valuesOf).toBe('')
    expect(JSON.parse(answer!.values)).toEqual({ left: 'done', right: 'in' })
    expect(bench.log.values()).not.toHaveProperty('left')
  })

  it('names the head if a failed task is all that came after it', async () => {
    const bench = new GraphBench(line(['a', 'b'], (name) => {
      if (name === 'b') throw new Error('no')
    }))
    await bench.run({ input: { log: [] } })
    const [answer] = await bench.ask({ kind: 'state' })
    expect(answer!.valuesOf).toBe(bench.log.headId)
  })

  it('is answered even if its own writes or those of its parent conflict', async () => {
    const marked = new StateGraph(Annotation.Root({ mark: Annotation<string>() }))
      .addNode('a', () => ({})).addEdge(START, 'a').compile()
    const bench = new GraphBench(marked)
    const durability = 'exit'
    await bench.run({ command: { resume: 'x', update: { mark: 'one' } }, durability })
    const checkpointId = bench.log.headId!
    const checkpoint = { checkpointId, checkpointNs: '', checkpointMap: null }
    await bench.run({ input: { mark: 'in' }, checkpoint, durability })
    const childId = bench.log.headId!
    // A second write on the parent, which conflicts with the first.
    await bench.run({ command: { update: { mark: 'two' } }, checkpoint })
    const [parent] = await bench.ask({ kind: 'state', checkpointId })
    expect(state(parent!)).toMatchObject({ checkpoint_id: checkpointId })
    const [answer] = await bench.ask({ kind: 'state', checkpointId: childId })
    expect(state(answer!)).toMatchObject({ checkpoint_id: childId,
      parent_checkpoint_id: checkpointId, metadata: { source: 'loop', writes: null } })
  })

  it('has the checkpoint of a subgraph, or its state if that is asked for', async () => {
    const bench = new GraphBench(nestedAsk)
    await bench.run({ input: { log: [] } })
    const [flat] = await bench.ask({ kind: 'state' })
    const [task] = state(flat!).tasks
    expect(task).toMatchObject({ name: 'sub', state: null,
      checkpoint: { thread_id: bench.threadId, checkpoint_ns: expect.stringMatching(/^sub:/) } })
    expect(task!.interrupts).toMatchObject([{ value: 'sure?' }])
    const [deep] = await bench.ask({ kind: 'state', subgraphs: true })
    expect(state(deep!).tasks).toMatchObject([{ checkpoint: null,
      state: { values: { log: [] }, next: ['ask'], tasks: [{ name: 'ask' }] } }])
    const { checkpoint_ns: ns } = task!.checkpoint as { checkpoint_ns: string }
    const [sub] = await bench.ask({ kind: 'state', ns })
    expect(sub!.valuesOf).toBe('')
    expect(JSON.parse(sub!.values)).toEqual({ log: [] })
    expect(state(sub!).next).toEqual(['ask'])
  })
})

describe('a history', () => {
  it('lists checkpoints, newest first, with what each step wrote', async () => {
    const bench = new GraphBench(fanOut)
    await bench.run({ input: { log: ['in'] } })
    const answers = await bench.ask({ kind: 'history' })
    expect(answers.map(({ valuesOf }) => valuesOf))
      .toEqual(bench.log.checkpoints.map(({ id }) => id).reverse())
    expect(answers.map((answer) => state(answer).metadata.writes)).toEqual([
      { work: [{ log: ['work 1'] }, { log: ['work 2'] }] },
      { spread: { log: ['spread'] } },
      null,
      { __start__: { log: ['in'] } },
    ])
  })

  it('is a page before a checkpoint, up to the limit', async () => {
    const bench = new GraphBench(line(['a', 'b', 'c']))
    await bench.run({ input: { log: [] } })
    const ids = bench.log.checkpoints.map(({ id }) => id).reverse()
    const page = await bench.ask({ kind: 'history', before: ids[1]!, limit: 2 })
    expect(page.map((answer) => state(answer).checkpoint.checkpoint_id)).toEqual([ids[2], ids[3]])
    expect(state(page[1]!).metadata.writes).toBeNull()
    expect(state(page[0]!).metadata.writes).toEqual({ a: { log: ['a'] } })
  })

  it('is filtered by metadata', async () => {
    const bench = new GraphBench(line(['a']))
    await bench.run({ input: { log: [] }, config: { metadata: { run_id: '1' } } })
    await bench.run({ input: { log: [] }, config: { metadata: { run_id: '2' } } })
    const page = await bench.ask({ kind: 'history', filter: { run_id: '1', source: 'loop' } })
    expect(page.map((answer) => state(answer).metadata.step)).toEqual([1, 0])
  })

  it('has what an edit wrote', async () => {
    const bench = new GraphBench(line(['a', 'b']))
    await bench.run({ input: { log: [] } })
    await bench.edit([[{ values: { log: ['x'] }, asNode: 'a' }]])
    const [newest] = await bench.ask({ kind: 'history', limit: 1 })
    const writes = { a: { log: ['x'] } }
    expect(state(newest!).metadata).toMatchObject({ source: 'update', writes })
  })
})
