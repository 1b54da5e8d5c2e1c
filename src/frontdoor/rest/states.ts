/** The routes of a thread's state and history. */

import {
  CheckpointPath, ListHistory, ReadHistory, ReadState, ReadStateAt, UpdateState,
} from '../schema/state.ts'
import { ThreadPath } from '../schema/thread.ts'
import { route, sendJson } from './route.ts'
import type { App, RouteParts } from './route.ts'

const one = { tag: 'State', params: ThreadPath, answer: 'ThreadState' } as const

export function stateRoutes(app: App, { threads, tenant }: RouteParts): void {
  app.get('/threads/:thread_id/state', route({ ...one, querystring: ReadState,
    summary: 'Get the state of a thread' }), async ({ params, query }, reply) =>
    sendJson(reply, await threads.state(tenant, params.thread_id, null, query.subgraphs ?? false)))

  app.get('/threads/:thread_id/state/:checkpoint_id', route({ ...one, params: CheckpointPath,
    querystring: ReadState, summary: 'Get the state of a thread at a checkpoint' }),
  async ({ params: { thread_id, checkpoint_id }, query }, reply) => {
    const subgraphs = query.subgraphs ?? false
    return sendJson(reply, await threads.state(tenant, thread_id, { checkpoint_id }, subgraphs))
  })

  app.post('/threads/:thread_id/state/checkpoint', route({ ...one, body: ReadStateAt,
    summary: 'Get the state of a thread at a checkpoint, also of a subgraph' }),
  async ({ params, body: { checkpoint, subgraphs } }, reply) =>
    sendJson(reply,
      await threads.state(tenant, params.thread_id, checkpoint, subgraphs ?? false)))

  app.post('/threads/:thread_id/state', route({ ...one, body: UpdateState,
    answer: 'StateUpdate', summary: 'Update the state of a thread' }),
  async ({ params, body }, reply) =>
    sendJson(reply, await threads.updateState(tenant, params.thread_id, body)))

  app.post('/threads/:thread_id/history', route({ ...one, body: ReadHistory,
    answer: 'ThreadState[]', summary: 'Get the history of a thread, newest first' }),
  async ({ params, body }, reply) =>
    sendJson(reply, await threads.history(tenant, params.thread_id, body)))

  app.get('/threads/:thread_id/history', route({ ...one, querystring: ListHistory,
    answer: 'ThreadState[]', summary: 'Get the history of a thread, newest first' }),
  async ({ params, query }, reply) =>
    sendJson(reply, await threads.history(tenant, params.thread_id, query)))
}
