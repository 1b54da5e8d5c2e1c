/** The route of lines that deployments write, as lines of JSON or as server-sent events. */

import type { FastifyReply } from 'fastify'

import { readDeploymentLogs } from '../../api/index.ts'
import type { Deployment } from '../../deployment/index.ts'
import type { App } from '../http/route.ts'
import { holdStream } from '../rest/run-reply.ts'
import { SseStream } from '../rest/sse.ts'
import { buildLines, writtenLines } from './line-source.ts'
import type { LineSource } from './line-source.ts'
import { LineStream } from './line-stream.ts'
import { isGone, ownDeployment, serveControl } from './parts.ts'
import type { ControlParts } from './parts.ts'
import { ownRevision } from './revisions.ts'
import { Waker } from './waker.ts'

/** Between looks for lines that nobody was woken for. */
const lookMs = 5_000

/** The last thing that is said of a deployment that is followed. */
const removed = { error: 'not_found', message: 'The deployment was removed.' }

/** Adds the route of lines. */
export function logRoutes(app: App, parts: ControlParts): void {
  serveControl(app, readDeploymentLogs, async (request, reply) => {
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
    await streamLines(parts, reply, source, follow ? deployment : undefined)
    return reply
  })
}

/** Stream that takes lines to the client, as lines of JSON or as server-sent events. */
interface Sink {
  send(lines: readonly object[]): void
  ready(): Promise<void> | undefined
  /** Ends it because the deployment is gone. */
  remove(): void
  end(): void
  leave(): void
  readonly begun: boolean
}

async function streamLines(parts: ControlParts, reply: FastifyReply, source: LineSource,
  followed: Deployment | undefined): Promise<void> {
  const { ticker, env } = parts
  holdStream(parts, reply)
  const waker = new Waker(env)
  const state = { isOpen: true, isRemoved: false }
  const asEvents = reply.request.headers.accept?.includes('text/event-stream') ?? false
  const options = { stillValid: reply.request.caller.stillValid, closed: () => {
    state.isOpen = false
    ticker.remove(stream)
    waker.wake()
  } }
  const stream = asEvents
    ? new SseStream(reply, { headers: {}, made: false, ...options })
    : new LineStream(reply, options)
  const sink = stream instanceof SseStream ? eventSink(stream) : lineSink(stream)
  ticker.add(stream)
  const unwatch = followed === undefined ? () => {} : watch(parts, followed, ({ removing }) => {
    state.isRemoved ||= removing
    waker.wake()
  })
  try {
    // It may have gone between the look-up and the watch.
    if (followed !== undefined && await isGone(parts, followed)) state.isRemoved = true
    while (state.isOpen) {
      // Whether it is over is read first: the last lines come before that.
      const { isRemoved } = state
      const isOver = followed === undefined || !isRemoved && await source.isOver()
      sink.send(await source.next())
      await sink.ready()
      if (isRemoved) return sink.remove()
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

/** Calls back when the deployment has lines on any member, and when it changes or goes. */
function watch({ deployments: { serving, watchUpdates } }: ControlParts, { id, name }: Deployment,
  changed: (now: Pick<Deployment, 'removing'>) => void): () => void {
  const unwatch = serving.watch(name, changed)
  const unwatchUpdates = watchUpdates(id, () => changed({ removing: false }))
  return () => {
    unwatch()
    unwatchUpdates()
  }
}

function lineSink(stream: LineStream): Sink {
  return {
    send: (lines) => stream.send(lines),
    ready: () => stream.ready(),
    remove: () => {
      stream.send([removed])
      stream.end()
    },
    end: () => stream.end(),
    leave: () => stream.leave(),
    get begun() {
      return stream.begun
    },
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
    remove: () => {
      stream.events([{ name: 'error', json: JSON.stringify(removed), id: String(++count) }])
      stream.ended('over')
    },
    end: () => stream.ended('over'),
    leave: () => stream.leave(),
    get begun() {
      return stream.begun
    },
  }
}
