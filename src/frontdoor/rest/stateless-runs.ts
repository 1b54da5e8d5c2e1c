/** The routes of stateless runs: each has a hidden thread with the same id as the run. */

import { createRuns, createStatelessRun, joinStatelessRunStream, streamStatelessRun,
  waitStatelessRun } from '../../api/index.ts'
import { sendRows } from '../http/list-reply.ts'
import { runJson } from '../http/render.ts'
import type { App, RouteParts } from '../http/route.ts'
import { serve } from '../http/serve.ts'
import { createBatch } from '../operations/index.ts'
import { answerWithResult, awaitedBy, followerOf, followRun, fromTheStart, fromWhereItLeft,
  holdStream, madeBy, runCallerOf, sendRun, waiterOf } from './run-reply.ts'

/** Adds the routes of stateless runs, and of batches of runs. */
export function statelessRunRoutes(app: App, parts: RouteParts): void {
  const { runs } = parts
  serve(app, createStatelessRun, async (request, reply) => {
    const { body, caller } = request
    const row = await runs.createStateless(caller, body, runCallerOf(request, reply))
    return sendRun(reply, row)
  })
  serve(app, streamStatelessRun, async (request, reply) => {
    const { body, caller } = request
    holdStream(parts, reply)
    const row = await runs.createStateless(caller, body, followerOf(request, reply))
    return followRun(parts, madeBy(request, row, reply), fromTheStart(request))
  })
  serve(app, waitStatelessRun, async (request, reply) => {
    const { body, caller } = request
    holdStream(parts, reply)
    const run = await runs.createStatelessAndWait(caller, body, waiterOf(request, reply))
    return answerWithResult(parts, awaitedBy(request, run, reply))
  })
  serve(app, createRuns, async (request, reply) => {
    const { body, caller } = request
    const rows = await createBatch(runs, caller, body, runCallerOf(request))
    return sendRows(reply, rows, (row) => runJson(row))
  })
  serve(app, joinStatelessRunStream, async (request, reply) => {
    const { params: { run_id }, query } = request
    const run = { threadId: run_id, runId: run_id }
    const cancelOnDisconnect = query.cancel_on_disconnect ?? false
    return followRun(parts, { run, reply, cancelOnDisconnect }, fromWhereItLeft(request))
  })
}
