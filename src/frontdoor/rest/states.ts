/** The routes of a thread's state and history. */

import { leftSignal, sendJson, sendParts } from '../http/list-reply.ts'
import { route } from '../http/route.ts'
import type { App, RouteParts } from '../http/route.ts'
import { CheckpointPath, ListHistory, PatchState, ReadHistory, ReadState, ReadStateAt,
  UpdateState } from '../schema/state.ts'
import { ThreadPath } from '../schema/thread.ts'

const one = { tag: 'State', params: ThreadPath, answer: 'ThreadState' } as const

/** Adds the routes of states and histories. */
export function stateRoutes(app: App, { threads }: RouteParts): void {
  app.get('/threads/:thread_id/state',
    route('read', 'getThreadState', { ...one, querystring: ReadState,
      summary: 'Get the state of a thread' }),
    async ({ params, query, caller }, reply) =>
      sendJson(reply,
        await threads.state(caller.tenant, params.thread_id, null, query, leftSignal(reply))))

  app.get('/threads/:thread_id/state/:checkpoint_id', route('read', 'getThreadStateAtCheckpoint', {
    ...one,
    params: CheckpointPath,
    querystring: ReadState,
    summary: 'Get the state of a thread at a checkpoint',
  }),
    async ({ params: { thread_id, checkpoint_id }, query, caller }, reply) =>
      sendJson(reply,
        await threads.state(caller.tenant, thread_id, { checkpoint_id }, query, leftSignal(reply))))

  app.post('/threads/:thread_id/state/checkpoint', route('read', 'postThreadStateAtCheckpoint', {
    ...one,
    body: ReadStateAt,
    summary: 'Get the state of a thread at a checkpoint, also of a subgraph',
  }),
    async ({ params, body, caller }, reply) =>
      sendJson(reply,
        await threads.state(caller.tenant, params.thread_id, body.checkpoint, body,
          leftSignal(reply))))

  app.post('/threads/:thread_id/state',
    route('change', 'updateThreadState', { ...one, body: UpdateState, answer: 'StateUpdate',
      summary: 'Update the state of a thread' }),
    async ({ params, body, caller }, reply) =>
      sendJson(reply, await threads.updateState(caller.tenant, params.thread_id, body)))

  app.patch('/threads/:thread_id/state',
    route('change', 'patchThreadState', { tag: 'State', params: ThreadPath, body: PatchState,
      summary: 'Change the metadata of the newest checkpoint of a thread' }),
    async ({ params, body, caller }, reply) => {
      await threads.patchState(caller.tenant, params.thread_id, body)
      return reply.code(204).send()
    })

  app.post('/threads/:thread_id/history',
    route('read', 'postThreadHistory', { ...one, body: ReadHistory, answer: 'ThreadState[]',
      summary: 'Get the history of a thread, newest first' }),
    async ({ params, body, caller }, reply) =>
      sendParts(reply, threads.history(caller.tenant, params.thread_id, body, leftSignal(reply))))

  app.get('/threads/:thread_id/history',
    route('read', 'getThreadHistory', { ...one, querystring: ListHistory, answer: 'ThreadState[]',
      summary: 'Get the history of a thread, newest first' }),
    async ({ params, query, caller }, reply) =>
      sendParts(reply, threads.history(caller.tenant, params.thread_id, query, leftSignal(reply))))
}
