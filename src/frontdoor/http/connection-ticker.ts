/** One timer for everything that is open for long. */

import type { Env } from '../../../cluster/index.ts'

export interface TickerMember {
  /** Called at every tick. */
  tick(): void
  /** The server is closing: end now what a client can come back to. */
  leave(): void
}

/** A reply that is open for long. */
export interface OpenReply {
  /**
   * sse   events as they come, on the REST wire
   * rpc   events as they come, on the typed one
   * wait  the result of a run, when it has ended
   */
  readonly kind: 'sse' | 'rpc' | 'wait'
  readonly runId: string
}

/** Of an open reply: proxies pass on at once what is written, and do not compress it. */
export const openReplyHeaders = {
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const

/** Open replies by kind, and of how many runs events are sent. */
export interface OpenReplies extends Readonly<Record<OpenReply['kind'], number>> {
  readonly runsFollowed: number
}

const tickMs = 1_000

/** After this many ticks of silence, a client gets a heartbeat. */
export const ticksOfSilence = 5

export class ConnectionTicker {
  readonly #members = new Map<TickerMember, OpenReply | undefined>()
  readonly #stop: () => void
  #stopped = false

  constructor(env: Env) {
    this.#stop = env.every(tickMs, () => {
      for (const member of this.#members.keys()) member.tick()
    })
  }

  /** `reply`: if the member is an open reply, its description. After `stop` it leaves at once. */
  add(member: TickerMember, reply?: OpenReply): void {
    this.#members.set(member, reply)
    if (this.#stopped) member.leave()
  }

  remove(member: TickerMember): void {
    this.#members.delete(member)
  }

  openReplies(): OpenReplies {
    const open = { sse: 0, rpc: 0, wait: 0 }
    const sent = new Set<string>()
    for (const reply of this.#members.values()) {
      if (reply === undefined) continue
      open[reply.kind]++
      if (reply.kind !== 'wait') sent.add(reply.runId)
    }
    return { ...open, runsFollowed: sent.size }
  }

  /** The server is closing: from now on, the end of a connection does not mean a client left. */
  get stopped(): boolean {
    return this.#stopped
  }

  stop(): void {
    this.#stopped = true
    this.#stop()
    for (const member of this.#members.keys()) member.leave()
  }
}
