/** What is open for long, and the one tick that it shares, however much of it there is. */

import type { Env } from '../../cluster/index.ts'

export interface PulseMember {
  /** Called at every tick. */
  beat(): void
  /** The server goes: end now what a client can come back to. */
  leave(): void
}

const tickMs = 1_000

/** How many ticks of silence a client is left before it is told that we live. */
export const ticksOfSilence = 5

export class Pulse {
  readonly #members = new Set<PulseMember>()
  readonly #stop: () => void
  #stopped = false

  constructor(env: Env) {
    this.#stop = env.every(tickMs, () => {
      for (const member of this.#members) member.beat()
    })
  }

  add(member: PulseMember): void {
    this.#members.add(member)
  }

  remove(member: PulseMember): void {
    this.#members.delete(member)
  }

  /** The server goes: from here on it is not a client's doing that a connection ends. */
  get stopped(): boolean { return this.#stopped }

  stop(): void {
    this.#stopped = true
    this.#stop()
    for (const member of this.#members) member.leave()
  }
}
