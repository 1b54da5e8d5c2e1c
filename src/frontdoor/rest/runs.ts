/** The routes of runs on a thread. */

import { CreationHeaders } from '../../api/index.ts'
import { leftSignal, sendJson, sendRows, shareFor } from '../http/list-reply.ts'
import { runJson } from '../http/render.ts'
import { eventStream, route } from '../http/route.ts'
import type { App, RouteParts } from '../http/route.ts'
import { takeRows } from '../http/row-bytes.ts'
import { CancelRun, CreateRun, JoinRun, JoinStream, JoinStreamHeaders, ListRuns, ReadRunLogs,
  RunPath, StreamRun } from '../schema/run.ts'
import { ThreadPath } from '../schema/thread.ts'
import { answerWithResult, awaitedBy, followerOf, fromTheStart, fromWhereItLeft, holdStream, madeBy,
  runCallerOf, sendRun, streamRun, waiterOf } from './run-reply.ts'

const tag = 'Runs'
const creation = {
  tag,
  params: ThreadPath,
  headers: CreationHeaders,
  body: CreateRun,
  returns: ['content-location', 'x-heddle-warning'],
} as const
const one = { tag, params: RunPath } as const

/** Adds the routes of runs on a thread. */
export function runRoutes(app: App, parts: RouteParts): void {
  creationRoutes(app, parts)
  watchingRoutes(app, parts)
  recordRoutes(app, parts)
}

function creationRoutes(app: App, parts: RouteParts): void {
  const { runs } = parts

  app.post('/threads/:thread_id/runs',
    route('change', 'createRun', { ...creation, answer: 'Run',
      summary: 'Create a run in the background' }), async (request, reply) => {
    const { params, body, caller } = request
    const row = await runs.create(caller.tenant, params.thread_id, body,
      runCallerOf(request, reply))
    return sendRun(reply, row)
  })

  app.post('/threads/:thread_id/runs/stream',
    route('change', 'streamRun', { ...creation, querystring: StreamRun, answer: eventStream,
      returns: [...creation.returns, 'location'], summary: 'Create a run and stream its events' }),
    async (request, reply) => {
      const { params, body, caller } = request
      holdStream(parts, reply)
      const row = await runs.create(caller.tenant, params.thread_id, body,
        followerOf(request, reply))
      return streamRun(parts, madeBy(request, row, reply), fromTheStart(request))
    })

  app.post('/threads/:thread_id/runs/wait',
    route('change', 'waitRun', { ...creation, answer: 'RunResult',
      summary: 'Create a run and wait for its result' }), async (request, reply) => {
    const { params, body, caller } = request
    holdStream(parts, reply)
    const run = await runs.createAndWait(caller.tenant, params.thread_id, body,
      waiterOf(request, reply))
    return answerWithResult(parts, awaitedBy(request, run, reply))
  })
}

function watchingRoutes(app: App, parts: RouteParts): void {
  app.get('/threads/:thread_id/runs/:run_id/join',
    route('read', 'joinRun', { ...one, querystring: JoinRun, answer: 'RunResult',
      returns: ['content-location'], summary: 'Wait for the result of a run' }),
    async ({ params, query }, reply) => {
      const run = { threadId: params.thread_id, runId: params.run_id }
      const cancelOnDisconnect = query.cancel_on_disconnect ?? false
      return answerWithResult(parts, { run, reply, cancelOnDisconnect })
    })

  app.get('/threads/:thread_id/runs/:run_id/stream',
    route('read', 'joinRunStream', { ...one, querystring: JoinStream, headers: JoinStreamHeaders,
      answer: eventStream, returns: ['content-location', 'location'],
      summary: 'Stream the events of a run, from where a client left off' }),
    async (request, reply) => {
      const { params, query } = request
      const run = { threadId: params.thread_id, runId: params.run_id }
      const cancelOnDisconnect = query.cancel_on_disconnect ?? false
      return streamRun(parts, { run, reply, cancelOnDisconnect }, fromWhereItLeft(request))
    })
}

function recordRoutes(app: App, { runs }: RouteParts): void {
  app.get('/threads/:thread_id/runs',
    route('read', 'listRuns', { tag, params: ThreadPath, querystring: ListRuns,
      answer: 'FoundRun[]', summary: 'List the runs of a thread, newest first' }),
    async ({ params, query, caller }, reply) => {
      const rows = await runs.list(caller.tenant, params.thread_id, query, leftSignal(reply))
      takeRows(shareFor(reply), rows)
      return sendRows(reply, rows, (row) => runJson(row, query.select))
    })

  app.get('/threads/:thread_id/runs/:run_id',
    route('read', 'getRun', { ...one, answer: 'Run', summary: 'Get a run' }),
    async ({ params, caller }, reply) => {
      const row = await runs.get(caller.tenant, { threadId: params.thread_id,
        runId: params.run_id })
      return sendJson(reply, runJson(row))
    })

  app.get('/threads/:thread_id/runs/:run_id/logs',
    route('read', 'getRunLogs', { ...one, querystring: ReadRunLogs, answer: 'RunLogs',
      summary: 'Get the last lines that the code of a run wrote to its console' }),
    async ({ params, query, caller }, reply) =>
      sendJson(reply,
        await runs.logs(caller.tenant, { threadId: params.thread_id, runId: params.run_id },
          query)))

  app.delete('/threads/:thread_id/runs/:run_id',
    route('change', 'deleteRun', { ...one,
      summary: 'Delete a run; a run in progress is interrupted first' }),
    async ({ params, caller }, reply) => {
      await runs.delete(caller.tenant, { threadId: params.thread_id, runId: params.run_id })
      return reply.code(204).send()
    })

  app.post('/threads/:thread_id/runs/:run_id/cancel',
    route('change', 'cancelRun', { ...one, querystring: CancelRun, summary: 'Cancel a run',
      silent: { 202: 'It is cancelled.', 204: 'The same, if `wait` is set.' } }),
    async ({ params, query, caller }, reply) => {
      await runs.cancel(caller.tenant, { threadId: params.thread_id, runId: params.run_id }, query)
      return reply.code(query.wait ? 204 : 202).send()
    })
}
