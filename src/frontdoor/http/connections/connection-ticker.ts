/** One timer for everything that is open for long. */

import type { Env } from '../../../../cluster/index.ts'

/** Member of a ticker, which is called at every tick and when the server closes. */
export interface TickerMember {
  /** Called at every tick. */
  tick(): void
  /** Called when the server closes. Ends at once what a client can come back to. */
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

/** Headers of an open reply. They tell proxies to pass on at once what is written, uncompressed. */
export const openReplyHeaders = {
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const

/** Number of open replies by kind. */
export interface OpenReplies extends Readonly<Record<OpenReply['kind'], number>> {
  readonly runsFollowed: number
}

const tickMs = 1_000

/** Ticks of silence after which a client gets a heartbeat. */
export const ticksOfSilence = 5

/** Ticks for all open replies of a front door, which owns it. */
export class ConnectionTicker {
  readonly #members = new Map<TickerMember, OpenReply | undefined>()
  readonly #stop: () => void
  #stopped = false

  constructor(env: Env) {
    this.#stop = env.every(tickMs, () => {
      for (const member of this.#members.keys()) member.tick()
    })
  }

  /** Adds a member, with a description if it is an open reply. After `stop` it leaves at once. */
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

  /**
   * True when the server is closing. An ended connection does not mean then that its client left.
   */
  get stopped(): boolean {
    return this.#stopped
  }

  stop(): void {
    this.#stopped = true
    this.#stop()
    for (const member of this.#members.keys()) member.leave()
  }
}
