/**
 * Commands from other members that were received recently, by their ids.
 *
 *   1. A command that comes again is not done again: its sender gets the same answer.
 *   2. A command that came to nothing is forgotten at once: the next try is a new one.
 *   3. Commands under way are never forgotten. Answers are, when many were used after them.
 *   4. When the caller has gone, the actor is notified, so that it need not keep waiting.
 */

import { ClusterError, CodedError } from '../errors.ts'
import { LRUCache } from '../flow/lru-cache.ts'
import type { Env } from '../runtime/env.ts'

/** Bounds of the memory of answers. */
export interface RecentCommandsOptions {
  /** Answers that are remembered: 20 000 by default. */
  readonly answers?: number
  /** Bytes of the remembered answers: 32 MiB by default. */
  readonly bytes?: number
  /** Commands that may be under way: 100 000 by default. */
  readonly underWay?: number
}

interface UnderWay {
  readonly reply: Promise<Uint8Array>
  readonly cancelled: AbortController
  stopTimer(): void
}

interface Answered {
  readonly reply: Promise<Uint8Array>
  readonly bytes: number
}

/** Memory of one entry beside the bytes of its answer. */
const entryBytes = 200

/** Carries each command out once, however often it is sent. */
export class RecentCommands {
  readonly #env: Pick<Env, 'after'>
  readonly #underWay = new Map<string, UnderWay>()
  readonly #answered: LRUCache<string, Answered>
  readonly #underWayMax: number

  constructor(env: Pick<Env, 'after'>,
    { answers = 20_000, bytes = 32 * 1024 * 1024, underWay = 100_000 }: RecentCommandsOptions =
      {}) {
    this.#env = env
    this.#underWayMax = underWay
    this.#answered = new LRUCache({ max: answers, maxSize: bytes,
      sizeCalculation: ({ bytes: size }) => size })
  }

  /**
   * The answer to the command with this id; `handle` does it if it was not received yet. The signal
   * aborts when the caller has gone.
   */
  answer(id: string, handle: (cancelled: AbortSignal) => Promise<Uint8Array>): Promise<Uint8Array> {
    const known = this.#underWay.get(id) ?? this.#answered.get(id)
    if (known !== undefined) return known.reply
    if (this.#underWay.size >= this.#underWayMax) return Promise.reject(new ClusterError('full'))
    const cancelSignal = new AbortController()
    const reply = handle(cancelSignal.signal)
    this.#underWay.set(id, { reply, cancelled: cancelSignal, stopTimer: () => {} })
    reply.then(
      (bytes) => this.#remember(id, reply, bytes.length),
      (error: unknown) => {
        if (isFinal(error)) this.#remember(id, reply, 0)
        else this.#ended(id)
      },
    )
    return reply
  }

  /** The caller knows that the answer is under way: it comes back within `ms`, or has gone. */
  expectBack(id: string, ms: number): void {
    const underWay = this.#underWay.get(id)
    if (underWay === undefined) return
    underWay.stopTimer()
    underWay.stopTimer = this.#env.after(ms, () => this.leave(id))
  }

  /** The caller waits no longer. */
  leave(id: string): void {
    this.#underWay.get(id)?.cancelled.abort(
      new ClusterError('unavailable', 'Nobody asks for this any more.'),
    )
  }

  #ended(id: string): void {
    this.#underWay.get(id)?.stopTimer()
    this.#underWay.delete(id)
  }

  #remember(id: string, reply: Promise<Uint8Array>, length: number): void {
    this.#ended(id)
    // One that is too large for all the room is not kept.
    this.#answered.set(id, { reply, bytes: length + entryBytes })
  }
}

/** True if the same command would be refused again, so that the refusal is worth keeping. */
function isFinal(error: unknown): boolean {
  return error instanceof CodedError && error.retry === 'no'
}
