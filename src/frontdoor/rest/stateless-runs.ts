/** The routes of stateless runs: each has a hidden thread with the same id as the run. */

import { eventStream, route } from '../http/route.ts'
import type { App, RouteParts } from '../http/route.ts'
import { CreateStatelessRun, CreationHeaders, JoinStream, JoinStreamHeaders, StatelessRunPath,
  StreamRun } from '../schema/run.ts'
import { answerWithResult, awaitedBy, fromTheStart, fromWhereItLeft, holdStream, madeBy,
  runCallerOf, sendRun, streamRun, waiterOf } from './run-reply.ts'

const tag = 'Stateless runs'
const creation = {
  tag,
  headers: CreationHeaders,
  body: CreateStatelessRun,
  returns: ['content-location'],
} as const

/** Adds the routes of stateless runs. */
export function statelessRunRoutes(app: App, parts: RouteParts): void {
  const { runs } = parts

  app.post('/runs',
    route('change', 'createStatelessRun', { ...creation, answer: 'Run',
      summary: 'Create a stateless run in the background' }), async (request, reply) => {
    const { body, caller } = request
    const row = await runs.createStateless(caller.tenant, body, runCallerOf(request))
    return sendRun(reply, row)
  })

  app.post('/runs/stream',
    route('change', 'streamStatelessRun', { ...creation, querystring: StreamRun,
      answer: eventStream, returns: ['content-location', 'location'],
      summary: 'Create a stateless run and stream its events' }), async (request, reply) => {
    const { body, caller } = request
    holdStream(parts, reply)
    const row = await runs.createStateless(caller.tenant, body, runCallerOf(request))
    return streamRun(parts, madeBy(request, row, reply), fromTheStart(request))
  })

  app.post('/runs/wait',
    route('change', 'waitStatelessRun', { ...creation, answer: 'RunResult',
      summary: 'Create a stateless run and wait for its result' }), async (request, reply) => {
    const { body, caller } = request
    holdStream(parts, reply)
    const run = await runs.createStatelessAndWait(caller.tenant, body, waiterOf(request))
    return answerWithResult(parts, awaitedBy(request, run, reply))
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
