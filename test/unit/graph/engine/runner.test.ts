/** Executions of one thread, one after another: what is stored, remembered, and how each ends. */

import { AIMessage } from '@langchain/core/messages'
import { Annotation, DeltaChannel, END, MemorySaver, START, StateGraph, interrupt,
  messagesDeltaReducer } from '@langchain/langgraph'
import type { MessagesAnnotation } from '@langchain/langgraph'
import type { BaseMessage } from '@langchain/core/messages'
import { describe, expect, it } from 'vitest'

import { DrainControl } from '../../../../src/graph/engine/drain-control.ts'
import { GraphBench, runIdOf } from '../../../support/graph-bench.ts'
import { echo, line, nestedAsk, said, twoQuestions } from '../../../support/small-graphs.ts'

const success = { status: 'success', waiting: false, interrupts: '{}', error: null }

function contents(bench: GraphBench): unknown[] {
  return (bench.log.values().messages as { content: unknown }[]).map(({ content }) => content)
}

describe('a run', () => {
  it('continues from the state that earlier runs stored', async () => {
    const bench = new GraphBench(echo)
    expect((await bench.run({ input: said('a') })).outcome).toEqual(success)
    await bench.run({ input: said('b'), forget: true })
    await bench.run({ input: said('c') })
    expect(contents(bench)).toEqual(['a', 're: a', 'b', 're: b', 'c', 're: c'])
  })

  it('is stored in the log even if the graph has a checkpointer of its own', async () => {
    const own = Object.create(echo, { checkpointer: { value: new MemorySaver() } }) as typeof echo
    const bench = new GraphBench(own)
    await bench.run({ input: said('a') })
    expect(contents(bench)).toEqual(['a', 're: a'])
  })

  it('does not read a state that is remembered, and reads any other once', async () => {
    const bench = new GraphBench(echo)
    await bench.run({ input: said('a') })
    await bench.run({ input: said('b'), forget: true })
    expect(bench.log.reads).toBe(0)
    await bench.run({ input: said('c') })
    expect(bench.log.reads).toBe(1)
  })

  it('stores of a growing list only what was added', async () => {
    const bench = new GraphBench(echo)
    for (let i = 0; i < 5; i++) await bench.run({ input: said(`${i}`) })
    const last = bench.log.checkpoints.at(-1)!
    expect(last.full).toBe(false)
    expect(last.changes.find(({ channel }) => channel === 'messages')?.change)
      .toMatchObject({ $case: 'splice', value: { at: 9, remove: 0, insert: [{}] } })
  })

  it('stores the full state again once the changes are as large as the state', async () => {
    const bench = new GraphBench(echo)
    for (let i = 0; i < 40; i++) await bench.run({ input: said('x'.repeat(5000)) })
    const fullAt = bench.log.checkpoints.flatMap(({ full }, i) => full ? [i] : [])
    expect(fullAt[0]).toBe(0)
    expect(fullAt.length).toBeGreaterThan(2)
    expect(fullAt.length).toBeLessThan(6)
    await bench.run({ input: said('end'), forget: true })
    expect(contents(bench)).toHaveLength(82)
  })

  it('names run and graph in the metadata of checkpoints, never the thread', async () => {
    const bench = new GraphBench(echo)
    const config = { metadata: { run_id: 'r', thread_id: bench.threadId, mood: 'glad' } }
    await bench.run({ input: said('a'), config })
    const { metadataJson, runId } = bench.log.checkpoints.at(-1)!
    expect(JSON.parse(metadataJson)).toEqual({ run_id: 'r', mood: 'glad', source: 'loop', step: 1,
      parents: {} })
    expect(runId).toBe(runIdOf(1))
    expect(JSON.stringify(bench.log.checkpoints)).not.toContain(bench.threadId)
  })

  it('sends a quick run with its steps, events and outcome in one batch', async () => {
    const { batches } = await new GraphBench(echo).run({ input: said('a') })
    expect(batches).toHaveLength(1)
    expect(batches[0]!.outcome).toEqual(success)
    expect(batches[0]!.steps.map(({ $case }) => $case)).toEqual(
      ['checkpoint', 'writes', 'checkpoint', 'writes', 'checkpoint'],
    )
  })

  it('waits for the log after every step if durability is sync', async () => {
    const bench = new GraphBench(line(['a', 'b']))
    const seen: number[] = []
    const onBatch = () => seen.push(bench.log.checkpoints.length)
    await bench.run({ input: { log: [] }, durability: 'sync', onBatch })
    expect(seen.length).toBeGreaterThan(3)
    expect(bench.log.values().log).toEqual(['a', 'b'])
  })

  it('stores only its end if durability is exit', async () => {
    const bench = new GraphBench(line(['a', 'b']))
    const { events } = await bench.run({ input: { log: ['x'] }, durability: 'exit',
      streamModes: ['values', 'updates'] })
    expect(bench.log.checkpoints).toHaveLength(1)
    expect(bench.log.values().log).toEqual(['x', 'a', 'b'])
    expect(events.every(({ durable }) => !durable)).toBe(true)
  })

  it('ends in error with the name and the message of what the graph threw', async () => {
    const bench = new GraphBench(line(['a', 'b'], (name) => {
      if (name === 'b') throw new TypeError('no b today')
    }))
    const { outcome } = await bench.run({ input: { log: [] } })
    expect(outcome).toMatchObject({ status: 'error', waiting: true,
      error: { error: 'TypeError', message: 'no b today' } })
    expect(Object.values(JSON.parse(outcome.interrupts) as object)).toEqual([[]])
    expect(bench.log.values().log).toEqual(['a'])
  })

  it('ends in error if it has neither input nor a state to continue from', async () => {
    const { outcome } = await new GraphBench(echo).run({ input: null })
    expect(outcome.error?.error).toBe('EmptyInputError')
  })

  it('ignores engine-internal keys in the config of a client', async () => {
    const bench = new GraphBench(line(['a', 'b']))
    const configurable = { __pregel_checkpointer: false, __pregel_read: 7, __pregel_send: null }
    const { outcome } = await bench.run({ input: { log: [] }, config: { configurable } })
    expect(outcome.status).toBe('success')
    expect(bench.log.values().log).toEqual(['a', 'b'])
  })

  it('ends in error beyond its recursion limit', async () => {
    const { outcome } = await new GraphBench(line(['a', 'b', 'c']))
      .run({ input: { log: [] }, config: { recursion_limit: 2 } })
    expect(outcome.error?.error).toBe('GraphRecursionError')
  })

  it('stops if it is aborted, and writes nothing afterwards', async () => {
    const abort = new AbortController()
    const late = Promise.withResolvers<void>()
    const bench = new GraphBench(line(['a', 'b', 'c'], async (name, config) => {
      if (name !== 'b') return
      abort.abort()
      await late.promise
      const { __pregel_checkpointer: saver, thread_id } = config.configurable!
      const configurable = { thread_id, checkpoint_ns: '', checkpoint_id: bench.log.headId }
      await (saver as { putWrites(...args: unknown[]): unknown })
        .putWrites({ configurable }, [['log', 'late']], 'task')
    }))
    const { outcome } = await bench.run({ input: { log: [] }, signal: abort.signal })
    expect(outcome.status).toBe('aborted')
    const steps = bench.log.writes.length
    late.resolve()
    for (let i = 0; i < 3; i++) await new Promise(setImmediate)
    expect(bench.log.writes).toHaveLength(steps)
  })

  it('stops at the next superstep if it is drained, and can continue from there', async () => {
    const control = new DrainControl(() => {})
    const bench = new GraphBench(line(['a', 'b', 'c'], (name) => {
      if (name === 'b') control.handBack()
    }))
    const { outcome } = await bench.run({ input: { log: [] }, control })
    expect(outcome.status).toBe('drained')
    expect(bench.log.values().log).toEqual(['a', 'b'])
    await bench.run({ input: null, runId: runIdOf(1) })
    expect(bench.log.values().log).toEqual(['a', 'b', 'c'])
  })

  it('passes config and context to the nodes', async () => {
    const bench = new GraphBench(
      line(['a'],
        (_,
          { configurable, context, tags, metadata }) => [configurable?.colour, context, tags,
          metadata?.trace]),
    )
    await bench.run({ input: { log: [] }, context: '{"depth":2}',
      config: { configurable: { colour: 'red' }, tags: ['t'], metadata: { trace: 'x' } } })
    expect(bench.log.values().log).toEqual(['a ["red",{"depth":2},["t"],"x"]'])
  })
})

describe('an interrupt', () => {
  const ask = line(['ask', 'after'], (name) => name === 'ask' ? interrupt('sure?') : undefined)

  it('leaves the thread waiting until it is answered', async () => {
    const bench = new GraphBench(ask)
    const { outcome } = await bench.run({ input: { log: [] } })
    expect(outcome).toMatchObject({ status: 'success', waiting: true })
    const [interrupts] = Object.values(JSON.parse(outcome.interrupts) as object)
    expect(interrupts).toEqual([{ id: expect.any(String) as string, value: 'sure?' }])
    const answered = await bench.run({ command: { resume: { yes: 1 } } })
    expect(answered.outcome).toEqual(success)
    expect(bench.log.values().log).toEqual(['ask {"yes":1}', 'after'])
  })

  it.each([[false], [0], [''], ['no']])('takes %j for an answer', async (resume) => {
    const bench = new GraphBench(ask)
    await bench.run({ input: { log: [] }, forget: true })
    expect((await bench.run({ command: { resume } })).outcome).toEqual(success)
    expect(bench.log.values().log).toEqual([`ask ${JSON.stringify(resume)}`, 'after'])
  })

  it('of two open ones may be answered one by one, by id', async () => {
    const bench = new GraphBench(twoQuestions)
    const { outcome } = await bench.run({ input: { log: [] } })
    const open = (json: string) =>
      Object.values(JSON.parse(json) as Record<string, { id: string; value: string }[]>).flat()
    expect(open(outcome.interrupts).map(({ value }) => value).sort()).toEqual(['left?', 'right?'])
    const left = open(outcome.interrupts).find(({ value }) => value === 'left?')!
    const second = await bench.run({ command: { resume: { [left.id]: 1 } } })
    expect(second.outcome.waiting).toBe(true)
    const [right, other] = open(second.outcome.interrupts)
    expect([right?.value, other]).toEqual(['right?', undefined])
    expect((await bench.run({ command: { resume: { [right!.id]: 2 } } })).outcome).toEqual(success)
    expect(bench.log.values().log).toEqual(['left 1', 'right 2', 'last'])
  })

  it('may be followed by another one of the same node', async () => {
    const twice = line(['a'], () => [interrupt('one?'), interrupt('two?')])
    const bench = new GraphBench(twice)
    await bench.run({ input: { log: [] } })
    const { outcome } = await bench.run({ command: { resume: 1 } })
    expect(outcome.waiting).toBe(true)
    expect(outcome.interrupts).toContain('two?')
    const [state] = await bench.ask({ kind: 'state' })
    expect(JSON.parse(state!.json)).toMatchObject({ next: ['a'], tasks: [{ name: 'a' }] })
    expect((await bench.run({ command: { resume: 2 } })).outcome).toEqual(success)
    expect(bench.log.values().log).toEqual(['a [1,2]'])
  })

  it('in a subgraph leaves the whole thread waiting', async () => {
    const bench = new GraphBench(nestedAsk)
    const { outcome } = await bench.run({ input: { log: [] }, forget: true })
    expect(outcome.waiting).toBe(true)
    expect(outcome.interrupts).toContain('sure?')
    expect((await bench.run({ command: { resume: 'yes' } })).outcome).toEqual(success)
    expect(bench.log.values().log).toContain('asked "yes"')
  })

  it.each([['interruptBefore', ['a']], ['interruptAfter', ['a', 'b']]] as const)(
    'by %s leaves tasks without a question',
    async (when, expected) => {
      const bench = new GraphBench(line(['a', 'b', 'c']))
      const { outcome } = await bench.run({ input: { log: [] }, [when]: ['b'] })
      expect(outcome).toMatchObject({ status: 'success', waiting: true })
      expect(Object.values(JSON.parse(outcome.interrupts) as object)).toEqual([[]])
      expect(bench.log.values().log).toEqual(expected)
      await bench.run({ input: null })
      expect(bench.log.values().log).toEqual(['a', 'b', 'c'])
    },
  )
})

describe('a command', () => {
  it.each([
    ['a name', 'c', ['x', 'c']],
    ['a list of names', ['b'], ['x', 'b', 'c']],
    ['a node with its input', { node: 'c', input: { log: ['sent'] } }, ['x', 'c']],
  ])('goes to %s', async (_, goto, expected) => {
    const bench = new GraphBench(line(['a', 'b', 'c']))
    await bench.run({ input: { log: [] }, interruptBefore: ['a'] })
    await bench.run({ command: { goto, update: { log: ['x'] } } })
    const log = bench.log.values().log as string[]
    for (const word of expected) expect(log).toContain(word)
  })

  it('may have its update as a list of pairs', async () => {
    const bench = new GraphBench(line(['a']))
    await bench.run({ input: { log: [] } })
    await bench.run({ command: { update: [['log', ['x']], ['log', ['y']]] } })
    expect(bench.log.values().log).toEqual(['a', 'x', 'y'])
  })
})

describe('a fork', () => {
  it('continues from the named checkpoint, and not from nothing or from the head', async () => {
    const bench = new GraphBench(echo)
    await bench.run({ input: said('a') })
    const old = bench.log.headId!
    await bench.run({ input: said('b') })
    const checkpoint = { checkpointId: old, checkpointNs: '', checkpointMap: null }
    await bench.run({ input: said('c'), checkpoint })
    expect(contents(bench)).toEqual(['a', 're: a', 'c', 're: c'])
    expect(bench.log.checkpoints.at(-3)).toMatchObject({ parentId: old, full: true })
    await bench.run({ input: said('d') })
    expect(contents(bench)).toEqual(['a', 're: a', 'c', 're: c', 'd', 're: d'])
  })

  it('is not made by a selector without a checkpoint', async () => {
    const bench = new GraphBench(echo)
    await bench.run({ input: said('a') })
    const checkpoint = { checkpointId: null, checkpointNs: '', checkpointMap: null }
    await bench.run({ input: said('b'), checkpoint })
    expect(contents(bench)).toEqual(['a', 're: a', 'b', 're: b'])
  })
})

describe('memory', () => {
  const State = Annotation.Root({
    list: Annotation<{ n: number }[]>({
      reducer: (a, b) => {
        a.push(...b)
        return a
      },
      default: () => [],
    }),
    note: Annotation<{ text: string }>(),
  })
  const mutating = (work: (state: typeof State.State) => Partial<typeof State.State>) =>
    new StateGraph(State).addNode('node', work)
      .addEdge(START, 'node').addEdge('node', END).compile()

  it('is right even if a reducer changes its list in place', async () => {
    const bench = new GraphBench(mutating(({ list }) => ({ list: [{ n: list.length }] })))
    await bench.run({ input: { list: [{ n: 9 }] } })
    await bench.run({ input: { list: [{ n: 8 }] } })
    expect(bench.log.values().list).toEqual([{ n: 9 }, { n: 1 }, { n: 8 }, { n: 3 }])
  })

  it('is dropped for the log if a node changed the state in place', async () => {
    const bench = new GraphBench(mutating(({ note, list }) => {
      note.text += '!'
      if (list[0]) list[0].n += 1
      return {}
    }))
    await bench.run({ input: { note: { text: 'a' }, list: [{ n: 1 }] } })
    const stored = bench.log.values()
    const { events } = await bench.run({ input: { list: [] }, streamModes: ['debug'] })
    const checkpoint = JSON.parse(events[0]!.json) as { payload: { values: unknown } }
    expect(checkpoint.payload.values).toMatchObject({ note: stored.note })
  })

  it('is dropped if a run fails, so that its changes in place are not seen', async () => {
    let fails = true
    const bench = new GraphBench(mutating(({ list }) => {
      const { deep } = list[0] as unknown as { deep: { n: number } }
      deep.n += 1
      if (fails) throw new Error('no')
      return { note: { text: `seen ${deep.n}` } }
    }))
    await bench.run({ input: { list: [{ n: 0, deep: { n: 1 } }] } })
    fails = false
    await bench.run({ input: null })
    expect(bench.log.values().note).toEqual({ text: 'seen 2' })
  })

  it('holds values exactly as the log would return them', async () => {
    const seen: unknown[] = []
    const Draft = Annotation.Root({ draft: Annotation<{ message: BaseMessage }>() })
    const message = new AIMessage({ content: 'x', name: null as never })
    const graph = new StateGraph(Draft).addNode('node', ({ draft }) => {
      seen.push(draft?.message)
      return draft ? {} : { draft: { message } }
    }).addEdge(START, 'node').addEdge('node', END).compile()
    const bench = new GraphBench(graph)
    await bench.run({ input: { draft: null } })
    await bench.run({ input: {}, command: { goto: 'node' } })
    await bench.run({ command: { goto: 'node' } })
    expect(bench.log.reads).toBe(0)
    await bench.run({ command: { goto: 'node' }, forget: true })
    const [fromMemory, fromLog] = seen.slice(-2)
    expect(fromMemory).toBeInstanceOf(AIMessage)
    expect(fromMemory).not.toBe(message)
    expect(fromMemory).toEqual(fromLog)
  })

  it('applies input under a new run id, but not again under the run id of the head', async () => {
    const bench = new GraphBench(echo)
    const config = { metadata: { run_id: runIdOf(1) } }
    await bench.run({ input: said('a'), config })
    await bench.run({ input: said('b'), config })
    expect(contents(bench)).toEqual(['a', 're: a'])
    await bench.run({ input: said('b'), config: { metadata: { run_id: runIdOf(2) } } })
    expect(contents(bench)).toEqual(['a', 're: a', 'b', 're: b'])
  })
})

describe('a DeltaChannel', () => {
  const deltas = (snapshotFrequency: number) =>
    Annotation.Root({
      messages: () => new DeltaChannel(messagesDeltaReducer as never, { snapshotFrequency }),
    } as never) as unknown as typeof MessagesAnnotation
  const graph = (snapshotFrequency: number) =>
    new StateGraph(deltas(snapshotFrequency))
      .addNode('echo', ({ messages }) => ({ messages: [new AIMessage(`n ${messages.length}`)] }))
      .addEdge(START, 'echo').addEdge('echo', END).compile()

  it.each([[false], [true]])('is replayed from its writes, forgotten: %s', async (forget) => {
    const bench = new GraphBench(graph(3))
    for (let i = 0; i < 6; i++) await bench.run({ input: said(`${i}`), forget })
    const [state] = await bench.ask({ kind: 'state' })
    const { messages } = JSON.parse(state!.values) as { messages: { content: string }[] }
    expect(messages.map(({ content }) => content)).toEqual([0, 1, 2, 3, 4, 5]
      .flatMap((i) => [`${i}`, `n ${2 * i + 1}`]))
  })

  it('is right after an edit of several supersteps that is logged only at its end', async () => {
    const bench = new GraphBench(graph(100))
    await bench.run({ input: said('a') })
    await bench.edit([
      [{ values: said('b'), asNode: 'echo' }],
      [{ values: said('c'), asNode: 'echo' }],
    ], { unseen: true })
    const [state] = await bench.ask({ kind: 'state' })
    expect((JSON.parse(state!.values) as { messages: unknown[] }).messages).toHaveLength(4)
  })
})

describe('an edit', () => {
  it('applies supersteps in order, and leaves the rest to the next run', async () => {
    const bench = new GraphBench(line(['a', 'b']))
    const { outcome } = await bench.edit([
      [{ values: { log: ['in'] }, asNode: '__input__' }],
      [{ values: { log: ['started'] }, asNode: '__start__' }],
      [{ values: { log: ['as a'] }, asNode: 'a' }],
    ])
    expect(outcome).toMatchObject({ status: 'success', waiting: true })
    expect(bench.log.values().log).toEqual(['started', 'as a'])
    expect(bench.log.checkpoints.every(({ runId }) => runId === '')).toBe(true)
    const { writes } = JSON.parse(bench.log.checkpoints.at(-1)!.metadataJson) as { writes: unknown }
    expect(writes).toEqual({ a: { log: ['as a'] } })
    await bench.run({ input: null })
    expect(bench.log.values().log).toEqual(['started', 'as a', 'b'])
  })

  it('coerces messages as an input does', async () => {
    const bench = new GraphBench(echo)
    await bench.edit([[{ values: said('a'), asNode: 'echo' }]])
    expect(bench.log.values().messages).toMatchObject([{ type: 'human', content: 'a' }])
  })

  it('starts from the named checkpoint', async () => {
    const bench = new GraphBench(line(['a', 'b']))
    await bench.run({ input: { log: [] }, interruptBefore: ['b'] })
    const old = bench.log.headId!
    await bench.run({ input: null })
    const checkpoint = { checkpointId: old, checkpointNs: '', checkpointMap: null }
    await bench.edit([[{ values: { log: ['x'] }, asNode: 'b' }]], { checkpoint })
    expect(bench.log.values().log).toEqual(['a', 'x'])
  })

  it('ends in error if it names an unknown node', async () => {
    const { outcome } = await new GraphBench(line(['a']))
      .edit([[{ values: { log: [] }, asNode: 'nobody' }]])
    expect(outcome).toMatchObject({ status: 'error',
      error: { message: expect.stringMatching('names no node of the graph: nobody') } })
  })
})
