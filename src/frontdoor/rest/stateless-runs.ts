/** The routes of stateless runs: each has a hidden thread with the same id as the run. */

import { CreationHeaders } from '../../api/index.ts'
import { leftSignal, sendJson, sendRows, shareFor } from '../http/list-reply.ts'
import { foundRunJson, runJson } from '../http/render.ts'
import { eventStream, route } from '../http/route.ts'
import type { App, RouteParts } from '../http/route.ts'
import { takeRows } from '../http/row-bytes.ts'
import { createRuns } from '../operations/index.ts'
import { CancelRuns, CancelRunsQuery, CreateRuns, CreateStatelessRun, JoinStream, JoinStreamHeaders,
  SearchRuns, StatelessRunPath, StreamRun } from '../schema/run.ts'
import { answerWithResult, awaitedBy, followerOf, fromTheStart, fromWhereItLeft, holdStream, madeBy,
  runCallerOf, sendRun, streamRun, waiterOf } from './run-reply.ts'

const tag = 'Stateless runs'
const creation = {
  tag,
  headers: CreationHeaders,
  body: CreateStatelessRun,
  returns: ['content-location', 'x-heddle-warning'],
} as const

/** Adds the routes of stateless runs. */
export function statelessRunRoutes(app: App, parts: RouteParts): void {
  const { runs } = parts

  app.post('/runs',
    route('change', 'createStatelessRun', { ...creation, answer: 'Run',
      summary: 'Create a stateless run in the background' }), async (request, reply) => {
    const { body, caller } = request
    const row = await runs.createStateless(caller.tenant, body, runCallerOf(request, reply))
    return sendRun(reply, row)
  })

  app.post('/runs/stream',
    route('change', 'streamStatelessRun', { ...creation, querystring: StreamRun,
      answer: eventStream, returns: [...creation.returns, 'location'],
      summary: 'Create a stateless run and stream its events' }), async (request, reply) => {
    const { body, caller } = request
    holdStream(parts, reply)
    const row = await runs.createStateless(caller.tenant, body, followerOf(request, reply))
    return streamRun(parts, madeBy(request, row, reply), fromTheStart(request))
  })

  app.post('/runs/wait',
    route('change', 'waitStatelessRun', { ...creation, answer: 'RunResult',
      summary: 'Create a stateless run and wait for its result' }), async (request, reply) => {
    const { body, caller } = request
    holdStream(parts, reply)
    const run = await runs.createStatelessAndWait(caller.tenant, body, waiterOf(request, reply))
    return answerWithResult(parts, awaitedBy(request, run, reply))
  })

  app.post('/runs/batch',
    route('change', 'createRuns', { tag, headers: CreationHeaders, body: CreateRuns,
      answer: 'Run[]', summary: 'Create several runs in the background, on threads or without' }),
    async (request, reply) => {
      const { body, caller } = request
      const rows = await createRuns(runs, caller.tenant, body, runCallerOf(request))
      return sendRows(reply, rows, (row) => runJson(row))
    })

  app.post('/runs/search',
    route('read', 'searchRuns', { tag: 'Runs', body: SearchRuns, answer: 'RunOfTenant[]',
      returns: ['x-pagination-cursor'], summary: 'Search the runs of all threads, newest first' }),
    async ({ body, caller }, reply) => {
      const { rows, cursor } = await runs.search(caller.tenant, body, leftSignal(reply))
      takeRows(shareFor(reply), rows)
      if (cursor !== undefined) void reply.header('x-pagination-cursor', cursor)
      return sendRows(reply, rows, (row) => foundRunJson(row, body.select))
    })

  app.post('/runs/cancel',
    route('change', 'cancelRuns', { tag: 'Runs', querystring: CancelRunsQuery, body: CancelRuns,
      answer: 'CancelledRuns', silent: { 204: 'They are cancelled.' },
      summary: 'Cancel some runs of a thread, all runs with a status, or those of many threads' }),
    async ({ query, body, caller }, reply) => {
      const count = await runs.cancelMany(caller.tenant, body, query)
      if (count === undefined) return reply.code(204).send()
      return sendJson(reply, JSON.stringify({ count, dry_run: true }))
    })

  app.get('/runs/:run_id/stream',
    route('read', 'joinStatelessRunStream', { tag, params: StatelessRunPath,
      querystring: JoinStream, headers: JoinStreamHeaders, answer: eventStream,
      returns: ['content-location', 'location'],
      summary: 'Stream the events of a stateless run, from where a client left off' }),
    async (request, reply) => {
      const { params: { run_id }, query } = request
      const run = { threadId: run_id, runId: run_id }
      const cancelOnDisconnect = query.cancel_on_disconnect ?? false
      return streamRun(parts, { run, reply, cancelOnDisconnect }, fromWhereItLeft(request))
    })
}
