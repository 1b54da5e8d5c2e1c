/** The calls of other members, handed to the actors that live here. */

import type { CallContext } from 'nice-grpc-common'

import type { ConverseRequest, ConverseResponse, DeliverRequest, DeliverResponse, FollowRequest,
  FollowResponse, LeaveRequest, LeaveResponse, MemberServiceImplementation,
  ProbeResponse } from '../../../proto/gen/cluster/v1/member.ts'
import { assert, ClusterError } from '../../errors.ts'
import type { ActorKey } from '../../actors/actor-key.ts'
import { wiresOf } from '../../actors/actor-wire.ts'
import type { ActorWire, Asked } from '../../actors/actor-wire.ts'
import { RecentCommands } from '../../actors/recent-commands.ts'
import { atLatest } from '../../flow/with-timeout.ts'
import type { Env } from '../../runtime/env.ts'
import { FollowOutbox } from '../follow-outbox.ts'
import type { ProtocolIdentity } from '../member-trust.ts'
import { ReplyStash } from '../reply-stash.ts'
import type { Inbound } from '../transport.ts'
import { CommandStreamServer } from './command-stream-server.ts'
import type { StreamAnswer } from './command-stream-server.ts'
import { errorToDetail } from './error-trailer.ts'
import { requireUnderstand } from './gatekeeper.ts'
import { answeredBytesMax, withinLimit } from './options.ts'

/** Identity of this member, and the kinds that others may ask. */
export interface MemberServiceOptions {
  readonly env: Env
  /** The id of this member. */
  readonly id: string
  readonly identity: ProtocolIdentity
  readonly kinds: readonly Asked[]
}

/** The longest that a caller is let wait for one answer: after that it asks again. */
const patienceMaxMs = 30_000

/** A caller that knows that the reply is under way asks again by then, or has gone. */
const comesBackMs = patienceMaxMs + 10_000

/** Answers the calls of other members. Until `serve`, it answers only probes. */
export class MemberService implements MemberServiceImplementation {
  readonly #options: MemberServiceOptions
  readonly #wireOf: (key: ActorKey) => ActorWire
  readonly #recent: RecentCommands
  readonly #kept: ReplyStash
  /** By the ids of the follows. */
  readonly #outboxes = new Map<string, FollowOutbox>()
  readonly #commandStreams = new Set<CommandStreamServer>()
  #inbound: Inbound | undefined

  constructor(options: MemberServiceOptions) {
    this.#options = options
    this.#recent = new RecentCommands(options.env)
    this.#kept = new ReplyStash(options.env)
    this.#wireOf = wiresOf(options.kinds)
  }

  /** Commands are accepted from now on. */
  serve(inbound: Inbound): void {
    this.#inbound = inbound
  }

  /** No more commands are accepted, and all follows end. */
  close(): void {
    this.#inbound = undefined
    for (const outbox of this.#outboxes.values()) outbox.release()
    for (const answers of this.#commandStreams) answers.end()
  }

  async deliver(command: DeliverRequest, context: CallContext): Promise<DeliverResponse> {
    requireUnderstand(this.#options.identity, context.metadata)
    const reply = this.#kept.take(command.commandId)
    return reply === undefined ? await this.#deliver(command) : { reply, underWay: false }
  }

  async *converse(requests: AsyncIterable<ConverseRequest>,
    context: CallContext): AsyncGenerator<ConverseResponse> {
    requireUnderstand(this.#options.identity, context.metadata)
    const answers = new CommandStreamServer(requests, (command) => this.#outcomeOf(command))
    this.#commandStreams.add(answers)
    try {
      yield* answers
    } finally {
      this.#commandStreams.delete(answers)
    }
  }

  async #outcomeOf(command: DeliverRequest | undefined): Promise<StreamAnswer> {
    try {
      assert(command !== undefined, 'a message of a command stream has a command')
      const response = await this.#deliver(command)
      const { reply } = response
      const isKept = reply.length > answeredBytesMax && this.#kept.keep(command.commandId, reply)
      return { $case: 'response',
        value: isKept ? { reply: new Uint8Array(), underWay: true } : response }
    } catch (error) {
      return { $case: 'error', value: errorToDetail(this.#options.env.log, error) }
    }
  }

  async #deliver(
    { key, commandId, patienceMs, command, trace }: DeliverRequest,
  ): Promise<DeliverResponse> {
    const { values } = this.#wireOf(named(key))
    const reply = this.#recent.answer(commandId, async (cancelled) => {
      const said = await this.#received().ask(named(key), values.decode(command), { id: commandId,
        cancelled, ...trace !== '' && { trace } })
      return withinLimit(values.encode(said))
    })
    const known = await atLatest(this.#options.env, Math.min(patienceMs, patienceMaxMs), reply)
    if (known !== undefined) return { reply: known, underWay: false }
    this.#recent.expectBack(commandId, comesBackMs)
    return { reply: new Uint8Array(), underWay: true }
  }

  async *follow({ key, request, followId, trace }: FollowRequest,
    context: CallContext): AsyncGenerator<FollowResponse> {
    requireUnderstand(this.#options.identity, context.metadata)
    const { values, listeners } = this.#wireOf(named(key))
    if (listeners === undefined) throw new ClusterError('unsupported')
    let stop = () => {}
    const outbox = new FollowOutbox(() => stop())
    const listener = listeners.sender((call, last) => outbox.put(call, last))
    const release = () => outbox.release()
    context.signal.addEventListener('abort', release)
    this.#outboxes.set(followId, outbox)
    try {
      stop = await this.#received().follow(named(key), values.decode(request), listener,
        trace === '' ? {} : { trace })
      if (context.signal.aborted) return
      yield { calls: [], lagged: false }
      for await (const calls of outbox.batches()) yield { calls, lagged: false }
      if (outbox.broken) throw new ClusterError('unavailable')
      if (outbox.lagged) yield { calls: [], lagged: true }
    } finally {
      stop()
      this.#outboxes.delete(followId)
      context.signal.removeEventListener('abort', release)
    }
  }

  async leave({ followId, commandId }: LeaveRequest): Promise<LeaveResponse> {
    this.#outboxes.get(followId)?.leave()
    this.#recent.leave(commandId)
    return {}
  }

  async probe(): Promise<ProbeResponse> {
    return { session: this.#options.id, ...this.#options.identity }
  }

  #received(): Inbound {
    if (this.#inbound !== undefined) return this.#inbound
    throw new ClusterError('unavailable', 'This member does not serve: it begins, or goes away.')
  }
}

function named(key: ActorKey | undefined): ActorKey {
  assert(key !== undefined, 'a question to an actor names it')
  return key
}
