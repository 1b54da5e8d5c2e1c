/**
 * The link to one member: a connection for commands and one for follows, made when first needed.
 *
 * There are two so that a flood of events delays no command. Nothing is sent before the connection
 * is ready: what fails earlier certainly was not received.
 */

import { connectivityState } from '@grpc/grpc-js'
import type { Channel } from '@grpc/grpc-js'
import { createChannel, createClient } from 'nice-grpc'
import type { CallOptions, Metadata } from 'nice-grpc-common'

import { MemberServiceDefinition } from '../../../proto/gen/cluster/v1/member.ts'
import type { DeliverRequest, DeliverResponse,
  MemberServiceClient } from '../../../proto/gen/cluster/v1/member.ts'
import { ClusterError } from '../../errors.ts'
import type { ReviveError } from '../../errors.ts'
import { withTimeout } from '../../flow/with-timeout.ts'
import type { Env } from '../../runtime/env.ts'
import type { ProtocolIdentity, MemberTrust } from '../member-trust.ts'
import { CommandStream } from './command-stream.ts'
import { errorFromWire, wayFailed } from './error-trailer.ts'
import { channelCredentials, introduction } from './gatekeeper.ts'
import { clientOptions } from './options.ts'

/** Trust, identity and clock of each link to a member. */
export interface LinkOptions {
  readonly env: Env
  readonly trust: MemberTrust
  readonly identity: ProtocolIdentity
  /** By default only errors of the cluster itself keep their code. */
  readonly reviveError?: ReviveError
}

/** A stream whose first message has come. */
export interface OpenStream<Message> {
  /** Messages after the first one. */
  readonly messages: AsyncIterator<Message>
  /** Ends the stream, for both sides. */
  end(): void
}

type Lane = 'commands' | 'follows'

interface Line {
  readonly channel: Channel
  readonly client: MemberServiceClient
}

/** A connection that takes longer to make counts as unreachable. */
const connectMs = 3_000

/** The connections to one member. */
export class MemberLink {
  readonly address: string
  /** Time of the last message from the member, by the monotonic clock. */
  lastSeenMs = Number.NEGATIVE_INFINITY
  readonly #options: LinkOptions
  readonly #lines = new Map<Lane, Line>()
  readonly #underWay = new Set<AbortController>()
  #commandStream: CommandStream | undefined
  #usedMs = 0

  constructor(address: string, options: LinkOptions) {
    this.address = address
    this.#options = options
  }

  /** Time since which nothing is under way; Infinity while something is. */
  get idleSinceMs(): number {
    const waiting = this.#underWay.size + (this.#commandStream?.waiting ?? 0)
    return waiting > 0 ? Infinity : this.#usedMs
  }

  /** Throws what the other side threw, or how the connection failed. */
  async call<Reply>(timeoutMs: number,
    make: (client: MemberServiceClient, options: CallOptions) => Promise<Reply>,
    lane: Lane = 'commands'): Promise<Reply> {
    const client = await this.#ready(lane)
    const call = this.#begin(timeoutMs)
    try {
      return await make(client, call.options)
    } catch (error) {
      throw call.failure(error)
    } finally {
      call.ended()
    }
  }

  /** Sends a command in the current command stream. Throws as `call` does. */
  async send(timeoutMs: number, command: DeliverRequest): Promise<DeliverResponse> {
    const client = await this.#ready('commands')
    if (this.#commandStream?.state !== 'open') {
      this.#commandStream = new CommandStream(this.#options.env, this.address, client,
        this.#options.reviveError)
    }
    try {
      return await this.#commandStream.send(command, timeoutMs)
    } finally {
      this.#usedMs = this.#options.env.monotonicMs()
    }
  }

  /** Opens a stream; its first message must come in time. Throws as `call` does. */
  async open<Message>(timeoutMs: number,
    make: (client: MemberServiceClient, options: CallOptions) => AsyncIterable<Message>
  ): Promise<OpenStream<Message>> {
    const client = await this.#ready('follows')
    const call = this.#begin(timeoutMs)
    try {
      const messages = make(client, call.options)[Symbol.asyncIterator]()
      if ((await messages.next()).done) throw new Error('The stream ended before it began.')
      call.inTime()
      return { messages, end: call.end }
    } catch (error) {
      call.end()
      throw call.failure(error)
    }
  }

  /** Ends what is under way. */
  close(): void {
    for (const call of this.#underWay) call.abort()
    this.#commandStream?.close()
    for (const { channel } of this.#lines.values()) channel.close()
    this.#lines.clear()
  }

  #begin(timeoutMs: number) {
    const { env } = this.#options
    const abort = new AbortController()
    let trailer: Metadata | undefined
    const inTime = env.after(timeoutMs, () => abort.abort())
    const ended = () => {
      inTime()
      this.#underWay.delete(abort)
      this.#usedMs = env.monotonicMs()
    }
    this.#underWay.add(abort)
    return {
      options: {
        signal: abort.signal,
        onTrailer: (received: Metadata) => {
          trailer = received
        },
      },
      inTime,
      ended,
      end: () => {
        ended()
        abort.abort()
      },
      failure: (error: unknown) =>
        errorFromWire(trailer, this.#options.reviveError) ??
          wayFailed(this.address, error),
    }
  }

  /** A client with a ready connection. Throws `unavailable` with the reason if there is none. */
  async #ready(lane: Lane): Promise<MemberServiceClient> {
    const { channel, client } = this.#line(lane)
    if (channel.getConnectivityState(true) !== connectivityState.READY) {
      this.#usedMs = this.#options.env.monotonicMs()
      await withTimeout(this.#options.env, connectMs, this.#connected(channel, client), () =>
        this.#unreachable('it does not answer'))
    }
    return client
  }

  async #connected(channel: Channel, client: MemberServiceClient): Promise<void> {
    for (;;) {
      const state = channel.getConnectivityState(true)
      if (state === connectivityState.READY) return
      if (state === connectivityState.SHUTDOWN) throw this.#unreachable('this member goes away')
      if (state === connectivityState.TRANSIENT_FAILURE) {
        throw this.#unreachable(await lastFailure(client))
      }
      await new Promise<void>((changed) =>
        channel.watchConnectivityState(state, Infinity, () => changed())
      )
    }
  }

  #line(lane: Lane): Line {
    const known = this.#lines.get(lane)
    if (known !== undefined) return known
    const { trust, identity } = this.#options
    const { name } = trust.tls ?? {}
    const named = name === undefined ? {} : { 'grpc.ssl_target_name_override': name }
    const channel = createChannel(this.address, channelCredentials(trust), { ...clientOptions,
      ...named })
    const metadata = introduction(trust, identity)
    const client = createClient(MemberServiceDefinition, channel, { '*': { metadata } })
    this.#lines.set(lane, { channel, client })
    return { channel, client }
  }

  #unreachable(reason: string): ClusterError {
    return new ClusterError('unavailable', `The member at ${this.address} cannot be reached: ` +
      `${reason}.`, { unreachable: reason })
  }
}

/** Reason why the last attempt to connect failed; only a call that fails by it gets to know it. */
async function lastFailure(client: MemberServiceClient): Promise<string> {
  try {
    await client.probe({})
    return 'it came back just now'
  } catch (error) {
    const { details = '' } = error as { details?: string }
    return /Last error: (?:Error: )?(.{0,300}?) \(\d{4}-/.exec(details.slice(0, 2_000))?.[1] ??
      details
  }
}
