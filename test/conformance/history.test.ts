/** The history of a thread: newest first, in pages, filtered, of the root or of a subgraph. */

import type { ThreadState } from '@langchain/langgraph-sdk'
import { beforeAll, describe, expect, it } from 'vitest'
import { useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'

const server = useServer()

type Snapshot = ThreadState & { checkpoint_id: string; parent_checkpoint_id: string }

let id = ''
let all: Snapshot[] = []

beforeAll(async () => {
  const { runs, threads } = server.client
  id = (await threads.create()).thread_id
  for (const topic of ['x', 'y', 'z']) await runs.wait(id, 'steps', { input: { topic } })
  all = await threads.getHistory(id, { limit: 1_000 }) as Snapshot[]
})

const idsOf = (history: readonly ThreadState[]) =>
  history.map((entry) => entry.checkpoint.checkpoint_id)

describe('the history of a thread', () => {
  it('is every checkpoint, newest first, each the child of the next', () => {
    expect(all).toHaveLength(15)
    expect(all.map(({ metadata }) => metadata?.step))
      .toEqual([13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, -1])
    for (const [at, entry] of all.slice(0, -1).entries()) {
      expect(entry.parent_checkpoint_id).toBe(all[at + 1]!.checkpoint_id)
      expect(entry.checkpoint_id > all[at + 1]!.checkpoint_id).toBe(true)
    }
    expect(all.at(-1)!.parent_checkpoint).toBeNull()
  })

  it('shows what the values were at each of them', () => {
    expect(all.toReversed().slice(0, 6).map(({ values, next }) => [values, next])).toEqual([
      [{ log: [] }, ['__start__']],
      [{ topic: 'x', log: [] }, ['a']],
      [{ topic: 'x', log: ['a:x'] }, ['b']],
      [{ topic: 'x', log: ['a:x', 'b:x'] }, ['c']],
      [{ topic: 'x', log: ['a:x', 'b:x', 'c:x'] }, []],
      [{ topic: 'x', log: ['a:x', 'b:x', 'c:x'] }, ['__start__']],
    ])
  })

  it('shows what each step wrote and what its tasks returned', () => {
    const afterB = all.find(({ next }) => next[0] === 'c')!
    expect(afterB.metadata).toMatchObject({ source: 'loop', writes: { b: { log: ['b:z'] } } })
    expect(afterB.tasks).toMatchObject([{ name: 'c', result: { log: ['c:z'] } }])
  })
})

describe('a page of the history', () => {
  it('has ten entries by default', async () => {
    const { threads } = server.client
    expect(idsOf(await threads.getHistory(id))).toEqual(idsOf(all.slice(0, 10)))
    expect(idsOf(await threads.getHistory(id, { limit: 3 }))).toEqual(idsOf(all.slice(0, 3)))
  })

  it.each([
    ['a config', (entry: Snapshot) => ({ configurable: { checkpoint_id: entry.checkpoint_id } })],
    ['an id', (entry: Snapshot) => entry.checkpoint_id],
    ['a checkpoint', (entry: Snapshot) => entry.checkpoint],
  ])('begins before the entry that is given as %s', async (_, before) => {
    const answer = await ask(server.url, 'POST', `/threads/${id}/history`, { limit: 4,
      before: before(all[5]!) })
    expect(idsOf(answer.body as ThreadState[])).toEqual(idsOf(all.slice(6, 10)))
  })

  it('begins before the time in the id of an entry that does not exist', async () => {
    const { threads } = server.client
    const times = all.map(({ checkpoint_id: entry }) => entry)
    // Only the last digits differ, which are not part of the time.
    const idsBefore = async (entry: string) => {
      const before = { configurable: { checkpoint_id: `${entry.slice(0, -12)}${'0'.repeat(12)}` } }
      return idsOf(await threads.getHistory(id, { limit: 4, before }))
    }
    expect(await idsBefore(times[5]!)).toEqual(times.slice(6, 10))
    expect(await idsBefore('ffffffff-ffff-6fff-bfff-ffffffffffff')).toEqual(times.slice(0, 4))
    expect(await idsBefore('00000000-0000-6000-8000-000000000000')).toEqual([])
  })

  it('holds the whole history when the pages are put together', async () => {
    const { threads } = server.client
    const collected: ThreadState[] = []
    for (;;) {
      const last = collected.at(-1)?.checkpoint
      const page = await threads.getHistory(id, {
        limit: 4,
        ...last && { before: { configurable: { checkpoint_id: last.checkpoint_id } } },
      })
      if (page.length === 0) break
      collected.push(...page)
    }
    expect(collected).toEqual(all)
  })

  it('has the same entries whatever the size of the pages', async () => {
    const { runs, threads } = server.client
    const { thread_id: long } = await threads.create()
    for (const topic of 'abcdefg') await runs.wait(long, 'steps', { input: { topic } })
    const whole = await threads.getHistory(long, { limit: 1_000 })
    expect(whole).toHaveLength(35)
    expect(await threads.getHistory(long, { limit: 20 })).toEqual(whole.slice(0, 20))
    for (const [at, { checkpoint }] of whole.slice(0, -1).entries()) {
      const before = { configurable: { checkpoint_id: checkpoint.checkpoint_id! } }
      expect(await threads.getHistory(long, { limit: 1, before })).toEqual([whole[at + 1]])
    }
  })

  it('holds only what matches the metadata', async () => {
    const { threads } = server.client
    const inputs = await threads.getHistory(id, { metadata: { source: 'input' }, limit: 100 })
    expect(inputs.map(({ metadata }) => metadata?.step)).toEqual([9, 4, -1])
    expect(await threads.getHistory(id, { metadata: { step: 7 } })).toHaveLength(1)
    expect(await threads.getHistory(id, { metadata: { nosuch: 1 } })).toEqual([])
  })

  it('is filtered by the configuration of runs too, and holds none of their secrets', async () => {
    const { runs, threads } = server.client
    const { thread_id: several } = await threads.create()
    const secrets = { openai_api_key: 'sk-1', accessToken: 'sk-2', PASSWORD: 'sk-3' }
    for (const step of ['draft', 'final']) {
      await runs.wait(several, 'steps', { input: { topic: 't' }, metadata: { owner: 'run' },
        config: {
          configurable: { phase: step, round: 1, owner: 'configurable', deep: { er: 1 },
            prompt: 'long'.repeat(100), ...secrets },
        } })
    }
    const found = await threads.getHistory(several, { metadata: { phase: 'draft' } })
    expect(found).toHaveLength(5)
    expect(found[0]!.metadata).toMatchObject({ phase: 'draft', round: 1, owner: 'run' })
    expect(found[0]!.metadata).not.toHaveProperty('prompt')
    expect(found[0]!.metadata).not.toHaveProperty('deep')
    expect(JSON.stringify(found)).not.toContain('sk-')
  })

  it('may begin at a checkpoint', async () => {
    const { threads } = server.client
    const page = await threads.getHistory(id, {
      checkpoint: { checkpoint_id: all[4]!.checkpoint_id },
      limit: 2,
    })
    expect(idsOf(page)[0]).toBe(all[4]!.checkpoint_id)
  })

  it('is available by GET too', async () => {
    const answer = await ask(server.url, 'GET', `/threads/${id}/history?limit=2`)
    expect(idsOf(answer.body as ThreadState[])).toEqual(idsOf(all.slice(0, 2)))
    const next = await ask(server.url, 'GET',
      `/threads/${id}/history?limit=2&before=${all[1]!.checkpoint_id}`)
    expect(idsOf(next.body as ThreadState[])).toEqual(idsOf(all.slice(2, 4)))
  })

  it.each([0, 1_001, 'many'])('is refused with 422 for the limit %s', async (limit) => {
    const answer = await ask(server.url, 'POST', `/threads/${id}/history`, { limit })
    expect(answer.status).toBe(422)
  })
})

describe('the history of a subgraph', () => {
  it('is asked for by its namespace', async () => {
    const { runs, threads } = server.client
    const { thread_id: nested } = await threads.create()
    await runs.wait(nested, 'nestedask', { input: { topic: 't' } })
    const { tasks } = await threads.getState(nested)
    const namespace = tasks[0]!.checkpoint!.checkpoint_ns
    expect(namespace).toMatch(/^sub:/)
    const history = await threads.getHistory(nested, { checkpoint: { checkpoint_ns: namespace } })
    expect(history.map(({ next }) => next)).toEqual([['deep'], ['prepare'], ['__start__']])
    expect(history[0]).toMatchObject({ values: { topic: 't', inner: 'prepared' },
      checkpoint: { checkpoint_ns: namespace } })
    expect(await threads.getHistory(nested)).toHaveLength(2)
  })
})

describe('the history of a run with durability exit', () => {
  it('shows the same interrupts and results as the state', async () => {
    const { runs, threads } = server.client
    const { thread_id: asked } = await threads.create()
    await runs.wait(asked, 'askone', { input: {}, durability: 'exit' })
    const { tasks } = await threads.getState(asked)
    expect(tasks.map(({ interrupts }) => interrupts.length)).toEqual([1, 0])
    for (const limit of [1, 10]) {
      expect((await threads.getHistory(asked, { limit }))[0]!.tasks).toEqual(tasks)
    }
  })
})

describe('a long history', () => {
  it('shows what was added to an old entry later, on whichever page it is', async () => {
    const { runs, threads } = server.client
    const { thread_id: thread } = await threads.create()
    await runs.wait(thread, 'ask', { input: { question: 't' } })
    const { checkpoint } = await threads.getState(thread)
    for (let i = 0; i < 20; i++) {
      await threads.updateState(thread, { values: { question: `t${i}` }, asNode: 'ask' })
    }
    await runs.wait(thread, 'ask', { command: { resume: 'late' },
      checkpointId: checkpoint.checkpoint_id! })
    const { tasks } = await threads.getState(thread, checkpoint)
    expect(tasks[0]).toMatchObject({ interrupts: [], result: expect.anything() })
    const history = await threads.getHistory(thread, { limit: 50 })
    const entry = history.find((each) => each.checkpoint.checkpoint_id === checkpoint.checkpoint_id)
    expect(entry!.tasks).toEqual(tasks)
    const before = { configurable: { checkpoint_id: history[16]!.checkpoint.checkpoint_id! } }
    expect(await threads.getHistory(thread, { limit: 50, before })).toEqual(history.slice(17))
  })
})

describe('an old checkpoint', () => {
  it('keeps the result of a fork that made no step, through later edits of it', async () => {
    const { runs, threads } = server.client
    const { thread_id: thread } = await threads.create()
    await runs.wait(thread, 'askboth', { input: { question: 'which?' } })
    const { checkpoint, tasks } = await threads.getState(thread)
    const answered = async () =>
      (await threads.getState(thread, checkpoint)).tasks
        .map(({ interrupts, result }) => interrupts.length === 0 && result)
    const edit = (values: object) =>
      threads.updateState(thread, { values, asNode: '__start__',
        checkpointId: checkpoint.checkpoint_id! })
    await edit({ question: 'another' })
    await runs.wait(thread, 'askboth', { checkpointId: checkpoint.checkpoint_id!,
      command: { resume: { [tasks[0]!.interrupts[0]!.id!]: 'L' } } })
    expect(await answered()).toEqual([{ answers: ['left L'] }, false])
    await edit({ question: 'a third' })
    expect(await answered()).toEqual([{ answers: ['left L'] }, false])
  })
})

describe('a filter of the history by metadata', () => {
  it('finds the entries that contain it, in whatever order its keys come', async () => {
    const { runs, threads } = server.client
    const { thread_id: thread } = await threads.create()
    const metadata = { place: { city: 'Paris', street: 'x' }, tags: ['a', 'b'] }
    await runs.wait(thread, 'counter', { input: { by: 1 }, metadata })
    const found = async (filter: Record<string, unknown>) =>
      (await threads.getHistory(thread, { metadata: filter })).length
    expect(await found({})).toBe(3)
    expect(await found(metadata)).toBe(3)
    expect(await found({ place: { street: 'x', city: 'Paris' } })).toBe(3)
    expect(await found({ place: { city: 'Paris' }, tags: ['b'] })).toBe(3)
    expect(await found({ place: { city: 'Rome' } })).toBe(0)
    expect(await found({ tags: ['c'] })).toBe(0)
  })
})
