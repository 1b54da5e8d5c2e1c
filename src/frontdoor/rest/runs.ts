/** The routes of runs on a thread. */

import { cancelRun, createRun, deleteRun, getRun, getRunEffects, getRunLogs, joinRun, joinRunStream,
  listRuns, streamRun, waitRun } from '../../api/index.ts'
import { leftSignal, sendJson, sendRows, shareFor } from '../http/list-reply.ts'
import { runJson } from '../http/render.ts'
import type { App, RouteParts } from '../http/route.ts'
import { takeRows } from '../http/row-bytes.ts'
import { serve } from '../http/serve.ts'
import type { RunName } from '../operations/index.ts'
import { answerWithResult, awaitedBy, followerOf, followRun, fromTheStart, fromWhereItLeft,
  holdStream, madeBy, runCallerOf, sendRun, waiterOf } from './run-reply.ts'

/** Adds the routes of runs on a thread. */
export function runRoutes(app: App, parts: RouteParts): void {
  creationRoutes(app, parts)
  watchingRoutes(app, parts)
  recordRoutes(app, parts)
}

function creationRoutes(app: App, parts: RouteParts): void {
  const { runs } = parts
  serve(app, createRun, async (request, reply) => {
    const { params, body, caller } = request
    const row = await runs.create(caller, params.thread_id, body, runCallerOf(request, reply))
    return sendRun(reply, row)
  })
  serve(app, streamRun, async (request, reply) => {
    const { params, body, caller } = request
    holdStream(parts, reply)
    const row = await runs.create(caller, params.thread_id, body, followerOf(request, reply))
    return followRun(parts, madeBy(request, row, reply), fromTheStart(request))
  })
  serve(app, waitRun, async (request, reply) => {
    const { params, body, caller } = request
    holdStream(parts, reply)
    const run = await runs.createAndWait(caller, params.thread_id, body, waiterOf(request, reply))
    return answerWithResult(parts, awaitedBy(request, run, reply))
  })
}

function watchingRoutes(app: App, parts: RouteParts): void {
  serve(app, joinRun, async ({ params, query }, reply) => {
    const cancelOnDisconnect = query.cancel_on_disconnect ?? false
    return answerWithResult(parts, { run: nameIn(params), reply, cancelOnDisconnect })
  })
  serve(app, joinRunStream, async (request, reply) => {
    const { params, query } = request
    const cancelOnDisconnect = query.cancel_on_disconnect ?? false
    return followRun(parts, { run: nameIn(params), reply, cancelOnDisconnect },
      fromWhereItLeft(request))
  })
}

function recordRoutes(app: App, { runs }: RouteParts): void {
  serve(app, listRuns, async ({ params, query, caller }, reply) => {
    const rows = await runs.list(caller, params.thread_id, query, leftSignal(reply))
    takeRows(shareFor(reply), rows)
    return sendRows(reply, rows, (row) => runJson(row, query.select))
  })
  serve(app, getRun,
    async ({ params, caller }, reply) =>
      sendJson(reply, runJson(await runs.get(caller, nameIn(params)))))
  serve(app, getRunLogs,
    async ({ params, query, caller }, reply) =>
      sendJson(reply, await runs.logs(caller, nameIn(params), query)))
  serve(app, getRunEffects,
    async ({ params, caller }, reply) =>
      sendJson(reply, await runs.effects(caller, nameIn(params), leftSignal(reply))))
  serve(app, deleteRun, async ({ params, caller }) => runs.delete(caller, nameIn(params)))
  serve(app, cancelRun, async ({ params, query, caller }, reply) => {
    await runs.cancel(caller, nameIn(params), query)
    return reply.code(query.wait ? 204 : 202).send()
  })
}

function nameIn(
  { thread_id: threadId, run_id: runId }: { readonly thread_id: string; readonly run_id: string },
): RunName {
  return { threadId, runId }
}
