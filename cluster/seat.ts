/** A member's seat in the cluster: its session, its place among others, and the ways to them. */

import { HeddleError } from '../src/errors.ts'
import type { Activations } from './activations.ts'
import type { ActorKind } from './actor.ts'
import { plainValues } from './actor-wire.ts'
import type { BeatPort } from './beat-port.ts'
import type { Env } from './env.ts'
import { firstAnswer } from './first-answer.ts'
import { fanOut } from './follow-fan.ts'
import type { Gate } from './gate.ts'
import type { LinkOptions } from './grpc-link.ts'
import type { Member } from './member.ts'
import { protocolVersion } from './member-trust.ts'
import type { MemberTrust } from './member-trust.ts'
import { Roster } from './roster.ts'
import { createInbound, memberAsker } from './router.ts'
import type { Service } from './service.ts'
import { openSession } from './session.ts'
import type { SessionPort } from './session-port.ts'
import type { ShardHost } from './shard-host.ts'
import { ShardKeeper } from './shard-keeper.ts'
import type { ShardNews } from './shard-keeper.ts'
import type { ShardOwner, ShardPort } from './shard-port.ts'
import type { Tracing } from './tracing.ts'
import type { Transport } from './transport.ts'
import { atLatest } from './within.ts'

export interface SeatOptions {
  readonly env: Env
  /** The name that all members of a cluster share. */
  readonly cluster: string
  readonly trust: MemberTrust
  /** Where others reach this process, and where it listens for them. */
  readonly host: string
  /** 0 for any that is free. */
  readonly port: number
  /** Whether it may own shards; one that may not only brings questions to those that do. */
  readonly owns: boolean
  /** Of all actors and services whose commands cross. */
  readonly wires: readonly Pick<ActorKind, 'name' | 'wire'>[]
  readonly sessions: SessionPort
  readonly shardOwners: ShardPort
  readonly beats: BeatPort
  readonly shards: number
  /** Undefined where nobody watches. */
  readonly tracing?: Tracing
  /** Called once, with a sentence, when another member ended this one. */
  onFenced(reason: string): void
}

export interface SeatParts {
  readonly activations: Activations
  /** What else it answers other members. */
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
  /** Undefined where it owns nothing. */
  readonly gate: Gate | undefined
  readonly ownership: ShardKeeper
  readonly transport: Transport
  /** Asks a member as such, this one too once it serves. */
  askMember(member: Member, service: string, question: unknown): Promise<unknown>
  /** From now on it hears others and takes shards. Resolves when those are taken that are free. */
  serve(parts: SeatParts): Promise<void>
  status(): ClusterStatus
  /** Gives every shard back to those that stay, if anybody does. */
  giveBack(): Promise<void>
  /** When nothing is under way any more. */
  close(deadline: AbortSignal): Promise<void>
}

/** How long a member that goes waits until others know. */
const farewellMs = 500

const [rosterService, shardService] = ['roster', 'shards'] as const

interface RosterQuestion {
  /** Does it answer? Without one: look who is there. */
  readonly see?: Member
}

/** Throws HeddleError with a sentence where it cannot listen, or does not belong to the others. */
export async function takeSeat(options: SeatOptions): Promise<Seat> {
  const { env, cluster, trust, owns, sessions } = options
  const { grpcProbe, grpcTransport, openGrpcServer } = await import('./grpc.ts')
  const id = env.uuid()
  const dialect = { cluster, version: protocolVersion }
  const link: LinkOptions = { env, trust, dialect }
  const ownWires = [rosterService, shardService].map((name) =>
    ({ name, wire: { values: plainValues } }))
  const kinds = [...options.wires, ...ownWires]
  const server = await openGrpcServer({ ...options, ...link, id, kinds })
  const self = { id, address: server.address }
  try {
    const session = owns ? await openSession({ ...options, self }) : undefined
    const heardMs = new Map<string, number>()
    const heard = (member: Member) => void heardMs.set(member.id, env.monotonicMs())
    const grpc = grpcTransport({ ...link, kinds, heard })
    const transport = fanOut(grpc, kinds)
    let serving = false
    const lives = grpcProbe(link, (member, why) => {
      // Whoever does not let this member in, or would not be let in, is of another cluster.
      if (!serving) throw new HeddleError('forbidden', why)
      env.log.error('A member cannot be asked whether it lives.', { member, why })
    })
    const roster = new Roster({
      env, self, member: owns, beats: options.beats, sessions, lives,
      askPeer: async (peer, see) =>
        await ask(peer, rosterService, { see } satisfies RosterQuestion) === true,
      mayJudge: async () => await session?.lives() === true,
      heardMs: (member) => heardMs.get(member.id) ?? Number.NEGATIVE_INFINITY,
      over: (member) => {
        heardMs.delete(member.id)
        grpc.forget(member)
      },
    })
    const tellAll = (service: string, news: unknown) => Promise.all(roster.others.map((other) =>
      ask(other, service, news).catch(() => {})))
    const ownership = new ShardKeeper({
      ...options, self, roster,
      announce: (news) => void tellAll(shardService, news),
    })
    /** With those of what is served here, as soon as it is. */
    const services: Service[] = [
      answering(rosterService, async (question) => {
        const { see } = question as RosterQuestion
        if (see !== undefined) return await lives(see)
        await roster.look()
      }),
      answering(shardService, async (news) => ownership.hear(news as ShardNews[])),
    ]
    const ask = memberAsker({ transport, self, services })
    return {
      self, gate: session?.gate, ownership, transport, askMember: ask,
      serve: async ({ activations, services: others, host }) => {
        services.push(...others)
        server.serve(createInbound({
          ownership, activations, services, ...options.tracing && { tracing: options.tracing },
        }))
        // Before others know of this member, and give it what it is to have.
        await firstAnswer(env, async () => {
          await ownership.look()
          await roster.start()
        })
        serving = true
        server.belongs()
        // Once more when they do: what changed in between, nobody told it.
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
        // Those who know that it left do not take it for dead.
        await atLatest(env, farewellMs, tellAll(rosterService, {}))
        grpc.close()
        await server.close(deadline)
      },
    }
  } catch (error) {
    await server.close(AbortSignal.abort())
    throw error
  }
}

function answering(name: string, answer: Service['answer']): Service {
  return { name, wire: { values: plainValues }, answer }
}
