/**
 * Members that live, as one of them sees it: it reads the heartbeats in the store, probes its
 * neighbours, and ends the session of a member that is dead.
 *
 * To be dead is to be fenced: a session that is ended by mistake costs its member a restart, no
 * more. A member that cannot reach the store fences no other. `verdict.ts` says who is dead.
 */

import type { Env } from '../runtime/env.ts'
import { EndedSessions } from './ended-sessions.ts'
import type { Heartbeat, HeartbeatPort } from './heartbeat-port.ts'
import { HeartbeatTable } from './heartbeat-table.ts'
import { examineMs, MemberExaminer } from './member-examiner.ts'
import type { MemberExaminerOptions } from './member-examiner.ts'
import type { Member } from '../member.ts'
import type { MembershipView } from './membership.ts'
import type { SessionPort } from './session-port.ts'
import { isStale } from './verdict.ts'

/** Parts with which a member finds out who lives, and ends the sessions of the dead. */
export interface FailureDetectorOptions
  extends Pick<MemberExaminerOptions, 'lives' | 'lastSeenMs' | 'askPeer'> {
  readonly env: Env
  readonly self: Member
  /** True if it has a session of its own, and may own shards. */
  readonly member: boolean
  readonly heartbeats: HeartbeatPort
  readonly sessions: Pick<SessionPort, 'fence' | 'state'>
  /** True if the store answers this member and its own session lives; checked anew each time. */
  canFence(): Promise<boolean>
  /** The session of the member has ended: its answers need not be waited for. */
  ended(member: Member): void
}

/** Interval at which a member leaves a heartbeat and reads those of the others. */
const heartbeatMs = 1_000

/**
 * starting  Only `look` is called.
 * serving   It leaves heartbeats and probes others.
 * leaving   The same, but others take over what this member has.
 * closed    It does nothing any more.
 */
type DetectorState = 'starting' | 'serving' | 'leaving' | 'closed'

/** The membership view of one member, and what keeps it true. */
export class FailureDetector {
  readonly #options: FailureDetectorOptions
  readonly #table = new HeartbeatTable()
  readonly #sessions: EndedSessions
  readonly #examiner: MemberExaminer
  readonly #listeners = new Set<() => void>()
  #view: MembershipView
  #state: DetectorState = 'starting'
  /** Count of the heartbeats that it has left. */
  #count = 0
  #looking: Promise<void> | undefined
  #stopTimers = () => {}

  constructor(options: FailureDetectorOptions) {
    this.#options = options
    const { self, member } = options
    this.#sessions = new EndedSessions(options)
    this.#examiner = new MemberExaminer({
      ...options,
      table: this.#table,
      look: async () => {
        await this.look()
        return this.#state !== 'closed'
      },
      dead: (other, why) => this.#end(other, why),
    })
    this.#view = { self, members: member ? [self] : [] }
  }

  get view(): MembershipView {
    return this.#view
  }

  /** All others that are not known to have ended, including those that are about to leave. */
  get others(): readonly Member[] {
    return this.#table.members
  }

  /** True if the session is known to have ended. */
  hasEnded(id: string): boolean {
    return this.#sessions.has(id)
  }

  /** True if the session is alive, as far as is known. */
  sees(id: string): boolean {
    return this.#table.has(id)
  }

  /** `listener` is called after each change of the view. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /** Resolves when the members are known. Throws if the store does not answer. */
  async start(): Promise<void> {
    this.#examiner.begin()
    await this.#look()
    // A member that died a moment ago has left a heartbeat: it is found out now.
    await Promise.all(this.others.map((other) => this.#examiner.examine(other)))
    const { env } = this.#options
    const stops = [
      env.every(heartbeatMs, () => void this.look()),
      env.every(examineMs, () => this.#examiner.examineNeighbours()),
    ]
    this.#stopTimers = () => {
      for (const stop of stops) stop()
    }
    if (this.#state === 'starting') this.#state = 'serving'
  }

  /** Leaves a heartbeat and reads those of the others, now. Never throws. */
  async look(): Promise<void> {
    if (this.#state === 'closed') return
    this.#looking ??= this.#look()
      .catch((error: unknown) =>
        this.#options.env.log.debug('The heartbeats could not be exchanged.', { error })
      )
      .finally(() => {
        this.#looking = undefined
      })
    await this.#looking
  }

  /** Announces that this member leaves: from then on others take over its shards. */
  async leave(): Promise<void> {
    if (this.#state !== 'closed') this.#state = 'leaving'
    this.#change()
    await this.#looking
    await this.look()
  }

  /** Examines a member that some caller in this process could not reach. */
  doubt(member: Member): void {
    if (this.#table.has(member.id)) void this.#examiner.examine(member)
  }

  /** True if the member answers this one, or at least talks to it. */
  async reaches(member: Member): Promise<boolean> {
    return await this.#examiner.reaches(member)
  }

  /** True if it is proven to this member that the session has ended; false if its member lives. */
  proveEnded(member: Member): Promise<boolean> {
    return this.#sessions.proof(member.id, () => this.#proveEnded(member))
  }

  /**
   * Ends all looking, and removes the own heartbeat, so that others need not wait until it is old.
   */
  async close(): Promise<void> {
    this.#state = 'closed'
    this.#stopTimers()
    const { self, member, heartbeats, env } = this.#options
    await this.#looking
    if (!member) return
    await heartbeats.forget(self.id).catch((error: unknown) =>
      env.log.debug('The last heartbeat could not be removed.', { error })
    )
  }

  async #proveEnded(member: Member): Promise<boolean> {
    const { id } = member
    if (this.#table.has(id)) return false
    if (await this.#sessions.lives(id)) {
      if (await this.#options.lives(member)) return false
      await this.look()
      // It has just joined, and may be busy starting: it is judged as all others are.
      if (this.#table.has(id)) {
        await this.#examiner.examine(member)
        return this.#sessions.has(id)
      }
    }
    await this.#sessions.fence(id)
    return true
  }

  async #look(): Promise<void> {
    const { env, self, member, heartbeats } = this.#options
    const heartbeat = { ...self, count: ++this.#count, leaving: this.#state === 'leaving' }
    const [all] = await Promise.all(
      [heartbeats.heartbeats(), member ? heartbeats.heartbeat(heartbeat) : undefined],
    )
    const found = await this.#believable(all)
    const nowMs = env.monotonicMs()
    const { isOther, gone } = this.#table.read(found, nowMs)
    for (const other of gone) this.#forget(other)
    const { own } = this.#examiner
    for (const { heartbeat: other, seenMs } of this.#table.signs) {
      if (isStale(nowMs - seenMs, own)) void this.#end(other, 'It lost the store.')
    }
    if (isOther) this.#change()
  }

  /**
   * Leaves out heartbeats of members that have ended: one that was frozen may have left a last one.
   */
  async #believable(heartbeats: readonly Heartbeat[]): Promise<readonly Heartbeat[]> {
    const others = heartbeats.filter(({ id }) => id !== this.#options.self.id)
    const living = await Promise.all(
      others.map(({ id }) => this.#table.has(id) || this.#sessions.lives(id)),
    )
    for (const [index, { id }] of others.entries()) if (!living[index]) this.#sessions.note(id)
    return others.filter(({ id }) => !this.#sessions.has(id))
  }

  #forget(member: Member): void {
    this.#examiner.forget(member)
    this.#options.ended(member)
  }

  /** Never throws: a member that cannot be ended now is examined again later. */
  async #end(member: Member, why: string): Promise<void> {
    const { env, canFence, heartbeats, member: isMember } = this.#options
    const { id } = member
    if (!isMember || !this.#table.has(id)) return
    // A member that was frozen finds all others silent: first it checks its own session.
    if (!await canFence() || !this.#table.has(id)) return
    try {
      env.log.warn('A member is taken for dead: its session is ended.', { member, why })
      await this.#sessions.fence(id)
      await heartbeats.forget(id)
    } catch (error) {
      env.log.warn('A member that is taken for dead could not be ended.', { member, error })
    }
    if (!this.#sessions.has(id) || !this.#table.remove(id)) return
    this.#sessions.noteProven(id)
    this.#forget(member)
    this.#change()
  }

  #change(): void {
    const { self, member } = this.#options
    const isStaying = this.#state === 'starting' || this.#state === 'serving'
    const members = [...this.#table.staying, ...member && isStaying ? [self] : []]
    this.#view = Object.freeze({ self, members: Object.freeze(members) })
    for (const listener of this.#listeners) listener()
  }
}
