/** What is open for long, and the one tick that it shares, however much of it there is. */

import type { Env } from '../../cluster/index.ts'

export interface PulseMember {
  /** Called at every tick. */
  beat(): void
  /** The server goes: end now what a client can come back to. */
  leave(): void
}

/** A reply that is open for long. */
export interface OpenReply {
  /**
   * sse   events as they come, on the REST wire
   * rpc   events as they come, on the typed one
   * wait  the result of a run, when it is over
   */
  readonly kind: 'sse' | 'rpc' | 'wait'
  readonly runId: string
}

/** Replies that are open, by kind, and how many runs the events are of. */
export interface OpenReplies extends Readonly<Record<OpenReply['kind'], number>> {
  readonly runsTold: number
}

const tickMs = 1_000

/** How many ticks of silence a client is left before it is told that we live. */
export const ticksOfSilence = 5

export class Pulse {
  readonly #members = new Map<PulseMember, OpenReply | undefined>()
  readonly #stop: () => void
  #stopped = false

  constructor(env: Env) {
    this.#stop = env.every(tickMs, () => {
      for (const member of this.#members.keys()) member.beat()
    })
  }

  /** `reply`: what it is, where it is one. Whoever comes too late leaves at once. */
  add(member: PulseMember, reply?: OpenReply): void {
    this.#members.set(member, reply)
    if (this.#stopped) member.leave()
  }

  remove(member: PulseMember): void {
    this.#members.delete(member)
  }

  openReplies(): OpenReplies {
    const open = { sse: 0, rpc: 0, wait: 0 }
    const told = new Set<string>()
    for (const reply of this.#members.values()) {
      if (reply === undefined) continue
      open[reply.kind]++
      if (reply.kind !== 'wait') told.add(reply.runId)
    }
    return { ...open, runsTold: told.size }
  }

  /** The server goes: from here on it is not a client's doing that a connection ends. */
  get stopped(): boolean { return this.#stopped }

  stop(): void {
    this.#stopped = true
    this.#stop()
    for (const member of this.#members.keys()) member.leave()
  }
}
