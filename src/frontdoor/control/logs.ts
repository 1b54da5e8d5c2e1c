/** The route of lines that deployments write, as lines of JSON or as server-sent events. */

import type { FastifyReply } from 'fastify'

import type { App } from '../http/route.ts'
import { eventStream } from '../http/route.ts'
import { holdStream } from '../rest/run-reply.ts'
import { SseStream } from '../rest/sse.ts'
import { DeploymentPath, ReadLines } from '../schema/control.ts'
import { buildLines, writtenLines } from './line-source.ts'
import type { LineSource } from './line-source.ts'
import { LineStream } from './line-stream.ts'
import { controlRoot, controlRoute, ownDeployment } from './parts.ts'
import type { ControlParts } from './parts.ts'
import { ownRevision } from './revisions.ts'
import { Waker } from './waker.ts'

/** Between looks for lines that nobody was woken for. */
const lookMs = 5_000

const events = 'Lines of JSON: {at, level, member, revision, text, thread_id, run_id}. With ' +
  '`Accept: text/event-stream` each one is the data of an event `line`.'

/** Adds the route of lines. */
export function logRoutes(app: App, parts: ControlParts): void {
  app.get(`${controlRoot}/:deployment/logs`, controlRoute('readDeploymentLogs', {
    summary: 'Read the last lines that a deployment wrote on ' +
      'all members',
    params: DeploymentPath,
    querystring: ReadLines,
    answer: eventStream,
    events,
  }), async (request, reply) => {
    const { query } = request
    const { build, follow = false } = query
    const deployment = await ownDeployment(parts, request)
    if (build !== undefined) {
      await ownRevision(parts, { caller: request.caller,
        params: { deployment: deployment.name, revision: build } })
    }
    const source = build === undefined
      ? writtenLines(parts, deployment, query)
      : buildLines(parts, deployment, build)
    await streamLines(parts, reply, source, follow ? deployment.id : undefined)
  })
}

/** How lines get to the client. */
interface Sink {
  send(lines: readonly object[]): void
  ready(): Promise<void> | undefined
  end(): void
  leave(): void
  readonly begun: boolean
}

async function streamLines(parts: ControlParts, reply: FastifyReply, source: LineSource,
  followed: string | undefined): Promise<void> {
  const { ticker, env, deployments: { watchUpdates } } = parts
  holdStream(parts, reply)
  const waker = new Waker(env)
  const state = { isOpen: true }
  const asEvents = reply.request.headers.accept?.includes('text/event-stream') ?? false
  const options = { stillValid: reply.request.caller.stillValid, closed: () => {
    state.isOpen = false
    ticker.remove(stream)
    waker.wake()
  } }
  const stream = asEvents
    ? new SseStream(reply, { headers: {}, made: false, ...options })
    : new LineStream(reply, options)
  const sink = stream instanceof SseStream ? eventSink(stream) : stream
  ticker.add(stream)
  const unwatch = followed === undefined ? () => {} : watchUpdates(followed, () => waker.wake())
  try {
    while (state.isOpen) {
      // Whether it is over is read first: the last lines come before that.
      const isOver = followed === undefined || await source.isOver()
      sink.send(await source.next())
      await sink.ready()
      if (isOver) return sink.end()
      await waker.pause(lookMs)
    }
  } catch (error) {
    ticker.remove(stream)
    if (!sink.begun) throw error
    sink.leave()
  } finally {
    unwatch()
  }
}

function eventSink(stream: SseStream): Sink {
  let count = 0
  return {
    send: (lines) => {
      stream.events(
        lines.map((line) => ({ name: 'line', json: JSON.stringify(line), id: String(++count) })),
      )
      stream.begin()
    },
    ready: () => stream.ready(),
    end: () => stream.ended('over'),
    leave: () => stream.leave(),
    get begun() {
      return stream.begun
    },
  }
}
