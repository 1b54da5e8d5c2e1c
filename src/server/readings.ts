/** The metrics of each part of a server, read when they are asked for. */

import type { ActivationTable, ActivationStats, ClusterStatus,
  OwnershipCheck } from '../../cluster/index.ts'
import type { KeyStats } from '../access/index.ts'
import type { Exchange, FrontDoor } from '../frontdoor/index.ts'
import type { HostStats } from '../graph/index.ts'
import { quotaNames, quotaWords } from '../limits/index.ts'
import type { LimitClients, QuotaStats, ReadQuota } from '../limits/index.ts'
import { modelQuotaNames, removalReasons } from '../platform/index.ts'
import type { ModelQuotaStats, RemovedSpans } from '../platform/index.ts'
import type { Backend } from './backends/backend.ts'
import type { Metrics, Reading } from './metrics/metrics.ts'

/** Adds the version of this server. */
export function readServer(metrics: Metrics, version: string): void {
  metrics.gauge({ name: 'info', labels: ['version'], help: 'Always 1: which version this is.' },
    () => [{ value: 1, labels: { version } }])
}

/** Adds the metrics of requests. Call the result with each finished request. */
export function countRequests(metrics: Metrics): (exchange: Exchange) => void {
  const requests = metrics.count({
    name: 'http_requests_total',
    labels: ['route', 'method', 'status'],
    help: 'Requests that have ended, by the pattern of their route; `gone` where the client left ' +
      'before there was a status.',
  })
  const took = metrics.duration({
    name: 'http_request_duration_seconds',
    labels: ['route', 'method'],
    help: 'From the first line of a request to the last byte of its answer.',
  })
  return ({ route, method, status, ms }) => {
    requests({ route, method, status })
    took(ms, { route, method })
  }
}

/** Adds the spans that the store removes by itself. Call the result with each removal. */
export function countRemovedSpans(metrics: Metrics): (removed: RemovedSpans) => void {
  const removed = metrics.count({
    name: 'spans_removed_total',
    labels: ['reason'],
    help: 'Spans that nobody asked to remove, by why they went: they lived long enough (age), ' +
      'traces.db was too large (disk), or their tenant had too much of it (tenant).',
  })
  for (const reason of removalReasons) removed({ reason }, 0)
  return ({ reason, spans }) => removed({ reason }, spans)
}

/** Adds what is open at the front door. */
export function readDoor(metrics: Metrics, door: Pick<FrontDoor, 'stats'>): void {
  metrics.gauge({ name: 'http_requests_under_way', help: 'Requests in progress.' },
    () => [{ value: door.stats().requests }])
  metrics.counter({ name: 'connections_refused_total',
    help: 'Connections that were refused, as their address had too many.' },
    () => [{ value: door.stats().refusedConnections }])
  metrics.gauge({ name: 'stream_readers', labels: ['wire'],
    help: 'Clients that get events of a run as they come: over REST (sse), or typed (rpc).' },
    () => {
      const { sse, rpc } = door.stats().replies
      return [{ value: sse, labels: { wire: 'sse' } }, { value: rpc, labels: { wire: 'rpc' } }]
    })
  metrics.gauge({ name: 'streams_open', help: 'Runs whose events are sent to clients here.' },
    () => [{ value: door.stats().replies.runsFollowed }])
  metrics.gauge({ name: 'waits_open', help: 'Clients that wait for the result of a run.' },
    () => [{ value: door.stats().replies.wait }])
}

/** Adds the actors of this member, by kind. */
export function readActors(metrics: Metrics, activations: ActivationTable): void {
  const each = (take: (stats: Readonly<ActivationStats>) => number) => () =>
    [...activations.stats()].map(([kind, stats]): Reading => ({ value: take(stats),
      labels: { kind } })
    )
  const labels = ['kind']
  metrics.gauge({ name: 'actors', labels, help: 'Actors that are alive in this member.' },
    each(({ alive }) => alive))
  metrics.counter({ name: 'actors_begun_total', labels, help: 'Activations of actors that began.' },
    each(({ begun }) => begun))
  metrics.counter({ name: 'actors_failed_total', labels,
    help: 'Activations of actors that failed.' }, each(({ failed }) => failed))
  metrics.gauge({ name: 'mailbox_commands', labels, help: 'Commands that wait in mailboxes.' },
    each(({ waiting }) => waiting))
  metrics.gauge({ name: 'mailbox_fullest', labels,
    help: 'Commands that wait in the fullest mailbox; at 1024 the next one is refused.' },
    each(({ fullest }) => fullest))
}

/** Adds members, shards, and the state of the ownership check (without one for a single member). */
export function readOwnership(metrics: Metrics,
  { status, ownershipCheck: check }: Pick<Backend, 'status' | 'ownershipCheck'>): void {
  metrics.gauge({ name: 'members', help: 'Members that may own shards, as this one sees it.' },
    () => [{ value: status().view.length }])
  metrics.gauge({ name: 'shards', labels: ['owner'],
    help: 'Shards by their owner, as this member knows it: itself, another one, or nobody.' },
    () => shardsByOwner(status()))
  metrics.gauge({ name: 'epoch_newest', help: 'The newest epoch of the shards of this member.' },
    () => [{ value: newestEpoch(status()) }])
  if (check === undefined) return
  const states: readonly OwnershipCheck['state'][] = ['open', 'closed', 'fenced']
  metrics.gauge({ name: 'gate_state', labels: ['state'],
    help: '1 for the state of the ownership check: closed while the store is out of reach.' },
    () => states.map((state) => ({ value: check.state === state ? 1 : 0, labels: { state } })))
}

/** Adds the runs that are kept off the disk. */
export function readHeldRuns(metrics: Metrics, { heldRuns }: Pick<Backend, 'heldRuns'>): void {
  metrics.gauge({ name: 'runs_kept_back',
    help: 'Stateless runs that are only in memory, while their callers wait.' },
    () => [{ value: heldRuns.size }])
}

/** Adds the rows of the log that are in memory, for a server on Cassandra. */
export function readLogCache(metrics: Metrics, { logCache }: Pick<Backend, 'logCache'>): void {
  if (logCache === undefined) return
  metrics.gauge({ name: 'log_cache_bytes', help: 'Memory of rows of the log of threads in use.' },
    () => [{ value: logCache.stats.bytes }])
  metrics.counter({ name: 'log_cache_reads_total', labels: ['fate'],
    help: 'Reads of the log that memory answered (hit), and that went to Cassandra (miss).' },
    () => {
      const { hits, misses } = logCache.stats
      return [{ value: hits, labels: { fate: 'hit' } }, { value: misses, labels: { fate: 'miss' } }]
    })
}

/** Adds the memory of reads. */
export function readReads(metrics: Metrics, reads: Pick<ReadQuota, 'stats'>): void {
  metrics.gauge({ name: 'read_bytes', help: 'Memory that reads take, by what they read or send.' },
    () => [{ value: reads.stats.bytes }])
  metrics.gauge({ name: 'reads_waiting', help: 'Reads that wait for memory.' },
    () => [{ value: reads.stats.waiting }])
  metrics.counter({ name: 'reads_refused_total',
    help: 'Reads that were refused with 503, since there was no memory for them for too long.' },
    () => [{ value: reads.stats.refused }])
}

const fates = ['admitted', 'near', 'refused', 'alone', 'failed'] as const

/** Adds what limits decided at this front door. */
export function readLimits(metrics: Metrics,
  clients: Pick<LimitClients, 'size' | 'tallies'>): void {
  metrics.counter({ name: 'limited_requests_total', labels: ['row', 'fate'],
    help: 'Requests that were charged to a limit: let through (admitted), of these with less ' +
      'than a fifth left (near) or without the counter (alone); over it (refused), or not let ' +
      'through since the counter was out of reach (failed).' },
    () =>
      [...clients.tallies].flatMap(([row, tally]) =>
        fates.map((fate) => ({ value: tally[fate], labels: { row, fate } }))
      ))
  metrics.gauge({ name: 'limits_watched', help: 'Limits of callers that this front door keeps.' },
    () => [{ value: clients.size }])
}

const lookFates = ['looks', 'failures', 'turnedAway'] as const

/** Adds the lookups of API keys. Used only if keys are required. */
export function readKeys(metrics: Metrics, stats: () => KeyStats | undefined): void {
  metrics.counter({ name: 'key_looks_total', labels: ['fate'],
    help: 'API keys that were looked for in the store (looks), of these in vain because it was ' +
      'out of reach (failures), and strangers turned away in a flood (turnedAway).' },
    () => lookFates.map((fate) => ({ value: stats()?.[fate] ?? 0, labels: { fate } })))
  metrics.gauge({ name: 'keys_remembered', labels: ['kind'],
    help: 'API keys that this front door remembers: known ones, and ids of no key.' },
    () =>
      (['known', 'unknown'] as const).map((kind) => ({ value: stats()?.[kind] ?? 0,
        labels: { kind } })
      ))
}

/** Adds use and refusals of quotas, those of models included where there is a platform. */
export function readQuotas(metrics: Metrics, stats: () => QuotaStats,
  models?: () => ModelQuotaStats): void {
  const each = (part: 'highest' | 'refused'): Reading[] => [
    ...quotaNames.map((name) => ({ value: stats()[part][name],
      labels: { quota: quotaWords[name] } })
    ),
    ...models === undefined
      ? []
      : modelQuotaNames.map((name) => ({ value: models()[part][name], labels: { quota: name } })),
  ]
  metrics.gauge({ name: 'quota_highest_use_ratio', labels: ['quota'],
    help:
      'The largest part of a quota that a tenant uses, of the tenants seen by this front door.' },
    () => each('highest'))
  metrics.counter({ name: 'quota_refusals_total', labels: ['quota'],
    help: 'Requests that were refused because a quota of their tenant was used up.' },
    () => each('refused'))
}

function shardsByOwner({ member, shards }: ClusterStatus): Reading[] {
  const own = shards.filter(({ session }) => session === member.id).length
  const nobodys = shards.filter(({ session }) => session === null).length
  return [
    { value: own, labels: { owner: 'self' } },
    { value: shards.length - own - nobodys, labels: { owner: 'other' } },
    { value: nobodys, labels: { owner: 'nobody' } },
  ]
}

function newestEpoch({ member, shards }: ClusterStatus): number {
  return shards.filter(({ session }) => session === member.id)
    .reduce((newest, { epoch }) => Math.max(newest, epoch), 0)
}

/** Adds the graph workers and their executions, by state. */
export function readWorkers(metrics: Metrics, stats: () => HostStats): void {
  metrics.gauge({ name: 'workers', labels: ['state'], help: 'Graph workers, by what they do.' },
    () => {
      const { starting, ready, busy } = stats()
      return [{ value: starting, labels: { state: 'starting' } }, { value: ready - busy,
        labels: { state: 'idle' } }, { value: busy, labels: { state: 'busy' } }]
    })
  metrics.gauge({ name: 'executions', labels: ['state'],
    help: 'Runs and edits that a worker has (running), or that wait for one (waiting).' }, () => {
    const { underWay, waiting } = stats()
    return [{ value: underWay, labels: { state: 'running' } }, { value: waiting,
      labels: { state: 'waiting' } }]
  })
  metrics.counter({ name: 'workers_lost_total',
    help: 'Graph workers that died, or were ended because they were stuck.' },
    () => [{ value: stats().lost }])
}
