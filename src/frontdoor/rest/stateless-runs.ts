/** The routes of runs without a thread: each has a hidden one, of the run's own id. */

import { nameOf } from '../operations/index.ts'
import { CreateStatelessRun, JoinStream, StatelessRunPath } from '../schema/run.ts'
import { eventStream, route } from './route.ts'
import type { App, RouteParts } from './route.ts'
import {
  answerWithResult, callerOf, everything, lastEventId, sendRun, streamRun, waiterOf,
} from './run-reply.ts'

const tag = 'Stateless runs'
const creation = { tag, body: CreateStatelessRun } as const

export function statelessRunRoutes(app: App, parts: RouteParts): void {
  const { runs } = parts

  app.post('/runs', route('change', { ...creation, answer: 'Run',
    summary: 'Create a stateless run in the background' }), async (request, reply) => {
    const row = await runs.createStateless(request.caller.tenant, request.body, callerOf(request))
    return sendRun(reply, row)
  })

  app.post('/runs/stream', route('change', { ...creation, answer: eventStream,
    summary: 'Create a stateless run and stream its events' }), async (request, reply) => {
    const row = await runs.createStateless(request.caller.tenant, request.body, callerOf(request))
    const cancelOnDisconnect = request.body.on_disconnect === 'cancel'
    const watched = { run: nameOf(row), made: true, reply, cancelOnDisconnect }
    return streamRun(parts, watched, everything)
  })

  app.post('/runs/wait', route('change', { ...creation, answer: 'RunResult',
    summary: 'Create a stateless run and wait for its result' }), async (request, reply) => {
    const row = await runs.createStateless(request.caller.tenant, request.body, waiterOf(request))
    const cancelOnDisconnect = request.body.on_disconnect === 'cancel'
    const watched = { run: nameOf(row), made: true, reply, cancelOnDisconnect }
    return answerWithResult(parts, watched)
  })

  app.get('/runs/:run_id/stream', route('read', { tag, params: StatelessRunPath,
    querystring: JoinStream, answer: eventStream,
    summary: 'Stream the events of a stateless run, from where a client left off' }),
  async (request, reply) => {
    const { params: { run_id }, query } = request
    const run = { threadId: run_id, runId: run_id }
    const cancelOnDisconnect = query.cancel_on_disconnect ?? false
    return streamRun(parts, { run, reply, cancelOnDisconnect },
      { after: lastEventId(request), modes: query.stream_mode ?? null })
  })
}
