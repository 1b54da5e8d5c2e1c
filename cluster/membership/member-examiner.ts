/** Finds out whether another member is there: asks it, asks others, and waits for a heartbeat. */

import { pause } from '../flow/pause.ts'
import { atLatest } from '../flow/with-timeout.ts'
import type { Env } from '../runtime/env.ts'
import { EventLoopLag } from '../runtime/event-loop-lag.ts'
import { gapMs } from './heartbeat-table.ts'
import type { HeartbeatTable } from './heartbeat-table.ts'
import type { Member } from '../member.ts'
import { heartbeatRestMs, judgeHeartbeat, judgeRefusal, judgeSilence, staleMs } from './verdict.ts'
import type { OwnCondition, Verdict, Witness } from './verdict.ts'

/** The ways to find out whether a member is there. */
export interface MemberExaminerOptions {
  readonly env: Env
  readonly self: Member
  readonly table: HeartbeatTable
  /** True if the member answers at its address. */
  lives(member: Member): Promise<boolean>
  /** Time of the last message from the member, by the monotonic clock. */
  lastSeenMs(member: Member): number
  /** True if `peer` finds that `member` answers. Throws if the peer cannot be asked. */
  askPeer(peer: Member, member: Member): Promise<boolean>
  /** Reads the heartbeats of all members. False if nothing is read any more. */
  look(): Promise<boolean>
  /** Called when a member was found to be dead. */
  dead(member: Member, why: string): Promise<void>
}

/** Interval at which `examineNeighbours` is meant to be called. */
export const examineMs = 700
/** Members probed by each: the next ones in the order of ids, so that each is probed by as many. */
const neighbours = 3
/** After this time without an answer, others are asked as well. */
const promptMs = 500
/** The bounds of the pause between two looks at whether a silent member leaves a heartbeat. */
const [leastRestMs, longestRestMs] = [100, 1_000]
/** Others that may be asked whether they can reach a member. */
const witnesses = 2

/** `verdict.ts` decides; this class asks. */
export class MemberExaminer {
  readonly #options: MemberExaminerOptions
  readonly #examined = new Set<string>()
  /** Time since which each silent member has been silent. */
  readonly #silent = new Map<string, number>()
  /** Last time at which no other member could be asked about a silent one. */
  #aloneMs = Number.NEGATIVE_INFINITY
  /** Lag of this member itself, noted whenever it probes its neighbours. */
  readonly #lag: EventLoopLag

  constructor(options: MemberExaminerOptions) {
    this.#options = options
    const { env } = options
    this.#lag = new EventLoopLag({ env, everyMs: examineMs, stillMs: gapMs, lastingMs: staleMs })
  }

  /** Trust that this member may have in what it sees, now. */
  get own(): OwnCondition {
    return {
      stoodStill: this.#lag.stoodStill(),
      wasAlone: this.#options.env.monotonicMs() - this.#aloneMs < staleMs,
      slackMs: this.#lag.slackMs,
    }
  }

  /** From now on `examineNeighbours` is called. */
  begin(): void {
    this.#lag.begin()
  }

  /** The member has gone. */
  forget({ id }: Member): void {
    this.#silent.delete(id)
  }

  /** True if the member answers this one, or at least talks to it. */
  async reaches(member: Member): Promise<boolean> {
    const { env, lives, lastSeenMs } = this.#options
    const askedMs = env.monotonicMs()
    // A busy member that talks to others may be slow to accept a new connection.
    return await lives(member) || lastSeenMs(member) >= askedMs
  }

  /** Examines the neighbours and all members that are silent. */
  examineNeighbours(): void {
    const { self, table } = this.#options
    this.#lag.note()
    const others = table.members.toSorted((a, b) => a.id < b.id ? -1 : 1)
    const next = Math.max(others.findIndex(({ id }) => id > self.id), 0)
    const ring = [...others.slice(next), ...others.slice(0, next)]
    // A silent member is probed until it answers, so that its silence is never an old one.
    const asked = ring.filter(({ id }, index) => index < neighbours || this.#silent.has(id))
    for (const member of asked) void this.examine(member)
  }

  /** Resolves when it is known whether the member is there; at once if that is under way. */
  async examine(member: Member): Promise<void> {
    if (this.#examined.has(member.id)) return
    this.#examined.add(member.id)
    try {
      const verdict = await this.#judge(member)
      if (verdict.kind === 'reachable') this.#silent.delete(member.id)
      if (verdict.kind === 'dead') await this.#options.dead(member, verdict.why)
    } finally {
      this.#examined.delete(member.id)
    }
  }

  /** Judges a silent member. Others are asked while this member still waits for its answer. */
  async #judge(member: Member): Promise<Verdict> {
    const { env } = this.#options
    const reached = this.reaches(member)
    const prompt = await atLatest(env, promptMs, reached)
    if (prompt === true) return { kind: 'reachable' }
    if (prompt === false) {
      const { own } = this
      return judgeRefusal(own.wasAlone ? undefined : await this.#witnessed(member), own)
    }
    const [isReached, witness] = await Promise.all([reached, this.#witnessed(member)])
    if (witness === 'nobody asked') this.#aloneMs = env.monotonicMs()
    const verdict = judgeSilence({ isReached, witness, own: this.own })
    return verdict.kind === 'silent' ? await this.#judgeSilent(member) : verdict
  }

  async #judgeSilent(member: Member): Promise<Verdict> {
    const nowMs = this.#options.env.monotonicMs()
    const sinceMs = this.#silent.get(member.id) ?? nowMs
    this.#silent.set(member.id, sinceMs)
    // Taken now: while its heartbeat is waited for, no one probes it.
    const silenceMs = nowMs - sinceMs
    const hasHeartbeat = await this.#leavesHeartbeat(member)
    return judgeHeartbeat({ hasHeartbeat, silenceMs, own: this.own })
  }

  /**
   * A member that is only busy, as when it starts, leaves a heartbeat now and then. That it left
   * none is known when the heartbeats were read late enough: while they cannot be, it may not be
   * able to either.
   */
  async #leavesHeartbeat({ id }: Member): Promise<boolean> {
    const { env, table, look } = this.#options
    const before = table.get(id)
    if (before === undefined) return false
    for (;;) {
      const isReading = await look()
      const now = table.get(id)
      if (now?.heartbeat.count !== before.heartbeat.count || !isReading) return true
      const restMs = heartbeatRestMs(table.readMs - now.seenMs, this.own)
      if (restMs <= 0) return false
      await pause(env, Math.max(leastRestMs, Math.min(restMs, longestRestMs)))
    }
  }

  /** Observation of another member; 'not seen' if there is no other member. */
  async #witnessed(member: Member): Promise<Witness> {
    const { table, askPeer } = this.#options
    const asked = table.members.filter(({ id }) => id !== member.id).slice(0, witnesses)
    for (const peer of asked) {
      try {
        return await askPeer(peer, member) ? 'seen' : 'not seen'
      } catch {
        // A peer that cannot be asked is no witness.
      }
    }
    return asked.length === 0 ? 'not seen' : 'nobody asked'
  }
}
