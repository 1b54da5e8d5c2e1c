/** Every answer is the same after the process was killed and restarted. */

import { randomUUID } from 'node:crypto'

import { beforeAll, describe, expect, it, vi } from 'vitest'

import { say } from '../support/run-events.ts'
import { clientOf, useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'

const server = useServer({ project: 'conformance' })

const input = (graphId: string): Record<string, unknown> => ({
  ...graphId === 'echo' || graphId === 'tokens' ? say('hello') : {},
  ...graphId === 'counter' ? { by: 2 } : {},
  ...graphId === 'fanout' ? { words: ['a', 'b'] } : {},
  ...graphId === 'inplace' ? { cards: [{ title: 't', marks: 0 }] } : {},
  ...graphId === 'jump' ? { topic: 'left' } : {},
  ...['steps', 'nested', 'nestedask', 'failing'].includes(graphId) ? { topic: 't' } : {},
  ...graphId.startsWith('ask') ? { question: 'q' } : {},
})

const graphs = ['echo', 'tokens', 'steps', 'counter', 'failing', 'fanout', 'jump', 'ask', 'askboth',
  'nested', 'nestedask', 'rich', 'inplace']

/** Everything that the API shows of a thread. */
async function everythingOf(threadId: string) {
  const { runs, threads } = clientOf(server.url)
  const history = await threads.getHistory(threadId, { limit: 1_000 })
  return {
    thread: await threads.get(threadId),
    state: await threads.getState(threadId),
    deep: await threads.getState(threadId, undefined, { subgraphs: true }),
    history,
    old: await threads.getState(threadId, history.at(-1)!.checkpoint),
    runs: await runs.list(threadId, { limit: 1_000 }),
  }
}

/** Everything that the API shows besides threads. */
async function recordsOf(assistantId: string) {
  const { assistants, threads } = clientOf(server.url)
  return {
    one: await assistants.get(assistantId),
    versions: await assistants.getVersions(assistantId),
    all: await assistants.search({ limit: 1_000, sortBy: 'assistant_id', sortOrder: 'asc' }),
    threads: await threads.search({ limit: 1_000, sortBy: 'created_at', sortOrder: 'asc' }),
    waiting: await threads.count({ status: 'interrupted' }),
  }
}

/** A copy at a checkpoint that others follow. */
async function copyInTheMiddle(id: string): Promise<string> {
  const states = await server.client.threads.getHistory(id, { limit: 1_000 })
  const { checkpoint_id } = states[Math.floor(states.length / 2)]!.checkpoint
  const { body } = await ask(server.url, 'POST', `/threads/${id}/copy`, { checkpoint_id })
  return (body as { thread_id: string }).thread_id
}

/**
 * By graph: a thread, a copy of it with further runs, one as it was at a checkpoint, and what was
 * shown of them before.
 */
const seen = new Map<string, { readonly ids: readonly string[]; readonly before: unknown }>()
/** A deletion of traces that was under way. */
let deletion: { readonly id: string; readonly session: string }

/** Roots, all but one of which are asked to be deleted. */
async function deletionUnderWay(): Promise<typeof deletion> {
  const send = (path: string, body: object) => ask(server.url, 'POST', `/api/v1${path}`, body)
  const { body } = await send('/sessions', { name: 'half deleted' })
  const { id: session } = body as { readonly id: string }
  const post = Array.from({ length: 2_000 }, (_, at) => {
    const id = randomUUID()
    return { id, trace_id: id, name: at === 1_000 ? 'kept' : 'gone', run_type: 'chain',
      session_id: session, start_time: 1_764_187_200_000 + at,
      dotted_order: `20251126T200000000000Z${id}`, inputs: {} }
  })
  expect((await send('/runs/batch', { post, patch: [] })).status).toBe(202)
  const answer = await send('/bulk-deletions', { session: [session], filter: 'eq(name, "gone")' })
  expect(answer.status).toBe(202)
  return { id: (answer.body as { readonly id: string }).id, session }
}

let records: { readonly assistantId: string; readonly before: unknown }

beforeAll(async () => {
  const { assistants, runs, threads } = server.client
  for (const graphId of graphs) {
    const payload = { input: input(graphId), raiseError: false }
    const { thread_id: id } = await threads.create({ metadata: { graphId } })
    for (let n = 0; n < 2; n += 1) await runs.wait(id, graphId, payload)
    const { thread_id: copy } = await threads.copy(id)
    await runs.wait(copy, graphId, payload)
    const ids = [id, copy, await copyInTheMiddle(id)]
    seen.set(graphId, { ids, before: await Promise.all(ids.map(everythingOf)) })
  }
  const { assistant_id: assistantId } = await assistants.create(
    { graphId: 'echo', context: { model_name: 'v1' } },
  )
  await assistants.update(assistantId, { context: { model_name: 'v2' } })
  await assistants.setLatest(assistantId, 1)
  records = { assistantId, before: await recordsOf(assistantId) }
  deletion = await deletionUnderWay()
  await server.process.kill('SIGKILL')
  await server.process.restart()
})

describe('after a restart', () => {
  it('assistants, searches and counts are as they were', async () => {
    expect(await recordsOf(records.assistantId)).toEqual(records.before)
  })

  it('a deletion of traces goes on to its end', async () => {
    const { id, session } = deletion
    await vi.waitFor(async () => {
      const { body } = await ask(server.url, 'GET', `/api/v1/bulk-deletions/${id}`)
      expect(body).toMatchObject({ status: 'Completed' })
    }, { timeout: 20_000, interval: 50 })
    const { body } = await ask(server.url, 'POST', '/api/v1/runs/query', { session: [session],
      select: ['name'] })
    expect((body as { readonly runs: readonly object[] }).runs).toMatchObject([{ name: 'kept' }])
  })

  it.each(graphs)('a thread of the graph %s and its copy are as they were', async (graphId) => {
    const { ids, before } = seen.get(graphId)!
    expect(await Promise.all(ids.map(everythingOf))).toEqual(before)
  })

  it.each(graphs)('a thread of the graph %s continues', async (graphId) => {
    const { runs } = server.client
    const [id] = seen.get(graphId)!.ids
    await runs.wait(id!, graphId, { input: input(graphId), raiseError: false })
    expect(await runs.list(id!)).toHaveLength(3)
  })
})
