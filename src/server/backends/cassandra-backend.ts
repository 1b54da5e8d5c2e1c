/** The ground in Cassandra: a seat in the cluster, and the ports behind its gate. */

import { firstAnswer, mustBeOpen, readMemberTls, takeSeat } from '../../../cluster/index.ts'
import type { Env, Gate, MemberTrust, Seat, Tracing } from '../../../cluster/index.ts'
import { assistantWire } from '../../assistants/index.ts'
import { HeddleError } from '../../errors.ts'
import { limitService, limitWires } from '../../limits/index.ts'
import { indexService, indexWire, scatteredIndex } from '../../search/index.ts'
import type { IndexAnswer, OwnIndex } from '../../search/index.ts'
import type { CassandraSettings, MemberSettings } from '../../settings/index.ts'
import { openCassandraStore } from '../../store/cassandra/index.ts'
import type { CassandraStore } from '../../store/cassandra/index.ts'
import { threadWire } from '../../thread/index.ts'
import { meteredSessions, meteredShards } from '../metrics/metered-ports.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Ground } from './backend.ts'
import { connectionOptions } from './cassandra-connection.ts'
import { clockLookMs, clockWatch } from './clock-watch.ts'
import { ownAddressTowards } from './own-address.ts'
import { shardTenancy } from './shard-handover.ts'
import { Tenure } from './shard-ownership-age.ts'

export interface CassandraGroundOptions {
  readonly settings: CassandraSettings
  /** Undefined if none is set. */
  readonly region: string | undefined
  /** For what can be rebuilt. */
  readonly directory: string
  readonly env: Env
  readonly metrics: Metrics
  readonly tracing?: Tracing
  /** This member was fenced, or cannot work any more: it must end at once. */
  mustEnd(reason: string): void
}

/** Throws HeddleError with a sentence: for a wrong setting, or if it does not belong there. */
export async function openCassandraGround(options: CassandraGroundOptions): Promise<Ground> {
  const { settings, region, directory, env, metrics, tracing, mustEnd } = options
  const { contactPoints, keyspace, member } = settings
  const store = await openCassandraStore({
    ...connectionOptions(settings), commit: settings.commit, env, directory, onIndexLost: mustEnd,
    ...region !== undefined && { region },
  })
  try {
    const lookAtTheClock = clockWatch(store, env.log)
    await firstAnswer(env, lookAtTheClock)
    const seat = await takeSeat({
      env, onFenced: mustEnd, cluster: member.cluster, trust: await trustOf(member, store, env),
      host: member.host || await firstAnswer(env, () => ownAddressTowards(contactPoints, env)),
      port: member.port,
      owns: member.roles.includes('member'), shards: store.shards,
      wires: [{ name: 'thread', wire: threadWire }, { name: 'assistant', wire: assistantWire },
        indexWire, ...limitWires],
      sessions: meteredSessions(store.sessions, metrics, env),
      shardOwners: meteredShards(store.shardOwners, metrics), beats: store.beats,
      ...tracing && { tracing },
    })
    return servedGround({ store, seat, env, lookAtTheClock,
      place: `keyspace ${keyspace} of Cassandra at ${contactPoints.join(', ')}` })
  } catch (error) {
    await store.close()
    throw error
  }
}

function servedGround({ store, seat, env, lookAtTheClock, place }: { readonly seat: Seat
  readonly store: CassandraStore; readonly env: Env; readonly place: string
  lookAtTheClock(): Promise<void> }): Ground {
  const { ownership, transport, self } = seat
  const gate = seat.gate ?? nobodysGate
  const { log, runs, threads, assistants, limits } = store.serve({ gate })
  const tenure = new Tenure({ env, seat, shards: store.shards })
  const own = gatedIndex(store.index, gate)
  const stopLooking = env.every(clockLookMs, () => void lookAtTheClock().catch(() => {}))
  const everybody = scatteredIndex({
    env, owners: ownership, own,
    ask: async (member, question) =>
      await seat.askMember(member, indexWire.name, question) as IndexAnswer,
  })
  return {
    log, runs, threads, assistants, keys: store.keys, billing: store.billing, limits, everybody,
    ownership, transport, place, due: store.index.due,
    gate: seat.gate,
    name: `${self.id} at ${self.address}`,
    askDoors: (question, recentMs) => tenure.askDoors(question, recentMs),
    begin: (tenants) => seat.serve({
      activations: tenants.activations,
      services: [indexService(own), limitService(tenants.toldOf)],
      host: tenure.watched(shardTenancy({ env, tenants, store, shards: store.shards,
        owns: (shard) => ownership.ownerOf(shard)?.member === self })),
    }),
    giveBack: () => seat.giveBack(),
    check: async () => {
      if (await store.reachable()) return
      throw new HeddleError('unavailable', 'Cassandra is out of reach; this server waits for it.')
    },
    status: () => seat.status(),
    close: async (deadline) => {
      stopLooking()
      await store.quiet()
      await seat.close(deadline)
      await store.close()
    },
  }
}

async function trustOf({ secret, tls }: MemberSettings, store: CassandraStore, env: Env):
Promise<MemberTrust> {
  if (tls !== null) {
    return { tls: await readMemberTls(tls, env), ...secret !== '' && { secret } }
  }
  return { secret: secret === '' ? store.secret : secret }
}

const refuse = () => Promise.reject(new HeddleError('not_owner'))

/** The gate of a server that owns nothing, and so writes nothing. */
const nobodysGate: Gate = {
  state: 'fenced',
  closing: Promise.resolve(),
  pass: refuse,
  approach: () => ({ pass: refuse, leave: () => {} }),
  mark: () => 0,
  passed: () => false,
}

/** The index of a member that lost its shards may be outdated, so each answer passes the gate. */
function gatedIndex(index: OwnIndex, gate: Gate): OwnIndex {
  return {
    answer: async (question) => {
      mustBeOpen(gate)
      const [answer] = await Promise.all([index.answer(question), gate.pass()])
      return answer
    },
  }
}
