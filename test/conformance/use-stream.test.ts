/** The calls of the user interface library useStream, in its order and with its arguments. */

import { randomUUID } from 'node:crypto'
import type { ThreadState } from '@langchain/langgraph-sdk'
import { describe, expect, it } from 'vitest'
import { useGates } from '../support/gate.ts'
import { collect, dataOf, namesOf, say, texts } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'

const server = useServer()
const gate = useGates()
const modes = ['messages-tuple', 'values'] as ('messages-tuple' | 'values')[]

describe('a chat in the browser', () => {
  it('creates its thread, streams, and reads the history', async () => {
    const { runs, threads } = server.client
    const threadId = randomUUID()
    await threads.create({ threadId, metadata: {} })
    const created: object[] = []
    const parts = await collect(runs.stream(threadId, 'tokens', {
      input: say('hello'),
      streamMode: modes,
      streamResumable: false,
      onDisconnect: 'cancel',
      onRunCreated: (run) => created.push(run),
    }))
    expect(created).toHaveLength(1)
    expect(namesOf(parts)).toEqual(['metadata', 'values', 'messages', 'values'])
    expect(texts(dataOf(parts, 'values').at(-1))).toEqual(['hello', 'one two three'])
    const history = await threads.getHistory(threadId, { limit: 10 })
    expect(history[0]!.values).toEqual(dataOf(parts, 'values').at(-1))
    expect((await threads.getState(threadId)).checkpoint.checkpoint_id)
      .toBe(history[0]!.checkpoint.checkpoint_id)
  })

  it('sees the same id on a streamed message and on the stored one', async () => {
    const { thread_id: id } = await server.client.threads.create()
    const parts = await collect(
      server.client.runs.stream(id, 'tokens', { input: say('hello'), streamMode: modes }),
    )
    const [tuple] = dataOf<[{ id: string }, unknown]>(parts, 'messages')
    const { messages } = dataOf<{ messages: { id: string }[] }>(parts, 'values').at(-1)!
    expect(messages.at(-1)!.id).toBe(tuple![0].id)
  })

  it('edits an earlier message, as a branch from the checkpoint before it', async () => {
    const { runs, threads } = server.client
    const { thread_id: id } = await threads.create()
    await runs.wait(id, 'echo', { input: say('one') })
    await runs.wait(id, 'echo', { input: say('two') })
    const history = await threads.getHistory(id, { limit: 100 })
    const before = history.find(({ values, next }) =>
      texts(values).length === 2 && next.length === 0
    )!
    const { thread_id: _, ...checkpoint } = before.checkpoint
    const parts = await collect(runs.stream(id, 'echo', {
      input: say('two again'),
      streamMode: modes,
      checkpoint: {
        ...checkpoint,
        checkpoint_ns: '',
        checkpoint_map: null,
      },
    }))
    expect(texts(dataOf(parts, 'values').at(-1)))
      .toEqual(['one', 'echo: one', 'two again', 'echo: two again'])
    const all = await threads.getHistory(id, { limit: 100 })
    const children = all.filter((entry: ThreadState) =>
      entry.parent_checkpoint?.checkpoint_id === before.checkpoint.checkpoint_id
    )
    expect(children).toHaveLength(2)
    expect(texts((await threads.get(id)).values).at(-1)).toBe('echo: two again')
  })

  it('joins after a reload a run in progress, and one that has ended', async () => {
    const { runs, threads } = server.client
    const { thread_id: id } = await threads.create()
    const hold = gate()
    const run = await runs.create(id, 'held', {
      input: say(`hold ${hold.url}`),
      streamMode: modes,
      streamResumable: true,
      onDisconnect: 'continue',
    })
    await hold.arrived()
    const rejoined = collect(
      runs.joinStream(id, run.run_id, { lastEventId: '-1', streamMode: modes }),
    )
    hold.open()
    const parts = await rejoined
    expect(texts(dataOf(parts, 'values').at(-1)).at(-1)).toBe('last')
    const later = await collect(runs.joinStream(id, run.run_id, { lastEventId: '-1' }))
    expect(later).toEqual(parts)
  })

  it('queues what is typed while a run continues, and streams each in its turn', async () => {
    const { runs, threads } = server.client
    const { thread_id: id } = await threads.create()
    const hold = gate()
    await runs.create(id, 'held', { input: say(`hold ${hold.url}`), streamResumable: true })
    await hold.arrived()
    const queued = await Promise.all(['a', 'b'].map((word) =>
      runs.create(id, 'echo', {
        input: say(word),
        streamMode: modes,
        multitaskStrategy: 'enqueue',
        streamResumable: true,
      })
    ))
    expect(await runs.list(id, { limit: 1_000, status: 'pending' })).toHaveLength(2)
    const streams = queued.map((run) =>
      collect(runs.joinStream(id, run.run_id, { lastEventId: '-1' }))
    )
    hold.open()
    for (const parts of await Promise.all(streams)) {
      expect(namesOf(parts)[0]).toBe('metadata')
      expect(dataOf(parts, 'values').length).toBeGreaterThan(0)
    }
    expect(texts((await threads.get(id)).values)).toHaveLength(8)
  })
})

describe('an official client from 1.13 on', () => {
  it('finds a run over when its stream ends: it would connect again', async () => {
    const { threads, runs } = server.client
    const { thread_id: id } = await threads.create()
    for (const word of ['one', 'two', 'three']) {
      const [first] = await collect(runs.stream(id, 'echo', { input: say(word) }))
      const { run_id } = first!.data as { run_id: string }
      expect((await runs.get(id, run_id)).status).toBe('success')
    }
  })
})
