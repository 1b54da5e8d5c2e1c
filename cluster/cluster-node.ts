/** A member's seat in the cluster: its session, its place among the others, its links to them. */

import { HeddleError } from '../src/errors.ts'
import type { Activations } from './actors/activation-table.ts'
import { plainValues } from './actors/actor-wire.ts'
import type { Asked } from './actors/actor-wire.ts'
import { firstAnswer } from './flow/retry-at-startup.ts'
import { atLatest } from './flow/with-timeout.ts'
import { Roster } from './membership/failure-detector.ts'
import type { BeatPort } from './membership/heartbeat-port.ts'
import type { Member } from './membership/member.ts'
import type { Gate } from './membership/ownership-check.ts'
import type { SessionPort } from './membership/session-port.ts'
import { openSession } from './membership/session.ts'
import type { Session } from './membership/session.ts'
import { createInbound, memberAsker } from './routing/router.ts'
import { serviceKey } from './routing/service.ts'
import type { Service } from './routing/service.ts'
import type { Env } from './runtime/env.ts'
import type { Tracing } from './runtime/tracing.ts'
import { ShardKeeper } from './shards/shard-balancer.ts'
import type { ShardNews } from './shards/shard-balancer.ts'
import type { ShardHost } from './shards/shard-host.ts'
import type { ShardOwner, ShardPort } from './shards/shard-port.ts'
import { fanOut } from './transport/follow-fan.ts'
import type { GrpcServer, GrpcTransport, LinkOptions } from './transport/grpc/index.ts'
import { protocolVersion } from './transport/member-trust.ts'
import type { MemberTrust } from './transport/member-trust.ts'
import type { Transport } from './transport/transport.ts'

export interface SeatOptions {
  readonly env: Env
  /** The name that all members of a cluster share. */
  readonly cluster: string
  readonly trust: MemberTrust
  /** Where others reach this process, and where it listens for them. */
  readonly host: string
  /** 0 for any that is free. */
  readonly port: number
  /** Whether it may own shards; a member that may not only forwards requests to those that do. */
  readonly owns: boolean
  /** Of all actors and services whose commands cross. */
  readonly wires: readonly Asked[]
  readonly sessions: SessionPort
  readonly shardOwners: ShardPort
  readonly beats: BeatPort
  readonly shards: number
  /** Undefined if nothing is traced. */
  readonly tracing?: Tracing
  /** Called once, with a sentence, when another member ended this one. */
  onFenced(reason: string): void
}

export interface SeatParts {
  readonly activations: Activations
  /** What else other members may ask it. */
  readonly services: readonly Service[]
  readonly host: ShardHost
}

/** How the cluster looks to a member. */
export interface ClusterStatus {
  readonly member: Member
  /** Those that may own shards. */
  readonly view: readonly Member[]
  /** Those that were ever owned. */
  readonly shards: readonly ShardOwner[]
}

export interface Seat {
  readonly self: Member
  /** Undefined if it may own nothing. */
  readonly gate: Gate | undefined
  readonly ownership: ShardKeeper
  readonly transport: Transport
  /** Asks a service of a member; also of this one, once it serves. */
  askMember(member: Member, service: string, question: unknown): Promise<unknown>
  /** From now on it hears others and takes shards. Resolves when all free ones are taken. */
  serve(parts: SeatParts): Promise<void>
  status(): ClusterStatus
  /** Gives every shard back to the members that stay, if there are any. */
  giveBack(): Promise<void>
  /** When nothing is under way any more. */
  close(deadline: AbortSignal): Promise<void>
}

/** How long a leaving member waits until the others know. */
const farewellMs = 500

const [rosterService, shardService] = ['roster', 'shards'] as const
const wire = { values: plainValues }

interface RosterQuestion {
  /** The member that may not answer; without one, the peer only reads the beats. */
  readonly see?: Member
}

/** A member that can be reached and can reach others, but does not belong to them yet. */
interface Newcomer {
  readonly self: Member
  readonly server: GrpcServer
  /** Undefined if it may own nothing. */
  readonly session: Session | undefined
  readonly transport: GrpcTransport
  /** Whether a member lives; `strange` is called with the reason if one refuses the other. */
  probe(strange: (member: Member, why: string) => void): (member: Member) => Promise<boolean>
}

/** Throws HeddleError with a sentence if it cannot listen, or does not belong to the others. */
export async function takeSeat(options: SeatOptions): Promise<Seat> {
  const { env, cluster, trust, owns, wires } = options
  const { grpcProbe, grpcTransport, openGrpcServer } = await import('./transport/grpc/index.ts')
  const id = env.uuid()
  const link: LinkOptions = { env, trust, dialect: { cluster, version: protocolVersion } }
  const kinds = [...wires, ...[rosterService, shardService].map((name) => ({ name, wire }))]
  const server = await openGrpcServer({ ...options, ...link, id, kinds })
  try {
    const self = { id, address: server.address }
    const session = owns ? await openSession({ ...options, self }) : undefined
    const transport = fanOut(grpcTransport({ ...link, kinds }), kinds)
    const probe: Newcomer['probe'] = (strange) => grpcProbe(link, strange)
    return seated(options, { self, server, session, transport, probe })
  } catch (error) {
    await server.close(AbortSignal.abort())
    throw error
  }
}

function seated(options: SeatOptions, newcomer: Newcomer): Seat {
  const { env, owns, tracing } = options
  const { self, server, session, transport, probe } = newcomer
  const tell = (member: Member, service: string, question: unknown) =>
    transport.deliver(member, serviceKey(service), question)
  let serving = false
  const lives = probe((member, why) => {
    // A member that refuses this one, or that this one refuses, is of another cluster.
    if (!serving) throw new HeddleError('forbidden', why)
    env.log.error('A member cannot be asked whether it lives.', { member, why })
  })
  const roster = new Roster({
    ...options, self, member: owns, lives,
    askPeer: async (peer, see) =>
      await tell(peer, rosterService, { see } satisfies RosterQuestion) === true,
    mayJudge: async () => await session?.lives() === true,
    heardMs: transport.heardMs,
    over: transport.forget,
  })
  const tellAll = (service: string, news: unknown) => Promise.all(roster.others.map((other) =>
    tell(other, service, news).catch(() => {})))
  const ownership = new ShardKeeper({
    ...options, self, roster,
    announce: (news) => void tellAll(shardService, news),
  })
  /** Completed with the services of `serve`. */
  const services: Service[] = [
    { name: rosterService, wire, answer: async (question) => {
      const { see } = question as RosterQuestion
      if (see !== undefined) return await roster.reaches(see)
      await roster.look()
    } },
    { name: shardService, wire, answer: async (news) => ownership.hear(news as ShardNews[]) },
  ]
  return {
    self, gate: session?.gate, ownership, transport,
    askMember: memberAsker({ transport, self, services }),
    serve: async ({ activations, services: others, host }) => {
      services.push(...others)
      server.serve(createInbound({ ownership, activations, services, ...tracing && { tracing } }))
      // Before others know of this member and give it its share.
      await firstAnswer(env, async () => {
        await ownership.look()
        await roster.start()
      })
      serving = true
      server.belongs()
      // Once more when they know it: changes before that were not announced to it.
      void tellAll(rosterService, {}).then(() => ownership.lookAgain())
      await ownership.start(host)
    },
    status: () => ({ member: self, view: roster.view.members,
      shards: ownership.known.filter((owner) => owner !== undefined) }),
    giveBack: async () => {
      if (!owns || roster.others.length === 0) return
      await roster.leave()
      void tellAll(rosterService, {})
      await ownership.leave()
    },
    close: async (deadline) => {
      ownership.close()
      await roster.close()
      await session?.leave()
      // Members that know that it left do not take it for dead.
      await atLatest(env, farewellMs, tellAll(rosterService, {}))
      transport.close()
      await server.close(deadline)
    },
  }
}
