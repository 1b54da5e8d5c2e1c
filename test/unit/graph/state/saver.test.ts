/** The saver between engine and log: what it writes, and what it reads from memory or the log. */

import { emptyCheckpoint, uuid6 } from '@langchain/langgraph-checkpoint'
import type { Checkpoint } from '@langchain/langgraph-checkpoint'
import * as messages from '@langchain/core/messages'
import { AIMessage } from '@langchain/core/messages'
import { describe, expect, it } from 'vitest'

import type { Writes } from '../../../../proto/gen/storage/v1/log.ts'
import type { Step } from '../../../../src/graph/execution.ts'
import { PendingWrites } from '../../../../src/graph/state/pending-writes.ts'
import { HeddleSaver } from '../../../../src/graph/state/saver.ts'
import type { SaverOptions } from '../../../../src/graph/state/saver.ts'
import { ValueCodec } from '../../../../src/graph/state/value-codec.ts'
import { codec, serde } from '../../../support/graph-bench.ts'
import { ModelLog } from '../../../support/model-log.ts'

const thread_id = 't'

function open(log = new ModelLog(), options: Partial<SaverOptions> = {}) {
  const memory = { newest: new Map(), empty: log.headId === null }
  const saver = new HeddleSaver({
    threadId: thread_id,
    runId: 'r',
    codec,
    serde,
    source: log,
    memory,
    metadata: {},
    sync: false,
    sink: { step: (step) => log.append([step]), hold: () => {}, acknowledged: async () => {} },
    entered: () => {},
    seen: () => {},
    written: () => {},
    ...options,
  })
  return { saver, log, memory }
}

function checkpoint(channel_values: Record<string, unknown>): Checkpoint {
  return { ...emptyCheckpoint(), id: uuid6(0), channel_values,
    channel_versions: Object.fromEntries(Object.keys(channel_values).map((key) => [key, 1])) }
}

const loop = { source: 'loop', step: 0, parents: {} } as const
const at = (checkpoint_id?: string) => ({
  configurable: { thread_id, checkpoint_ns: '', ...checkpoint_id && { checkpoint_id } },
})

describe('HeddleSaver', () => {
  it('does not read a thread that is known to be empty', async () => {
    const { saver, log } = open()
    expect(await saver.getTuple(at())).toBeUndefined()
    expect(log.reads).toBe(0)
  })

  it('answers the newest checkpoint from memory and any other from the log', async () => {
    const { saver, log } = open()
    const first = checkpoint({ a: 1 })
    const second = checkpoint({ a: 2 })
    await saver.put(at(), first, loop, { a: 1 })
    await saver.put(at(first.id), second, loop, { a: 2 })
    expect((await saver.getTuple(at()))?.checkpoint.channel_values).toEqual({ a: 2 })
    expect((await saver.getTuple(at(second.id)))?.parentConfig).toEqual(at(first.id))
    expect(log.reads).toBe(0)
    expect((await saver.getTuple(at(first.id)))?.checkpoint.channel_values).toEqual({ a: 1 })
    expect(log.reads).toBe(1)
  })

  it('stores a checkpoint in full if its parent is not the newest one', async () => {
    const { saver, log } = open()
    const first = checkpoint({ a: 1, list: [1] })
    const second = checkpoint({ a: 2, list: [1, 2] })
    const fork = checkpoint({ a: 1, list: [1, 3] })
    await saver.put(at(), first, loop, first.channel_versions)
    await saver.put(at(first.id), second, loop, { a: 2, list: 2 })
    await saver.put(at(first.id), fork, loop, { list: 2 })
    expect(log.checkpoints.map(({ full }) => full)).toEqual([true, false, true])
    const { saver: fresh } = open(log)
    expect((await fresh.getTuple(at()))?.checkpoint.channel_values).toEqual({ a: 1, list: [1, 3] })
  })

  it('stores a checkpoint in full at intervals, however little each step changes', async () => {
    const { saver, log } = open()
    let before: string | undefined
    for (let step = 0; step < 600; step++) {
      const next = checkpoint({ a: step })
      await saver.put(at(before), next, loop, { a: step })
      before = next.id
    }
    expect(log.checkpoints.flatMap(({ full }, step) => full ? step : [])).toEqual([0, 257, 514])
  })

  it("waits under `sync` until the log has checkpoints and tasks' writes", async () => {
    let disk = Promise.withResolvers<void>()
    const sink = { step: () => {}, hold: () => {}, acknowledged: () => disk.promise }
    const { saver } = open(undefined, { sync: true, sink })
    const first = checkpoint({ a: 1 })
    for (const save of [() => saver.put(at(), first, loop, { a: 1 }),
      () => saver.putWrites(at(first.id), [['a', 2]], 'task')]) {
      let saved = false
      const saving = save().then(() => {
        saved = true
      })
      await new Promise((resolve) => setImmediate(resolve))
      expect(saved).toBe(false)
      disk.resolve()
      await saving
      disk = Promise.withResolvers()
    }
  })

  it('keeps a checkpoint unchanged if it is saved again', async () => {
    const { saver, log } = open()
    const first = checkpoint({ a: 1 })
    const second = checkpoint({ a: 2 })
    await saver.put(at(), first, loop, { a: 1 })
    await saver.put(at(first.id), second, loop, { a: 2 })
    await saver.putWrites(at(second.id), [['a', 3]], 'task')
    expect(await saver.put(at(second.id), second, loop, {})).toEqual(at(second.id))
    for (const reader of [saver, open(log).saver]) {
      const tuple = await reader.getTuple(at())
      expect(tuple?.checkpoint.channel_values).toEqual({ a: 2 })
      expect(tuple?.parentConfig).toEqual(at(first.id))
      expect(tuple?.pendingWrites).toEqual([['task', 'a', 3]])
    }
  })

  it('stores a copied checkpoint in full although nothing in it is new', async () => {
    const { saver, log } = open()
    await saver.put(at(), checkpoint({ a: 1 }), { ...loop, source: 'fork' }, {})
    expect(log.values()).toEqual({ a: 1 })
  })

  it("keeps a task's first write at each index, and the last of special channels", async () => {
    const { saver, log } = open()
    const head = checkpoint({})
    await saver.put(at(), head, loop, {})
    await saver.putWrites(at(head.id), [['a', 1], ['__error__', 'x']], 'task')
    await saver.putWrites(at(head.id), [['a', 2], ['__error__', 'y']], 'task')
    const expected = [['task', 'a', 1], ['task', '__error__', 'y']]
    expect((await saver.getTuple(at()))?.pendingWrites).toEqual(expected)
    expect((await open(log).saver.getTuple(at()))?.pendingWrites).toEqual(expected)
    expect(log.writes[1]!.writes.map(({ index }) => index)).toEqual([-1])
  })

  it('orders writes by the paths of their tasks, as a step applies them', async () => {
    const { saver, log } = open()
    const head = checkpoint({ list: [] })
    const next = checkpoint({})
    await saver.put(at(), head, loop, { list: 1 })
    await saver.putWrites(at(head.id), [['list', 'b']], 'task 1', '~__pregel_pull, b')
    await saver.putWrites(at(head.id), [['list', 'a']], 'task 3', '~__pregel_pull, a')
    await saver.putWrites(at(head.id), [['list', 'input']], 'task 2')
    await saver.put(at(head.id), next, loop, {})
    const expected = [['task 2', 'list', 'input'], ['task 3', 'list', 'a'], ['task 1', 'list', 'b']]
    for (const { saver: one } of [{ saver }, open(log)]) {
      expect((await one.getTuple(at(head.id)))?.pendingWrites).toEqual(expected)
      const { list } = await one.getDeltaChannelHistory({ config: at(), channels: ['list'] })
      expect(list).toEqual({ writes: expected, seed: [] })
    }
  })

  it('keeps writes that come before their checkpoint', async () => {
    const { saver } = open()
    const head = checkpoint({})
    await saver.putWrites(at(head.id), [['a', 1]], 'task')
    await saver.put(at(), head, loop, {})
    expect((await saver.getTuple(at()))?.pendingWrites).toEqual([['task', 'a', 1]])
  })

  it('returns copies, so that changes to one do not show in the next', async () => {
    const { saver } = open()
    const head = checkpoint({ list: [1] })
    head.versions_seen = { node: { list: 1 } }
    await saver.put(at(), head, loop, { list: 1 })
    await saver.putWrites(at(head.id), [['a', 1]], 'task')
    const tuple = await saver.getTuple(at())
    tuple!.pendingWrites!.pop()
    tuple!.checkpoint.versions_seen.node!.list = 9
    tuple!.checkpoint.channel_versions.list = 9
    ;(tuple!.checkpoint.channel_values.list as number[]).push(2)
    expect(await saver.getTuple(at())).toMatchObject({ pendingWrites: [['task', 'a', 1]],
      checkpoint: { versions_seen: { node: { list: 1 } }, channel_versions: { list: 1 },
        channel_values: { list: [1] } } })
  })

  it('shows the sends of checkpoints before version 4 where the engine expects them', async () => {
    const log = new ModelLog()
    const [first, second] = [1, 2].map((a) => ({ ...checkpoint({ a }), v: 1 }))
    const { saver: old } = open(log, { sendsApart: true })
    await old.put(at(), first!, loop, { a: 1 })
    await old.putWrites(at(first!.id), [['__pregel_tasks', 'packet'], ['a', 2]], 'task')
    await old.put(at(first!.id), second!, loop, { a: 2 })
    expect((await old.getTuple(at(first!.id)))?.checkpoint).toMatchObject({ pending_sends: [] })
    expect((await old.getTuple(at()))?.checkpoint).toEqual({ ...second, pending_sends: ['packet'] })
    const { checkpoint: seen } = (await open(log).saver.getTuple(at()))!
    expect(seen).toMatchObject({ channel_values: { a: 2, __pregel_tasks: ['packet'] },
      channel_versions: { a: 1, __pregel_tasks: 1 } })
    expect(seen).not.toHaveProperty('pending_sends')
  })

  it('leaves the snapshot of a DeltaChannel out of later states, and finds it in the history',
    async () => {
      const { saver, log } = open()
      const first = checkpoint({ d: ['snapshot'] })
      const second = checkpoint({})
      const third = checkpoint({})
      await saver.put(at(), first, loop, { d: 1 })
      await saver.putWrites(at(first.id), [['d', ['x']]], 'b')
      await saver.putWrites(at(first.id), [['d', ['w']]], 'a')
      await saver.put(at(first.id), second, loop, { d: 2 })
      await saver.putWrites(at(second.id), [['d', ['y']]], 'task')
      await saver.put(at(second.id), third, loop, { d: 3 })
      for (const each of [saver, open(log).saver]) {
        expect((await each.getTuple(at()))?.checkpoint.channel_values).toEqual({})
        expect(await each.getDeltaChannelHistory({ config: at(), channels: ['d', 'e'] })).toEqual({
          d: { seed: ['snapshot'],
            writes: [['a', 'd', ['w']], ['b', 'd', ['x']], ['task', 'd', ['y']]] },
          e: { writes: [] },
        })
      }
    })

  it('waits until its own steps are in the log before it reads', async () => {
    const log = new ModelLog()
    const order: string[] = []
    const { saver } = open(log, {
      memory: { newest: new Map(), empty: false },
      sink: { step: () => {}, hold: () => {},
        acknowledged: async () => void order.push('acknowledged') },
      source: { list: async () => [], tuple: async () => void order.push('read') as undefined },
    })
    await saver.getTuple(at())
    expect(order).toEqual(['acknowledged', 'read'])
  })

  it('refuses other threads, and writes after it was retired', async () => {
    const { saver } = open()
    const other = { configurable: { thread_id: 'other' } }
    await expect(saver.getTuple(other)).rejects.toThrow('own thread')
    saver.retire()
    await expect(saver.put(at(), checkpoint({}), loop, {})).rejects.toThrow('is over')
    await expect(saver.putWrites(at('x'), [['a', 1]], 't')).rejects.toThrow('is over')
  })

  it('is only a name in JSON', () => {
    expect(JSON.stringify({ saver: open().saver })).toBe('{"saver":"[HeddleSaver]"}')
  })

  it('lists a long history to its end, or as far as the limit', async () => {
    const { saver } = open()
    let parent: string | undefined
    for (let i = 0; i < 150; i++) {
      const next = checkpoint({ list: [i] })
      await saver.put(at(parent), next, loop, { list: i + 1 })
      parent = next.id
    }
    const seen: unknown[] = []
    for await (const { checkpoint: { channel_values: values } } of saver.list({
      configurable: { thread_id },
    })) seen.push(values.list)
    expect(seen).toEqual(Array.from({ length: 150 }, (_, i) => [149 - i]))
    const limited: unknown[] = []
    for await (const tuple of saver.list({ configurable: { thread_id } }, { limit: 70 })) {
      limited.push(tuple)
    }
    expect(limited).toHaveLength(70)
  })

  it('refuses a filter that cannot be cloned, without reading', async () => {
    const { saver, log } = open()
    await saver.put(at(), checkpoint({ a: 1 }), loop, { a: 1 })
    const filter = { source: () => 'loop' } as never
    await expect(saver.list(at(), { filter }).next()).rejects.toThrow('could not be cloned')
    expect(log.reads).toBe(0)
  })

  it('forgets the subgraphs of tasks once their step has ended, and no others', async () => {
    const { saver, memory } = open()
    const put = (checkpoint_ns: string) =>
      saver.put(
        { configurable: { thread_id, checkpoint_ns } },
        checkpoint({ a: 1 }),
        loop,
        { a: 1 },
      )
    for (const ns of ['', 'lasting', 'a:1', 'a:1|b:2', 'a:1|b:2|c:3', 'a:11|d:4']) await put(ns)
    expect(memory.newest.size).toBe(6)
    await put('a:1')
    expect([...memory.newest.keys()]).toEqual(['', 'lasting', 'a:1', 'a:11|d:4'])
    await put('')
    expect([...memory.newest.keys()]).toEqual(['', 'lasting'])
  })

  it('returns messages as messages', async () => {
    const { saver, log } = open()
    await saver.put(at(), checkpoint({ list: [new AIMessage({ content: 'x', id: '1' })] }), loop, {
      list: 1,
    })
    const tuple = await open(log).saver.getTuple(at())
    expect((tuple!.checkpoint.channel_values.list as unknown[])[0]).toBeInstanceOf(AIMessage)
  })

  it('stores an error in the place of what a serializer refuses, and says so', async () => {
    const refusing = new ValueCodec(messages, { ...serde, dumpsTyped: async () => {
      throw new TypeError('a sealed box')
    } } as typeof serde)
    const steps: Step[] = []
    const held: Promise<void>[] = []
    const { saver } = open(new ModelLog(), { codec: refusing, sink: {
      step: (step) => void steps.push(step),
      hold: (done) => void held.push(done),
      acknowledged: async () => {},
    } })
    const first = checkpoint({ a: 1 })
    await saver.put(at(), first, loop, { a: 1 })
    const written = saver.putWrites(at(first.id), [['a', 2], ['b', new Box()]], 'task')
    await expect(written).rejects.toThrow('a sealed box')
    await Promise.all(held)
    const [, stored] = steps
    expect(stored).toMatchObject({
      value: { taskId: 'task',
        writes: [{ channel: '__error__',
          value: { json: expect.stringMatching('a sealed box') } }] },
    })
    const seen = await PendingWrites.of([stored!.value as Writes],
      (value) => refusing.decode(value))
    for (const writes of [(await saver.getTuple(at()))?.pendingWrites, seen.tuples()]) {
      expect(writes).toMatchObject([['task', '__error__', { name: 'TypeError' }]])
    }
  })
})

class Box {
  readonly inside = 1
}
