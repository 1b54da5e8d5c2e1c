/**
 * A command stream with one member: many commands on one stream, and their answers on it.
 *
 * Each request through another front door waits for this: a message each way costs less than half
 * of a call of its own. Whatever ends the stream fails all commands that wait.
 */

import { Readable } from 'node:stream'
import type { Metadata } from 'nice-grpc-common'

import type { ConverseRequest, ConverseResponse, DeliverRequest, DeliverResponse,
  MemberServiceClient } from '../../../proto/gen/cluster/v1/member.ts'
import { withTimeout } from '../../flow/with-timeout.ts'
import type { Env } from '../../runtime/env.ts'
import { reviveClusterError } from '../../errors.ts'
import type { ReviveError } from '../../errors.ts'
import { ambiguous, errorFromDetail, errorFromWire, wayFailed } from './error-trailer.ts'

/**
 * open    commands may be sent
 * ending  the other member goes away: nothing new is sent, and what was sent is answered
 * over    the stream has ended
 */
export type CommandStreamState = 'open' | 'ending' | 'over'

/** Sends commands to one member over one stream, and matches the answers to them. */
export class CommandStream {
  readonly #env: Env
  readonly #address: string
  readonly #revive: ReviveError
  readonly #said = new Readable({ objectMode: true, read: () => {} })
  /** By the numbers of the commands. */
  readonly #waiting = new Map<number, PromiseWithResolvers<DeliverResponse>>()
  readonly #abort = new AbortController()
  #number = 0
  #state: CommandStreamState = 'open'

  constructor(env: Env, address: string, client: Pick<MemberServiceClient, 'converse'>,
    revive: ReviveError = reviveClusterError) {
    this.#env = env
    this.#address = address
    this.#revive = revive
    void this.#listen(client)
  }

  get state(): CommandStreamState {
    return this.#state
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Only while it is open. Throws what the other side threw, or how the connection failed. */
  async send(command: DeliverRequest, timeoutMs: number): Promise<DeliverResponse> {
    // 32 bits, as in the protocol: before it wraps around, the first ones are answered.
    const number = this.#number = (this.#number + 1) >>> 0
    const answer = Promise.withResolvers<DeliverResponse>()
    this.#waiting.set(number, answer)
    this.#said.push({ number, command } satisfies ConverseRequest)
    try {
      return await withTimeout(this.#env, timeoutMs, answer.promise, () =>
        ambiguous(this.#address, 'no answer came in time'))
    } finally {
      this.#waiting.delete(number)
    }
  }

  /** Ends the stream. Commands that wait get an error whose outcome is `maybe_done`. */
  close(): void {
    this.#abort.abort()
  }

  async #listen(client: Pick<MemberServiceClient, 'converse'>): Promise<void> {
    let trailer: Metadata | undefined
    let failure: unknown = new Error('The conversation ended.')
    try {
      const answers = client.converse(this.#said, { signal: this.#abort.signal,
        onTrailer: (received) => {
          trailer = received
        } })
      for await (const answer of answers) this.#handle(answer)
    } catch (error) {
      failure = error
    }
    this.#state = 'over'
    const error = errorFromWire(trailer, this.#revive) ?? wayFailed(this.#address, failure)
    for (const { reject } of this.#waiting.values()) reject(error)
  }

  #handle({ number, outcome }: ConverseResponse): void {
    const answer = this.#waiting.get(number)
    switch (outcome?.$case) {
      case 'response':
        return answer?.resolve(outcome.value)
      case 'error':
        return answer?.reject(errorFromDetail(outcome.value, this.#revive))
      case 'ending':
        if (this.#state !== 'open') return
        this.#state = 'ending'
        this.#said.push(null)
    }
  }
}
