/** The route of events: what was done with a deployment, by whom and when, as it happens. */

import type { FastifyReply, FastifyRequest } from 'fastify'

import { streamDeploymentEvents } from '../../api/index.ts'
import type { Deployment, DeploymentEvent } from '../../deployment/index.ts'
import { timeText } from '../../json/index.ts'
import type { FeedEvent } from '../../thread/index.ts'
import type { App } from '../http/route.ts'
import { holdStream } from '../rest/run-reply.ts'
import { SseStream } from '../rest/sse.ts'
import { isGone, ownDeployment, serveControl } from './parts.ts'
import type { ControlParts } from './parts.ts'
import { Waker } from './waker.ts'

/** Events that are read at a time. */
const pageMax = 100
/** Between looks for what nobody was woken for. */
const lookMs = 5_000

/** Adds the route of events. */
export function eventRoutes(app: App, parts: ControlParts): void {
  serveControl(app, streamDeploymentEvents, async (request, reply) => {
    const deployment = await ownDeployment(parts, request)
    await streamEvents(parts, deployment, reply, { follow: request.query.follow ?? true,
      after: lastSeen(request) })
    return reply
  })
}

async function streamEvents(parts: ControlParts, deployment: Deployment, reply: FastifyReply,
  { follow, after }: { readonly follow: boolean; readonly after: number }): Promise<void> {
  const { ticker, env, deployments: { records, serving, watchUpdates } } = parts
  const { id, name } = deployment
  holdStream(parts, reply)
  const waker = new Waker(env)
  const state = { isOpen: true, isRemoved: false }
  const stream = new SseStream(reply, {
    headers: {},
    made: false,
    stillValid: reply.request.caller.stillValid,
    closed: () => {
      state.isOpen = false
      ticker.remove(stream)
      waker.wake()
    },
  })
  ticker.add(stream)
  const unwatch = serving.watch(name, ({ removing }) => {
    state.isRemoved ||= removing
    waker.wake()
  })
  const unwatchUpdates = follow ? watchUpdates(id, () => waker.wake()) : () => {}
  try {
    // It may have gone between the look-up and the watch.
    if (follow && await isGone(parts, deployment)) state.isRemoved = true
    for (let seen = after; state.isOpen;) {
      const page = await records.events(id, seen, pageMax)
      stream.events(page.map(feedEvent))
      stream.begin()
      await stream.ready()
      seen = page.at(-1)?.seq ?? seen
      if (page.length === pageMax) continue
      if (follow && state.isRemoved) stream.events([removedEvent(seen)])
      if (!follow || state.isRemoved) return stream.ended('over')
      await waker.pause(lookMs)
    }
  } catch (error) {
    ticker.remove(stream)
    if (!stream.begun) throw error
    stream.leave()
  } finally {
    unwatch()
    unwatchUpdates()
  }
}

/** Says that no other event follows because the deployment is gone. */
function removedEvent(seen: number): FeedEvent {
  return { name: 'error', id: String(seen),
    json: JSON.stringify({ error: 'not_found', message: 'The deployment was removed.' }) }
}

function feedEvent({ seq, atMs, by, kind, data }: DeploymentEvent): FeedEvent {
  return { name: kind, id: String(seq),
    json: JSON.stringify({ ...data, seq, at: timeText(atMs), by, kind }) }
}

function lastSeen({ headers }: Pick<FastifyRequest, 'headers'>): number {
  const id = headers['last-event-id']
  return typeof id === 'string' && /^\d{1,15}$/.test(id) ? Number(id) : 0
}
