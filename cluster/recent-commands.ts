/**
 * Commands that were heard from other members a short while ago, by their ids.
 *
 *   1. A command that comes again is not done again: whoever sends it gets the same answer.
 *   2. What came to nothing is forgotten at once: the next try is a new one.
 *   3. What is under way is never forgotten. What is answered is, when much came after it.
 */

import { HeddleError } from '../src/errors.ts'

export interface RecentCommandsOptions {
  /** Answers that are remembered at most: 20 000 unless told. */
  readonly answers?: number
  /** What they may weigh: 32 MiB unless told. */
  readonly bytes?: number
  /** Commands that may be under way: 100 000 unless told. */
  readonly underWay?: number
}

interface Answered {
  readonly reply: Promise<Uint8Array>
  readonly bytes: number
}

/** Beside the bytes of the answer. */
const entryBytes = 200

export class RecentCommands {
  readonly #underWay = new Map<string, Promise<Uint8Array>>()
  /** The oldest one first. */
  readonly #answered = new Map<string, Answered>()
  readonly #bound: Required<RecentCommandsOptions>
  #bytes = 0

  constructor({ answers = 20_000, bytes = 32 * 1024 * 1024, underWay = 100_000 }:
  RecentCommandsOptions = {}) {
    this.#bound = { answers, bytes, underWay }
  }

  /** The answer to the command of this id, which `hear` does where it was not heard yet. */
  answer(id: string, hear: () => Promise<Uint8Array>): Promise<Uint8Array> {
    const known = this.#underWay.get(id) ?? this.#answered.get(id)?.reply
    if (known !== undefined) return known
    if (this.#underWay.size >= this.#bound.underWay) return Promise.reject(new HeddleError('full'))
    const reply = hear()
    this.#underWay.set(id, reply)
    reply.then(
      (bytes) => this.#remember(id, reply, bytes.length),
      (error: unknown) => {
        if (isFinal(error)) this.#remember(id, reply, 0)
        else this.#underWay.delete(id)
      },
    )
    return reply
  }

  #remember(id: string, reply: Promise<Uint8Array>, length: number): void {
    this.#underWay.delete(id)
    const bytes = length + entryBytes
    this.#answered.set(id, { reply, bytes })
    this.#bytes += bytes
    for (const [oldest, answered] of this.#answered) {
      if (this.#answered.size <= this.#bound.answers && this.#bytes <= this.#bound.bytes) return
      this.#answered.delete(oldest)
      this.#bytes -= answered.bytes
    }
  }
}

/** Refused for good: it would be refused again. */
function isFinal(error: unknown): boolean {
  return error instanceof HeddleError && error.retry === 'no'
}
