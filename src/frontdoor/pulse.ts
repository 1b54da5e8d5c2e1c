/** The replies that take long, and the one tick that they share, however many there are. */

import type { Env } from '../../cluster/index.ts'

export interface LongReply {
  /** Called at every tick. */
  beat(): void
  /** The server goes: end now what a client can come back to. */
  leave(): void
}

const tickMs = 1_000

/** How many ticks of silence a client is left before it is told that we live. */
export const ticksOfSilence = 5

export class Pulse {
  readonly #replies = new Set<LongReply>()
  readonly #stop: () => void

  constructor(env: Env) {
    this.#stop = env.every(tickMs, () => {
      for (const reply of this.#replies) reply.beat()
    })
  }

  add(reply: LongReply): void {
    this.#replies.add(reply)
  }

  remove(reply: LongReply): void {
    this.#replies.delete(reply)
  }

  stop(): void {
    this.#stop()
    for (const reply of this.#replies) reply.leave()
  }
}
