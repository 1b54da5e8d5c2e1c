/** The backend in Cassandra: a node of the cluster, and the ports behind its ownership check. */

import { retryAtStartup, requireOpen, readMemberTls, joinCluster } from '../../../cluster/index.ts'
import type { Asked, Env, OwnershipCheck, MemberTrust, ClusterNode,
  Tracing } from '../../../cluster/index.ts'
import { assistantWire } from '../../assistants/index.ts'
import { cronWire } from '../../crons/index.ts'
import { HeddleError } from '../../errors.ts'
import { itemKindName, itemWire } from '../../items/index.ts'
import { limitService, limitUseWire, limitWires } from '../../limits/index.ts'
import { catalogKindName, catalogWire, deletionKindName, deletionWire, experimentKindName,
  experimentWire, ruleKindName, ruleWire } from '../../platform/index.ts'
import type { SpanStorePlace } from '../../platform/index.ts'
import { indexService, indexWire, scatteredIndex } from '../../search/index.ts'
import type { IndexAnswer, OwnIndex, RunTable, ScatteredIndex } from '../../search/index.ts'
import type { CassandraSettings, MemberSettings } from '../../settings/index.ts'
import { cassandraSpans, openCassandraStore, supportedTables } from '../../store/cassandra/index.ts'
import type { CassandraStore } from '../../store/cassandra/index.ts'
import { HeldRuns, threadWire } from '../../thread/index.ts'
import { meteredSessions, meteredShards } from '../metrics/metered-ports.ts'
import type { Metrics } from '../metrics/metrics.ts'
import { activityWire } from './actor-activity.ts'
import type { Backend } from './backend.ts'
import { drainWire } from '../drain.ts'
import { secretsWire } from '../secrets-admin.ts'
import { deploymentWires } from './deployment-wires.ts'
import { memberDetailsWire } from './member-details.ts'
import { connectionOptions } from './cassandra-connection.ts'
import { clockLookMs, clockWatch } from './clock-watch.ts'
import { ownWithHeld, searchedAfter } from './held-index.ts'
import { ownAddressTowards } from './own-address.ts'
import { shardHandover } from './shard-handover.ts'
import { ShardOwnershipAge } from './shard-ownership-age.ts'

/** Settings of one member on Cassandra, and how to end its process when it was fenced. */
export interface CassandraBackendOptions {
  readonly settings: CassandraSettings
  /** Undefined if none is set. */
  readonly region: string | undefined
  /** Directory for what can be rebuilt. */
  readonly directory: string
  readonly env: Env
  readonly metrics: Metrics
  readonly tracing?: Tracing
  /** Called when this member was fenced or cannot work any more. It must end at once. */
  endProcess(reason: string): void
}

/**
 * Opens the backend. Throws HeddleError with a message for a wrong setting, or if this member does
 * not belong there.
 */
export async function openCassandraBackend(options: CassandraBackendOptions): Promise<Backend> {
  const { settings, region, directory, env, metrics, tracing, endProcess } = options
  const { contactPoints, keyspace, member } = settings
  const store = await openCassandraStore({
    ...connectionOptions(settings),
    commit: settings.commit,
    logCacheBytes: settings.logCacheBytes,
    env,
    directory,
    onIndexLost: endProcess,
    ...region !== undefined && { region },
  })
  try {
    const lookAtTheClock = clockWatch(store, env.log)
    await retryAtStartup(env, lookAtTheClock)
    const node = await joinCluster({
      env,
      onFenced: endProcess,
      cluster: member.cluster,
      trust: await trustOf(member, store, env),
      host: member.host || await retryAtStartup(env, () => ownAddressTowards(contactPoints, env)),
      port: member.port,
      owns: member.roles.includes('member'),
      shards: store.shards,
      wires: memberWires,
      reviveError: HeddleError.revive,
      sessions: meteredSessions(store.sessions, metrics, env),
      shardOwners: meteredShards(store.shardOwners, metrics),
      heartbeats: store.heartbeats,
      ...tracing && { tracing },
    })
    return servedBackend({ store, node, env, lookAtTheClock,
      spans: cassandraSpans(connectionOptions(settings)),
      place: `keyspace ${keyspace} of Cassandra at ${contactPoints.join(', ')}` })
  } catch (error) {
    await store.close()
    throw error
  }
}

/** Names and codecs of the actors and services of members. */
export const memberWires: readonly Asked[] = [
  { name: 'thread', wire: threadWire },
  { name: 'assistant', wire: assistantWire },
  { name: 'cron', wire: cronWire },
  { name: catalogKindName, wire: catalogWire },
  { name: ruleKindName, wire: ruleWire },
  { name: deletionKindName, wire: deletionWire },
  { name: experimentKindName, wire: experimentWire },
  { name: itemKindName, wire: itemWire },
  indexWire,
  ...limitWires,
  activityWire,
  limitUseWire,
  memberDetailsWire,
  secretsWire,
  drainWire,
  ...deploymentWires,
]

/** The backend of a member that has joined. */
export function servedBackend(
  { store, node, env, lookAtTheClock, place, spans }: { readonly node: ClusterNode;
    readonly spans: SpanStorePlace; readonly store: CassandraStore; readonly env: Env;
    readonly place: string; lookAtTheClock(): Promise<void> },
): Backend {
  const { ownership, transport, self } = node
  const check = node.ownershipCheck ?? nobodysCheck
  const ownershipAge = new ShardOwnershipAge({ env, node, shards: store.shards })
  const heldRuns = new HeldRuns()
  const own = ownWithHeld(checkedIndex(store.index, check), heldRuns)
  const stopLooking = env.every(clockLookMs, () => void lookAtTheClock().catch(() => {}))
  const everybody = scatteredIndex({
    env,
    owners: ownership,
    own,
    ask: async (member, question) =>
      await node.askMember(member, indexWire.name, question) as IndexAnswer,
  })
  const { log, runs, threads, assistants, crons, items, limits } = store.serve({ check,
    threads: everybody.threads })
  return {
    tables: supportedTables,
    log,
    heldRuns,
    runs: askedRuns(runs, everybody),
    threads,
    assistants,
    crons,
    items,
    keys: store.keys,
    billing: store.billing,
    spans,
    limits,
    everybody,
    ownership,
    transport,
    place,
    due: store.index.due,
    dueCrons: store.index.dueCrons,
    ownershipCheck: node.ownershipCheck,
    logCache: store.logCache,
    name: `${self.id} at ${self.address}`,
    askMember: (...question) => node.askMember(...question),
    askDoors: (question, recentMs) => ownershipAge.askDoors(question, recentMs),
    begin: (actors) =>
      node.serve({
        activations: actors.activations,
        services: [indexService(own), limitService(actors.recentOf), ...actors.services],
        host: ownershipAge.watched(
          shardHandover({ env, actors, store, shards: store.shards,
            owns: (shard) => ownership.ownerOf(shard)?.member === self }),
        ),
      }),
    giveBack: () => node.giveBack(),
    check: async () => {
      if (await store.reachable()) return
      throw new HeddleError('unavailable', 'Cassandra is out of reach; this server waits for it.')
    },
    status: () => node.status(),
    close: async (deadline) => {
      stopLooking()
      await store.quiet()
      await node.close(deadline)
      await store.close()
    },
  }
}

async function trustOf({ secret, tls }: MemberSettings, store: CassandraStore,
  env: Env): Promise<MemberTrust> {
  if (tls !== null) {
    return { tls: readMemberTls(tls, env), ...secret !== '' && { secret } }
  }
  return { secret: secret === '' ? store.secret : secret }
}

/**
 * Runs of all members. A search counts the hidden threads of the tenant at all owners before it
 * reads the table, because an owner writes the stateless runs that it keeps back before it returns
 * that count. A member of an earlier version also writes the rows of runs that wait there.
 */
function askedRuns(runs: RunTable, { threads }: Pick<ScatteredIndex, 'threads'>): RunTable {
  return searchedAfter(runs,
    (tenant, cancelled) => threads.count({ tenant, hidden: true }, cancelled))
}

/** Ownership check of a server that owns and writes nothing. */
const nobodysCheck: OwnershipCheck = {
  state: 'fenced',
  closing: Promise.resolve(),
  confirm: () => Promise.reject(new HeddleError('not_owner')),
  mark: () => 0,
  confirmed: () => false,
}

/**
 * Passes each answer through the ownership check, as the index of a member that lost its shards may
 * be outdated.
 */
function checkedIndex(index: OwnIndex, check: OwnershipCheck): OwnIndex {
  return {
    answer: async (question) => {
      requireOpen(check)
      const [answer] = await Promise.all([index.answer(question), check.confirm()])
      return answer
    },
  }
}
