/** A member's node in the cluster: its session, its place among the others, its links to them. */

import { ClusterError } from './errors.ts'
import type { ReviveError } from './errors.ts'
import type { ActivationTable } from './actors/activation-table.ts'
import { plainValues } from './actors/actor-wire.ts'
import type { Asked } from './actors/actor-wire.ts'
import { retryAtStartup } from './flow/retry-at-startup.ts'
import { atLatest } from './flow/with-timeout.ts'
import { FailureDetector } from './membership/failure-detector.ts'
import type { HeartbeatPort } from './membership/heartbeat-port.ts'
import type { Member } from './member.ts'
import type { OwnershipCheck } from './membership/ownership-check.ts'
import type { SessionPort } from './membership/session-port.ts'
import { openSession } from './membership/session.ts'
import type { Session } from './membership/session.ts'
import { createInbound, memberAsker } from './routing/router.ts'
import { serviceKey } from './routing/service.ts'
import type { Service } from './routing/service.ts'
import type { Env } from './runtime/env.ts'
import type { Tracing } from './runtime/tracing.ts'
import { ShardBalancer } from './shards/shard-balancer.ts'
import type { ShardChange } from './shards/shard-change.ts'
import type { ShardHost } from './shards/shard-host.ts'
import type { ShardClaim, ShardPort } from './shards/shard-port.ts'
import { fanOut } from './transport/follow-fan.ts'
import type { GrpcServer, GrpcTransport, LinkOptions } from './transport/grpc/index.ts'
import { protocolVersion } from './transport/member-trust.ts'
import type { MemberTrust } from './transport/member-trust.ts'
import type { Transport } from './transport/transport.ts'

/** Identity, addresses and ports of a process that joins a cluster. */
export interface ClusterNodeOptions {
  readonly env: Env
  /** The name that all members of a cluster share. */
  readonly cluster: string
  readonly trust: MemberTrust
  /** Host name at which others reach this process, and at which it listens for them. */
  readonly host: string
  /** 0 for any that is free. */
  readonly port: number
  /** True if it may own shards; any other member only forwards requests to those that do. */
  readonly owns: boolean
  /** Names and codecs of all actors and services whose commands cross to other members. */
  readonly wires: readonly Asked[]
  readonly sessions: SessionPort
  readonly shardOwners: ShardPort
  readonly heartbeats: HeartbeatPort
  readonly shards: number
  /** Knows the errors of the actors, when another member threw one. */
  readonly reviveError: ReviveError
  /** Undefined if nothing is traced. */
  readonly tracing?: Tracing
  /** Called once, with a message, when another member ended this one. */
  onFenced(reason: string): void
}

/** The same for a process that listens already. */
export type JoinedOptions = Omit<ClusterNodeOptions,
  'cluster' | 'trust' | 'host' | 'port' | 'wires' | 'reviveError' | 'onFenced'>

/** Actors, services and shards that a member hosts once it has joined. */
export interface ClusterNodeParts {
  readonly activations: ActivationTable
  /** Services beside the actors that other members may ask. */
  readonly services: readonly Service[]
  readonly host: ShardHost
}

/** State of the cluster as one member sees it. */
export interface ClusterStatus {
  readonly member: Member
  /** Members that may own shards. */
  readonly view: readonly Member[]
  /** Members that give their shards back before they go. */
  readonly leaving: readonly Member[]
  /** Claims of the shards that were ever owned. */
  readonly shards: readonly ShardClaim[]
}

/** A member that has joined: first it only answers probes, and after `serve` it owns shards. */
export interface ClusterNode {
  readonly self: Member
  /** Undefined if it may own nothing. */
  readonly ownershipCheck: OwnershipCheck | undefined
  readonly ownership: ShardBalancer
  readonly transport: Transport
  /** Asks a service of a member; also of this one, once it serves. */
  askMember(member: Member, service: string, question: unknown,
    cancelled?: AbortSignal): Promise<unknown>
  /** From now on it receives others and takes shards. Resolves when all free ones are taken. */
  serve(parts: ClusterNodeParts): Promise<void>
  /** The cluster as this member sees it now. */
  status(): ClusterStatus
  /** Gives every shard back to the members that stay, if there are any. */
  giveBack(): Promise<void>
  /** Closes the node; to be called when nothing is under way any more. */
  close(deadline: AbortSignal): Promise<void>
}

/** Time for which a leaving member waits until the others know. */
const farewellMs = 500

const [detectorService, shardService] = ['roster', 'shards'] as const
const wire = { values: plainValues }

interface FailureDetectorQuestion {
  /** The member that may not answer; without one, the peer only reads the heartbeats. */
  readonly see?: Member
}

/** A member that can be reached and can reach others, but does not belong to them yet. */
export interface Joining {
  readonly self: Member
  readonly server: Pick<GrpcServer, 'serve' | 'belongs' | 'close'>
  /** Undefined if it may own nothing. */
  readonly session: Session | undefined
  readonly transport: GrpcTransport
  /** True if a member lives; `incompatible` is called with the reason if one refuses the other. */
  probe(incompatible: (member: Member, why: string) => void): (member: Member) => Promise<boolean>
}

/** The kinds of a member with those of the cluster itself, which cross to other members. */
export function withClusterKinds(wires: readonly Asked[]): readonly Asked[] {
  return [...wires, ...[detectorService, shardService].map((name) => ({ name, wire }))]
}

/** Throws CodedError with a message if it cannot listen, or does not belong to the others. */
export async function joinCluster(options: ClusterNodeOptions): Promise<ClusterNode> {
  const { env, cluster, trust, owns, wires, reviveError } = options
  const { grpcProbe, grpcTransport, openGrpcServer } = await import('./transport/grpc/index.ts')
  const id = env.uuid()
  const identity = { cluster, version: protocolVersion }
  const link: LinkOptions = { env, trust, identity, reviveError }
  const kinds = withClusterKinds(wires)
  const server = await openGrpcServer({ ...options, ...link, id, kinds })
  try {
    const self = { id, address: server.address }
    const session = owns ? await openSession({ ...options, self }) : undefined
    const transport = fanOut(grpcTransport({ ...link, kinds }), kinds)
    const probe: Joining['probe'] = (incompatible) => grpcProbe(link, incompatible)
    return clusterNodeOver(options, { self, server, session, transport, probe })
  } catch (error) {
    await server.close(AbortSignal.abort())
    throw error
  }
}

/** The node of a member that can be reached. */
export function clusterNodeOver(options: JoinedOptions, joining: Joining): ClusterNode {
  const { env, owns, tracing } = options
  const { self, server, session, transport } = joining
  let serving = false
  const { detector, ownership, notifyAll, services: own } = membershipOf(options, joining,
    () => serving)
  /** Completed with the services of `serve`. */
  const services = [...own]
  return {
    self,
    ownershipCheck: session?.check,
    ownership,
    transport,
    askMember: memberAsker({ transport, self, services }),
    serve: async ({ activations, services: others, host }) => {
      services.push(...others)
      server.serve(createInbound({ ownership, activations, services, ...tracing && { tracing } }))
      // Before others know of this member and give it its share.
      await retryAtStartup(env, async () => {
        await ownership.look()
        await detector.start()
      })
      serving = true
      server.belongs()
      // Once more when they know it: changes before that were not announced to it.
      void notifyAll(detectorService, {}).then(() => ownership.lookAgain())
      await ownership.start(host)
    },
    status: () => statusOf(self, owns, { detector, ownership }),
    giveBack: async () => {
      if (!owns || detector.others.length === 0) return
      await detector.leave()
      void notifyAll(detectorService, {})
      await ownership.leave()
    },
    close: async (deadline) => {
      ownership.close()
      await detector.close()
      await session?.leave()
      // Members that know that it left do not take it for dead.
      await atLatest(env, farewellMs, notifyAll(detectorService, {}))
      transport.close()
      await server.close(deadline)
    },
  }
}

/** A member's place among the others: who lives, who owns what, and their services for others. */
interface Membership {
  readonly detector: FailureDetector
  readonly ownership: ShardBalancer
  /** Asks a service of all others; failures are ignored. */
  readonly notifyAll: (service: string, question: unknown) => Promise<unknown>
  readonly services: readonly Service[]
}

function membershipOf(options: JoinedOptions, joining: Joining,
  isServing: () => boolean): Membership {
  const { env, owns } = options
  const { self, session, transport, probe } = joining
  const notify = (member: Member, service: string, question: unknown) =>
    transport.deliver(member, serviceKey(service), question)
  const lives = probe((member, why) => {
    // A member that refuses this one, or that this one refuses, is of another cluster.
    if (!isServing()) throw new ClusterError('forbidden', why)
    env.log.error('A member cannot be asked whether it lives.', { member, why })
  })
  const detector = new FailureDetector({
    ...options,
    self,
    member: owns,
    lives,
    askPeer: async (peer, see) =>
      await notify(peer, detectorService, { see } satisfies FailureDetectorQuestion) === true,
    canFence: async () => await session?.lives() === true,
    lastSeenMs: transport.lastSeenMs,
    ended: transport.forget,
  })
  const notifyAll = (service: string, question: unknown) =>
    Promise.all(detector.others.map((other) => notify(other, service, question).catch(() => {})))
  const ownership = new ShardBalancer({
    ...options,
    self,
    detector,
    announce: (changes) => void notifyAll(shardService, changes),
  })
  const detecting: Service<FailureDetectorQuestion> = { name: detectorService, wire,
    answer: async ({ see }) => {
      if (see !== undefined) return await detector.reaches(see)
      await detector.look()
    } }
  const balancing: Service<readonly ShardChange[], void> = { name: shardService, wire,
    answer: async (changes) => ownership.handle(changes) }
  return { detector, ownership, notifyAll, services: [detecting, balancing] }
}

/** The cluster as a member sees it. Members that are not in view any more are leaving. */
function statusOf(self: Member, owns: boolean,
  { detector, ownership }: Pick<Membership, 'detector' | 'ownership'>): ClusterStatus {
  const view = detector.view.members
  const staying = new Set(view.map(({ id }) => id))
  return { member: self, view,
    leaving: [...owns ? [self] : [], ...detector.others].filter(({ id }) => !staying.has(id)),
    shards: ownership.known.filter((owner) => owner !== undefined) }
}
