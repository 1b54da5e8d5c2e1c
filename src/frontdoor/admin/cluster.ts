/** The routes of the cluster: its members and shards now, and what happens to them. */

import type { FastifyReply, FastifyRequest } from 'fastify'

import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import { timeText } from '../../json/index.ts'
import { sendJson } from '../http/list-reply.ts'
import { eventStream, route } from '../http/route.ts'
import type { App, RouteParts } from '../http/route.ts'
import { isFromHere } from '../rest/from-here.ts'
import { holdStream } from '../rest/run-reply.ts'
import type { ServerDetails } from '../rest/server.ts'
import { SseStream } from '../rest/sse.ts'
import type { ClusterEvent } from './cluster-view.ts'
import { ClusterWatch } from './cluster-watch.ts'
import type { ClusterSource, WatchedCluster, WatchedMember } from './cluster-watch.ts'

/** What the routes of the cluster need. */
export interface ClusterRouteParts
  extends Pick<RouteParts, 'ticker' | 'quotas'>, Pick<ServerDetails, 'region'> {
  readonly env: Env
  readonly cluster: ClusterSource
}

const tag = 'Server'
const events = 'Server-sent events: first `cluster` with what `GET /cluster` answers, then ' +
  '`joined`, `gone` and `draining` with a member, `moved` with {from, to, shards, at}, and ' +
  '`load` at most once a second.'

/** Adds the routes of the cluster. */
export function clusterRoutes(app: App, parts: ClusterRouteParts): void {
  const { cluster, env } = parts
  const watch = new ClusterWatch(env, cluster)

  app.get('/cluster',
    route('admin', 'getCluster', { tag, answer: 'Cluster',
      summary: 'Get the members of the cluster, and which shards they own' }),
    async (request, reply) => {
      requireNear(request)
      return sendJson(reply, JSON.stringify(clusterJson(await watch.now(), parts)))
    })

  app.get('/cluster/stream',
    route('admin', 'streamCluster', { tag, answer: eventStream, events,
      summary: 'Stream what happens to members and shards' }), async (request, reply) => {
    requireNear(request)
    await streamCluster(parts, watch, reply)
  })
}

/** Without keys everybody is an admin: then only this machine may ask. Throws `not_found`. */
function requireNear(request: FastifyRequest): void {
  if (request.caller.identity.kind !== 'local' || isFromHere(request)) return
  throw new HeddleError('not_found', 'Without --auth keys, this server shows its cluster to ' +
    'requests of its own machine only.')
}

async function streamCluster(parts: ClusterRouteParts, watch: ClusterWatch,
  reply: FastifyReply): Promise<void> {
  const { ticker, env } = parts
  holdStream(parts, reply)
  let number = 0
  let unfollow = () => {}
  const stream = new SseStream(reply, {
    headers: {},
    made: false,
    stillValid: reply.request.caller.stillValid,
    closed: () => {
      ticker.remove(stream)
      unfollow()
    },
  })
  const send = (name: string, value: object) =>
    stream.events([{ name, json: JSON.stringify(value), id: String(++number) }])
  ticker.add(stream)
  // What happens before the first event is sent behind it.
  const early: ClusterEvent[] = []
  let changed = (happened: readonly ClusterEvent[]) => void early.push(...happened)
  unfollow = watch.follow({
    changed: (happened) => changed(happened),
    loaded: (members) => send('load', { members: members.flatMap(loadJson) }),
  })
  send('cluster', clusterJson(await watch.now(), parts))
  changed = (happened) => {
    const at = timeText(env.nowMs())
    for (const event of happened) send(event.name, eventJson(event, at))
  }
  changed(early)
  if (reply.raw.destroyed) unfollow()
}

function clusterJson({ members, owners }: WatchedCluster,
  { cluster: { embedded }, region }: ClusterRouteParts): object {
  const indexes = new Map(members.map(({ id }, index) => [id, index]))
  return {
    members: members.map(memberJson),
    shards: { count: owners.length,
      owners: owners.map((owner) => owner === null ? null : indexes.get(owner) ?? null) },
    region: region ?? null,
    embedded,
  }
}

function memberJson({ id, address, state, self, shards, details }: WatchedMember): object {
  const { version = null, startedAtMs, actors = null, runs = null, load = null } = details ?? {}
  return { id, address, version, state, self, shards, actors, runs, load,
    started_at: startedAtMs === undefined ? null : timeText(startedAtMs) }
}

function eventJson(event: ClusterEvent, at: string): object {
  if (event.name !== 'moved') return { ...event.member, at }
  const { name: _, ...move } = event
  return { ...move, at }
}

function loadJson({ id, details }: WatchedMember): readonly object[] {
  if (details === undefined) return []
  const { version, startedAtMs, actors, runs, load } = details
  return [{ id, version, started_at: timeText(startedAtMs), actors, runs, load }]
}
