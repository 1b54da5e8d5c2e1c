/** The routes of a thread's state and history. */

import { getThreadHistory, getThreadState, getThreadStateAtCheckpoint, patchThreadState,
  postThreadHistory, postThreadStateAtCheckpoint, updateThreadState } from '../../api/index.ts'
import { leftSignal, sendJson, sendParts } from '../http/list-reply.ts'
import type { App, RouteParts } from '../http/route.ts'
import { serve } from '../http/serve.ts'

/** Adds the routes of states and histories. */
export function stateRoutes(app: App, { threads }: RouteParts): void {
  serve(app, getThreadState,
    async ({ params, query, caller }, reply) =>
      sendJson(reply,
        await threads.state(caller, params.thread_id, null, query, leftSignal(reply))))
  serve(app, getThreadStateAtCheckpoint,
    async ({ params: { thread_id, checkpoint_id }, query, caller }, reply) =>
      sendJson(reply,
        await threads.state(caller, thread_id, { checkpoint_id }, query, leftSignal(reply))))
  serve(app, postThreadStateAtCheckpoint,
    async ({ params, body, caller }, reply) =>
      sendJson(reply,
        await threads.state(caller, params.thread_id, body.checkpoint, body, leftSignal(reply))))
  serve(app, updateThreadState,
    async ({ params, body, caller }, reply) =>
      sendJson(reply, await threads.updateState(caller, params.thread_id, body)))
  serve(app, patchThreadState,
    async ({ params, body, caller }) => threads.patchState(caller, params.thread_id, body))
  serve(app, postThreadHistory,
    async ({ params, body, caller }, reply) =>
      sendParts(reply, threads.history(caller, params.thread_id, body, leftSignal(reply))))
  serve(app, getThreadHistory,
    async ({ params, query, caller }, reply) =>
      sendParts(reply, threads.history(caller, params.thread_id, query, leftSignal(reply))))
}
