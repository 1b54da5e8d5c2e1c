/** The routes of the cluster: its members and shards now, and what happens to them. */

import type { FastifyReply, FastifyRequest } from 'fastify'

import type { Env } from '../../../cluster/index.ts'
import { getCluster, streamCluster } from '../../api/index.ts'
import type { Cluster } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'
import { timeText } from '../../json/index.ts'
import type { App, RouteParts } from '../http/route.ts'
import { serve } from '../http/serve.ts'
import { isFromHere } from '../rest/from-here.ts'
import { holdStream } from '../rest/run-reply.ts'
import type { ServerDetails } from '../rest/server.ts'
import { SseStream } from '../rest/sse.ts'
import type { ClusterEvent } from './cluster-view.ts'
import { ClusterWatch } from './cluster-watch.ts'
import type { ClusterSource, WatchedCluster, WatchedMember } from './cluster-watch.ts'

/** Parts that the routes of the cluster need, with the source of its view. */
export interface ClusterRouteParts
  extends Pick<RouteParts, 'ticker' | 'quotas'>, Pick<ServerDetails, 'region'> {
  readonly env: Env
  readonly cluster: ClusterSource
}

/** Adds the routes of the cluster. */
export function clusterRoutes(app: App, parts: ClusterRouteParts): void {
  const { cluster, env } = parts
  const watch = new ClusterWatch(env, cluster)

  serve(app, getCluster, async (request) => {
    requireNear(request)
    return clusterJson(await watch.now(), parts)
  })
  serve(app, streamCluster, async (request, reply) => {
    requireNear(request)
    return await followCluster(parts, watch, reply)
  })
}

/** Without keys everybody is an admin: then only this machine may ask. Throws `not_found`. */
function requireNear(request: FastifyRequest): void {
  if (request.caller.identity.kind !== 'local' || isFromHere(request)) return
  throw new HeddleError('not_found', 'Without --auth keys, this server shows its cluster to ' +
    'requests of its own machine only.')
}

async function followCluster(parts: ClusterRouteParts, watch: ClusterWatch,
  reply: FastifyReply): Promise<FastifyReply> {
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
  return reply
}

function clusterJson({ members, owners }: WatchedCluster,
  { cluster: { embedded }, region }: ClusterRouteParts): Cluster {
  const indexes = new Map(members.map(({ id }, index) => [id, index]))
  return {
    members: members.map(memberJson),
    shards: { count: owners.length,
      owners: owners.map((owner) => owner === null ? null : indexes.get(owner) ?? null) },
    region: region ?? null,
    embedded,
  }
}

function memberJson(
  { id, address, state, self, shards, details }: WatchedMember,
): Cluster['members'][number] {
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
