/** Every answer is the same after the process was killed and started again. */

import { describe, expect, it } from 'vitest'
import { say } from '../support/run-events.ts'
import { clientOf, useServer } from '../support/server.ts'

const server = useServer()

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

/** Everything that the API tells of a thread. */
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

describe('after a restart', () => {
  it.each(graphs)('a thread of the graph %s is as it was', async (graphId) => {
    const { runs, threads } = server.client
    const { thread_id: id } = await threads.create({ metadata: { graphId } })
    const payload = { input: input(graphId), raiseError: false }
    for (let n = 0; n < 2; n += 1) await runs.wait(id, graphId, payload)
    const copy = await threads.copy(id)
    await runs.wait(copy.thread_id, graphId, payload)
    const before = [await everythingOf(id), await everythingOf(copy.thread_id)]
    await server.process.kill('SIGKILL')
    await server.process.restart()
    expect([await everythingOf(id), await everythingOf(copy.thread_id)]).toEqual(before)
    await runs.wait(id, graphId, payload)
    expect((await runs.list(id))).toHaveLength(3)
  })

  it('assistants, searches and counts are as they were', async () => {
    const { assistants, threads } = server.client
    const made = await assistants.create({ graphId: 'echo', context: { model_name: 'v1' } })
    await assistants.update(made.assistant_id, { context: { model_name: 'v2' } })
    await assistants.setLatest(made.assistant_id, 1)
    const read = async () => ({
      one: await assistants.get(made.assistant_id),
      versions: await assistants.getVersions(made.assistant_id),
      all: await assistants.search({ limit: 1_000, sortBy: 'assistant_id', sortOrder: 'asc' }),
      threads: await threads.search({ limit: 1_000, sortBy: 'created_at', sortOrder: 'asc' }),
      waiting: await threads.count({ status: 'interrupted' }),
    })
    const before = await read()
    await server.process.kill('SIGKILL')
    await server.process.restart()
    expect(await read()).toEqual(before)
  })
})
