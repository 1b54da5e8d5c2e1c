/**
 * Who lives, as one member sees it: it reads the heartbeats in the store, probes its neighbours,
 * and ends the session of a member that is dead.
 *
 *   1. A member is dead if its address refuses connections; if it is silent, also to members that
 *      talk to it anyway, and left no heartbeat for five seconds; or if it sends heartbeats but
 *      answered nothing for eight. It is given more time while this member itself is late, as on a
 *      shared machine. If there is a third member, it is asked as well, so that one broken
 *      connection ends nobody; a member that finds all others silent draws no conclusion, nor for
 *      eight seconds after.
 *   2. A member whose heartbeat stands still while those of others continue has lost the store, and
 *      counts as dead.
 *   3. To be dead is to be fenced: a session ended by mistake costs its member a restart, no more.
 *      A member that cannot reach the store judges nobody.
 */

import { pause } from '../flow/pause.ts'
import { atLatest } from '../flow/with-timeout.ts'
import type { Env } from '../runtime/env.ts'
import { EventLoopLag } from '../runtime/event-loop-lag.ts'
import type { Heartbeat, HeartbeatPort } from './heartbeat-port.ts'
import type { Member } from './member.ts'
import type { MembershipView } from './membership.ts'
import type { SessionPort } from './session-port.ts'

export interface FailureDetectorOptions {
  readonly env: Env
  readonly self: Member
  /** Whether it has a session of its own, and may own shards. */
  readonly member: boolean
  readonly heartbeats: HeartbeatPort
  readonly sessions: Pick<SessionPort, 'fence' | 'state'>
  /** Whether the member answers at its address. */
  lives(member: Member): Promise<boolean>
  /** When any message last came from the member, by the monotonic clock. */
  lastSeenMs(member: Member): number
  /** Whether `peer` finds that `member` answers. Throws if the peer cannot be asked. */
  askPeer(peer: Member, member: Member): Promise<boolean>
  /** Whether the store answers this member and its own session lives; checked anew each time. */
  canFence(): Promise<boolean>
  /** The session of the member has ended: nobody need wait for its answers. */
  ended(member: Member): void
}

/** How often a member leaves a heartbeat and reads those of the others. */
const heartbeatMs = 1_000
/** A member is dead if its heartbeat stands still for this long. */
const staleMs = 8_000
/** A member that does not answer may be busy for this long, if it leaves no heartbeat either. */
const silentMs = 5_000
/** A member that sends heartbeats but that nobody reaches for this long is cut off. */
const cutOffMs = 8_000
/** After a gap this long, of the store or of this member itself, nobody is judged at once. */
const gapMs = 3_000
/** How often a member probes its neighbours. */
const askMs = 700
/** How many: the next ones in the order of ids, so that each is probed by as many. */
const neighbours = 3
/** After this time without an answer, others are asked as well. */
const promptMs = 500
/** The shortest pause between two looks at whether a silent member leaves a heartbeat. */
const leastRestMs = 100
/** How many others may be asked whether they can reach a member. */
const witnesses = 2

interface Sign {
  readonly heartbeat: Heartbeat
  readonly seenMs: number
}

export class FailureDetector {
  readonly #options: FailureDetectorOptions
  readonly #signs = new Map<string, Sign>()
  /** Proofs that a session has ended, finished or under way. */
  readonly #endings = new Map<string, Promise<boolean>>()
  readonly #ended = new Set<string>()
  readonly #examined = new Set<string>()
  /** Since when each silent member has been silent. */
  readonly #silent = new Map<string, number>()
  readonly #listeners = new Set<() => void>()
  #view: MembershipView
  #leaving = false
  #closed = false
  #count = 0
  /** When the heartbeats were read last. */
  #lookedMs = Number.NEGATIVE_INFINITY
  /** When none of the others could be asked about another, the last time. */
  #aloneMs = Number.NEGATIVE_INFINITY
  /** Of this member itself, noted whenever it probes its neighbours. */
  readonly #lag: EventLoopLag
  #looking: Promise<void> | undefined
  #stopTimers = () => {}

  constructor(options: FailureDetectorOptions) {
    this.#options = options
    const { env, self, member } = options
    this.#lag = new EventLoopLag({ env, everyMs: askMs, stillMs: gapMs, lastingMs: staleMs })
    this.#view = { self, members: member ? [self] : [] }
  }

  get view(): MembershipView {
    return this.#view
  }

  /** All others that are not known to have ended, including those that are about to leave. */
  get others(): readonly Member[] {
    return [...this.#signs.values()].map(({ heartbeat: { id, address } }) => ({ id, address }))
  }

  /** Whether the session is known to have ended. */
  hasEnded(id: string): boolean {
    return this.#ended.has(id)
  }

  /** Whether it is alive, as far as is known. */
  sees(id: string): boolean {
    return this.#signs.has(id)
  }

  /** `listener` is called after each change of the view. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /** Resolves when it is known who is there. Throws if the store does not answer. */
  async start(): Promise<void> {
    this.#lag.begin()
    await this.#look()
    // A member that died a moment ago has left a heartbeat: it is found out now.
    await Promise.all(this.others.map((other) => this.#examine(other)))
    const { env } = this.#options
    const stops = [
      env.every(heartbeatMs, () => void this.look()),
      env.every(askMs, () => this.#askNeighbours()),
    ]
    this.#stopTimers = () => {
      for (const stop of stops) stop()
    }
  }

  /** Leaves a heartbeat and reads those of the others, now. Never throws. */
  async look(): Promise<void> {
    if (this.#closed) return
    this.#looking ??= this.#look()
      .catch((error: unknown) => this.#options.env.log.debug('No beats exchanged.', { error }))
      .finally(() => {
        this.#looking = undefined
      })
    await this.#looking
  }

  /** From now on others take over what this member has. */
  async leave(): Promise<void> {
    this.#leaving = true
    this.#change()
    await this.#looking
    await this.look()
  }

  /** Somebody could not reach the member: examines whether it is there. */
  doubt(member: Member): void {
    if (this.#signs.has(member.id)) void this.#examine(member)
  }

  /** Whether the member answers this one, or at least talks to it. */
  async reaches(member: Member): Promise<boolean> {
    const { env, lives, lastSeenMs } = this.#options
    const askedMs = env.monotonicMs()
    // A busy member that talks to others may be slow to accept a new connection.
    return await lives(member) || lastSeenMs(member) >= askedMs
  }

  /**
   * Whether it is proven to this member that the session has ended; false if its member lives. A
   * read that says that it has ended is no proof; a fence is one, whoever ended the session.
   */
  proveEnded(member: Member): Promise<boolean> {
    const ending = this.#endings.get(member.id) ?? this.#proveEnded(member)
    this.#endings.set(member.id, ending)
    ending.then((ended) => {
      if (!ended) this.#endings.delete(member.id)
    }, () => this.#endings.delete(member.id))
    return ending
  }

  /**
   * Ends all looking, and removes the own heartbeat, so that others need not wait until it is old.
   */
  async close(): Promise<void> {
    this.#closed = true
    this.#stopTimers()
    const { self, member, heartbeats, env } = this.#options
    await this.#looking
    if (member)
      await heartbeats.forget(self.id).catch((error: unknown) =>
        env.log.debug('The last beat could not be removed.', { error })
      )
  }

  async #proveEnded(member: Member): Promise<boolean> {
    if (this.#signs.has(member.id)) return false
    const { sessions, lives } = this.#options
    const hasEnded = this.#ended.has(member.id) || await sessions.state(member.id) !== 'alive'
    if (!hasEnded) {
      if (await lives(member)) return false
      await this.look()
      // It has just joined, and may be busy starting: it is judged as all others are.
      if (this.#signs.has(member.id)) {
        await this.#examine(member)
        return this.#ended.has(member.id)
      }
    }
    await this.#fence(member)
    return true
  }

  async #fence({ id }: Member): Promise<void> {
    const { sessions, self } = this.#options
    await sessions.fence(id, self.id)
    this.#ended.add(id)
  }

  async #look(): Promise<void> {
    const { env, self, member, heartbeats } = this.#options
    const heartbeat = { ...self, count: ++this.#count, leaving: this.#leaving }
    const [all] = await Promise.all(
      [heartbeats.heartbeats(), member ? heartbeats.heartbeat(heartbeat) : undefined],
    )
    const found = await this.#believable(all)
    const nowMs = env.monotonicMs()
    const afterGap = nowMs - this.#lookedMs > gapMs
    this.#lookedMs = nowMs
    const before = membersText(this.#signs)
    for (const [id, { heartbeat }] of this.#signs) {
      if (!found.some((other) => other.id === id)) this.#drop(heartbeat)
    }
    for (const other of found) this.#note(other, nowMs, afterGap)
    if (membersText(this.#signs) !== before) this.#change()
  }

  /**
   * Without heartbeats of members that have ended: one that was frozen may have left a last one.
   */
  async #believable(heartbeats: readonly Heartbeat[]): Promise<readonly Heartbeat[]> {
    const { self, sessions } = this.#options
    const others = heartbeats.filter(({ id }) => id !== self.id && !this.#ended.has(id))
    const states = await Promise.all(
      others.map(async ({ id }) => this.#signs.has(id) ? 'alive' : await sessions.state(id)),
    )
    for (const [index, { id }] of others.entries()) {
      if (states[index] !== 'alive') this.#ended.add(id)
    }
    return others.filter(({ id }) => !this.#ended.has(id))
  }

  #note(heartbeat: Heartbeat, nowMs: number, afterGap: boolean): void {
    const known = this.#signs.get(heartbeat.id)
    const still = known?.heartbeat.count === heartbeat.count && !afterGap
    const seenMs = still ? known.seenMs : nowMs
    this.#signs.set(heartbeat.id, { heartbeat, seenMs })
    const isStale = nowMs - seenMs > staleMs + this.#lag.slackMs
    if (isStale && !this.#lag.stoodStill()) void this.#end(heartbeat, 'It lost the store.')
  }

  /**
   * Its heartbeat is gone: it left, or somebody who proved that it is over removed the heartbeat.
   */
  #drop(member: Member): void {
    this.#signs.delete(member.id)
    this.#silent.delete(member.id)
    this.#options.ended(member)
  }

  #askNeighbours(): void {
    const { self } = this.#options
    this.#lag.note()
    const others = this.others.toSorted((a, b) => a.id < b.id ? -1 : 1)
    const next = Math.max(others.findIndex(({ id }) => id > self.id), 0)
    const ring = [...others.slice(next), ...others.slice(0, next)]
    // A silent member is probed until it answers, so that its silence is never an old one.
    const asked = ring.filter(({ id }, index) => index < neighbours || this.#silent.has(id))
    for (const member of asked) void this.#examine(member)
  }

  async #examine(member: Member): Promise<void> {
    if (this.#examined.has(member.id)) return
    this.#examined.add(member.id)
    try {
      const absence = await this.#absence(member)
      if (absence !== undefined) await this.#end(member, absence)
    } finally {
      this.#examined.delete(member.id)
    }
  }

  /**
   * Why it counts as dead; undefined if this member or another sees it. The others look while this
   * one still waits.
   */
  async #absence(member: Member): Promise<string | undefined> {
    const { env } = this.#options
    const seen = this.reaches(member)
    const prompt = await atLatest(env, promptMs, seen)
    if (prompt === true) return this.#reachable(member)
    // Nobody is there, or somebody else: this is not silence, which might end. But when a cut-off
    // ends, connections may still break although all is well.
    if (prompt === false) {
      if (this.#wasAlone) return this.#reachable(member)
      return await this.#witnessed(member) === 'seen' ? undefined : 'Nobody is at its address.'
    }
    const [own, others] = await Promise.all([seen, this.#witnessed(member)])
    const isSeen = own || others === 'seen' || this.#lag.stoodStill()
    // If this member reaches nobody, it may be cut off itself: only the age of heartbeats counts
    // then, and for a while after, as what was held up comes all at once.
    if (others === 'nobody asked') this.#aloneMs = env.monotonicMs()
    if (isSeen || this.#wasAlone) return this.#reachable(member)
    const silentSinceMs = this.#silent.get(member.id) ?? env.monotonicMs()
    this.#silent.set(member.id, silentSinceMs)
    // Taken now: while its heartbeat is waited for, nobody probes it.
    const silenceMs = env.monotonicMs() - silentSinceMs
    if (!await this.#heartbeatsAgain(member)) {
      return this.#lag.stoodStill() ? undefined : 'It does not answer, and leaves no beat.'
    }
    // A member that sends heartbeats and that nobody reaches is cut off.
    const mayEnd = silenceMs < cutOffMs + this.#lag.slackMs
    return mayEnd ? undefined : 'It beats, but nobody reaches it.'
  }

  get #wasAlone(): boolean {
    return this.#options.env.monotonicMs() - this.#aloneMs < staleMs
  }

  #reachable({ id }: Member): undefined {
    this.#silent.delete(id)
  }

  /**
   * A member that is only busy, as when it starts, leaves a heartbeat now and then. That it left
   * none is known when the heartbeats were read late enough: while they cannot be, it may not be
   * able to either.
   */
  async #heartbeatsAgain({ id }: Member): Promise<boolean> {
    const { env } = this.#options
    const before = this.#signs.get(id)
    if (before === undefined) return false
    for (;;) {
      await this.look()
      const now = this.#signs.get(id)
      if (now?.heartbeat.count !== before.heartbeat.count || this.#closed) return true
      const restMs = now.seenMs + silentMs + this.#lag.slackMs - this.#lookedMs
      if (restMs <= 0) return false
      await pause(env, Math.max(leastRestMs, Math.min(restMs, heartbeatMs)))
    }
  }

  /** What another member sees; 'not seen' if there is no other member. */
  async #witnessed(member: Member): Promise<'seen' | 'not seen' | 'nobody asked'> {
    const asked = this.others.filter(({ id }) => id !== member.id).slice(0, witnesses)
    for (const peer of asked) {
      try {
        return await this.#options.askPeer(peer, member) ? 'seen' : 'not seen'
      } catch {
        // A peer that cannot be asked is no witness.
      }
    }
    return asked.length === 0 ? 'not seen' : 'nobody asked'
  }

  /** Never throws: a member that cannot be ended now is examined again later. */
  async #end(member: Member, why: string): Promise<void> {
    const { env, canFence, heartbeats, member: entitled } = this.#options
    if (!entitled || !this.#signs.has(member.id)) return
    // A member that was frozen finds all others silent: first it checks its own session.
    if (!await canFence() || !this.#signs.has(member.id)) return
    try {
      env.log.warn('A member is taken for dead: its session is ended.', { member, why })
      await this.#fence(member)
      await heartbeats.forget(member.id)
    } catch (error) {
      env.log.warn('A member that is taken for dead could not be ended.', { member, error })
    }
    if (!this.#ended.has(member.id) || !this.#signs.delete(member.id)) return
    this.#endings.set(member.id, Promise.resolve(true))
    this.#options.ended(member)
    this.#change()
  }

  #change(): void {
    const { self, member } = this.#options
    const staying = [...this.#signs.values()].filter(({ heartbeat }) => !heartbeat.leaving)
    const members = staying.map(({ heartbeat: { id, address } }) => ({ id, address }))
    if (member && !this.#leaving) members.push(self)
    this.#view = Object.freeze({ self, members: Object.freeze(members) })
    for (const listener of this.#listeners) listener()
  }
}

function membersText(signs: ReadonlyMap<string, Sign>): string {
  return [...signs.values()].map(({ heartbeat: { id, leaving } }) => `${id} ${leaving}`).toSorted()
    .join('\n')
}
