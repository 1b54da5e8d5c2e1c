/**
 * Who lives, as one member sees it: it looks at the signs of life in the store, asks its neighbours
 * whether they are there, and ends the session of whoever is not.
 *
 *   1. A member whose address refuses is dead, and so is one that is silent, also to those who
 *      speak with it anyway, and left no beat for five seconds, or that beats and answered no
 *      question for longer: for more where this member comes late itself, as on a machine that all
 *      of them share. Where there is a third one it is asked as well, so that one broken way ends
 *      nobody; whoever finds all others silent does not go by that.
 *   2. A member whose beat stands still while others beat has lost the store, and is as good as
 *      dead.
 *   3. Dead is who was fenced: ending a session by mistake costs its member a restart, and no more.
 *      Whoever cannot reach the store himself judges nobody.
 */

import type { Beat, BeatPort } from './beat-port.ts'
import type { Env } from './env.ts'
import { Lateness } from './lateness.ts'
import type { Member } from './member.ts'
import type { MembershipView } from './membership.ts'
import { pause } from './pause.ts'
import type { SessionPort } from './session-port.ts'
import { atLatest } from './within.ts'

export interface RosterOptions {
  readonly env: Env
  readonly self: Member
  /** Whether it has a session of its own, and may own shards. */
  readonly member: boolean
  readonly beats: BeatPort
  readonly sessions: Pick<SessionPort, 'fence' | 'state'>
  /** Whether it answers at its address. */
  lives(member: Member): Promise<boolean>
  /** When it was heard last, whatever it said; by the monotonic clock. */
  heardMs(member: Member): number
  /** Whether `peer` finds that `member` answers. Throws where the peer cannot be asked. */
  askPeer(peer: Member, member: Member): Promise<boolean>
  /** Whether the store answers this member, and its own session lives: asked anew each time. */
  mayJudge(): Promise<boolean>
  /** Its session is over: nobody need wait for its answers. */
  over(member: Member): void
}

/** So often a member leaves a beat and looks at those of the others. */
const beatMs = 1_000
/** A beat that stands still for so long. */
const staleMs = 8_000
/** For so long one that does not answer may be busy. */
const silentMs = 5_000
/** One that beats, but that nobody reaches for so long, serves nobody. */
const cutOffMs = 8_000
/** After a silence of the store of so long, or of this member itself, nobody is judged at once. */
const gapMs = 3_000
/** So often a member asks its neighbours whether they are there. */
const askMs = 700
/** The next ones in the order of ids, each of which is asked by as many. */
const neighbours = 3
/** An answer that takes longer may never come. */
const promptMs = 500
/** How many others are asked whether they see what this one sees. */
const witnesses = 2

interface Sign {
  readonly beat: Beat
  readonly seenMs: number
}

export class Roster {
  readonly #options: RosterOptions
  readonly #signs = new Map<string, Sign>()
  /** Those whose session this member has proven to be over, or is about to. */
  readonly #endings = new Map<string, Promise<boolean>>()
  readonly #over = new Set<string>()
  readonly #examined = new Set<string>()
  /** Since when each that is silent has been so. */
  readonly #silent = new Map<string, number>()
  readonly #listeners = new Set<() => void>()
  #view: MembershipView
  #leaving = false
  #closed = false
  #count = 0
  #lookedMs = Number.NEGATIVE_INFINITY
  /** Of this member, by how it asks its neighbours. */
  readonly #lateness: Lateness
  #looking: Promise<void> | undefined
  #stopTimers = () => {}

  constructor(options: RosterOptions) {
    this.#options = options
    const { env, self, member } = options
    this.#lateness = new Lateness({ env, everyMs: askMs, stillMs: gapMs, lastingMs: staleMs })
    this.#view = { self, members: member ? [self] : [] }
  }

  get view(): MembershipView { return this.#view }

  /** All others that are not known to be over, those included that are about to leave. */
  get others(): readonly Member[] {
    return [...this.#signs.values()].map(({ beat: { id, address } }) => ({ id, address }))
  }

  /** Whether the session is known to be over. */
  isOver(id: string): boolean { return this.#over.has(id) }

  /** Whether it is among those that live, as far as is known. */
  sees(id: string): boolean { return this.#signs.has(id) }

  /** Is told after each change of the view. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /** Resolves when it is known who is there. Throws where the store does not answer. */
  async start(): Promise<void> {
    this.#lateness.begin()
    await this.#look()
    // Whoever died a moment ago has left a beat: it is not waited for.
    await Promise.all(this.others.map((other) => this.#examine(other)))
    const { env } = this.#options
    const stops = [
      env.every(beatMs, () => void this.look()),
      env.every(askMs, () => this.#askNeighbours()),
    ]
    this.#stopTimers = () => { for (const stop of stops) stop() }
  }

  /** Leaves a beat and looks at those of others, now. Never throws. */
  async look(): Promise<void> {
    if (this.#closed) return
    this.#looking ??= this.#look()
      .catch((error: unknown) => this.#options.env.log.debug('Nobody can be seen.', { error }))
      .finally(() => { this.#looking = undefined })
    await this.#looking
  }

  /** From now on others take over what this one has. */
  async leave(): Promise<void> {
    this.#leaving = true
    this.#change()
    await this.#looking
    await this.look()
  }

  /** Somebody could not reach it: is it there? */
  doubt(member: Member): void {
    if (this.#signs.has(member.id)) void this.#examine(member)
  }

  /**
   * Whether it is proven to this member that the session is over; false where its member lives. A
   * read that says it is over is no proof; a fence is one, whoever ended it.
   */
  proveEnded(member: Member): Promise<boolean> {
    const ending = this.#endings.get(member.id) ?? this.#proveEnded(member)
    this.#endings.set(member.id, ending)
    ending.then((over) => { if (!over) this.#endings.delete(member.id) },
      () => this.#endings.delete(member.id))
    return ending
  }

  /** Nobody is looked at any more; others need not wait until the last beat is old. */
  async close(): Promise<void> {
    this.#closed = true
    this.#stopTimers()
    const { self, member, beats, env } = this.#options
    await this.#looking
    if (member) await beats.forget(self.id).catch((error: unknown) =>
      env.log.debug('The last beat stays.', { error }))
  }

  async #proveEnded(member: Member): Promise<boolean> {
    if (this.#signs.has(member.id)) return false
    const { sessions, lives } = this.#options
    const isOver = this.#over.has(member.id) || await sessions.state(member.id) !== 'alive'
    if (!isOver) {
      if (await lives(member)) return false
      await this.look()
      // It has just come, and is as busy as whoever starts: it is judged as all others are.
      if (this.#signs.has(member.id)) {
        await this.#examine(member)
        return this.#over.has(member.id)
      }
    }
    await this.#fence(member)
    return true
  }

  async #fence({ id }: Member): Promise<void> {
    const { sessions, self } = this.#options
    await sessions.fence(id, self.id)
    this.#over.add(id)
  }

  async #look(): Promise<void> {
    const { env, self, member, beats } = this.#options
    const beat = { ...self, count: ++this.#count, leaving: this.#leaving }
    const [all] = await Promise.all([beats.beats(), member ? beats.beat(beat) : undefined])
    const found = await this.#believable(all)
    const nowMs = env.monotonicMs()
    const afterGap = nowMs - this.#lookedMs > gapMs
    this.#lookedMs = nowMs
    const before = membersText(this.#signs)
    for (const [id, { beat }] of this.#signs) {
      if (!found.some((other) => other.id === id)) this.#drop(beat)
    }
    for (const other of found) this.#note(other, nowMs, afterGap)
    if (membersText(this.#signs) !== before) this.#change()
  }

  /** Without those of members that are over: one that was frozen may have left a last one. */
  async #believable(beats: readonly Beat[]): Promise<readonly Beat[]> {
    const { self, sessions } = this.#options
    const others = beats.filter(({ id }) => id !== self.id && !this.#over.has(id))
    const states = await Promise.all(others.map(async ({ id }) =>
      this.#signs.has(id) ? 'alive' : await sessions.state(id)))
    for (const [place, { id }] of others.entries()) {
      if (states[place] !== 'alive') this.#over.add(id)
    }
    return others.filter(({ id }) => !this.#over.has(id))
  }

  #note(beat: Beat, nowMs: number, afterGap: boolean): void {
    const known = this.#signs.get(beat.id)
    const still = known?.beat.count === beat.count && !afterGap
    const seenMs = still ? known.seenMs : nowMs
    this.#signs.set(beat.id, { beat, seenMs })
    const isStale = nowMs - seenMs > staleMs + this.#lateness.graceMs
    if (isStale && !this.#lateness.stoodStill()) void this.#end(beat, 'It lost the store.')
  }

  /** Its beat is gone: it left, or somebody who proved that it is over took the beat away. */
  #drop(member: Member): void {
    this.#signs.delete(member.id)
    this.#silent.delete(member.id)
    this.#options.over(member)
  }

  #askNeighbours(): void {
    const { self } = this.#options
    this.#lateness.note()
    const others = this.others.toSorted((a, b) => a.id < b.id ? -1 : 1)
    const next = Math.max(others.findIndex(({ id }) => id > self.id), 0)
    const ring = [...others.slice(next), ...others.slice(0, next)]
    // Whoever was silent is asked on until he answers: his silence is not one from long ago.
    const asked = ring.filter(({ id }, place) => place < neighbours || this.#silent.has(id))
    for (const member of asked) void this.#examine(member)
  }

  async #examine(member: Member): Promise<void> {
    if (this.#examined.has(member.id)) return
    this.#examined.add(member.id)
    try {
      if (await this.#isSeen(member)) return
      await this.#end(member, 'It does not answer at its address.')
    } finally {
      this.#examined.delete(member.id)
    }
  }

  /** By this member, or by one of the others; they look while this one still waits. */
  async #isSeen(member: Member): Promise<boolean> {
    const { env, lives, heardMs } = this.#options
    const askedMs = env.monotonicMs()
    const seen = lives(member)
    const prompt = await atLatest(env, promptMs, seen)
    if (prompt === true) return this.#sighted(member)
    // Nobody is there, or somebody else: that is no silence, which might end.
    if (prompt === false) return await this.#witnessed(member) === 'seen'
    const [own, others] = await Promise.all([seen, this.#witnessed(member)])
    // A busy one that speaks with others may be slow to let somebody new in.
    const speaks = heardMs(member) >= askedMs
    const isSeen = own || others === 'seen' || speaks || this.#lateness.stoodStill()
    // Who reaches nobody may be cut off itself: it goes by how old a beat is, and by no silence.
    if (isSeen || others === 'nobody asked') return this.#sighted(member)
    const silentSinceMs = this.#silent.get(member.id) ?? env.monotonicMs()
    this.#silent.set(member.id, silentSinceMs)
    // Up to now: while its beat is waited for nobody asks it.
    const silenceMs = env.monotonicMs() - silentSinceMs
    if (!await this.#beatsAgain(member)) return this.#lateness.stoodStill()
    // One that beats and that nobody reaches is cut off.
    return silenceMs < cutOffMs + this.#lateness.graceMs
  }

  #sighted({ id }: Member): true {
    this.#silent.delete(id)
    return true
  }

  /** One that is only busy, as when it starts on a busy machine, leaves a beat now and then. */
  async #beatsAgain({ id }: Member): Promise<boolean> {
    const { env } = this.#options
    const before = this.#signs.get(id)
    if (before === undefined) return false
    for (;;) {
      await this.look()
      if (this.#signs.get(id)?.beat.count !== before.beat.count) return true
      const restMs = before.seenMs + silentMs + this.#lateness.graceMs - env.monotonicMs()
      if (restMs <= 0) return false
      await pause(env, Math.min(restMs, beatMs))
    }
  }

  /** What others see of it; where there is no other one, nobody contradicts. */
  async #witnessed(member: Member): Promise<'seen' | 'not seen' | 'nobody asked'> {
    const asked = this.others.filter(({ id }) => id !== member.id).slice(0, witnesses)
    for (const peer of asked) {
      try {
        return await this.#options.askPeer(peer, member) ? 'seen' : 'not seen'
      } catch {
        // Who cannot be asked is no witness.
      }
    }
    return asked.length === 0 ? 'not seen' : 'nobody asked'
  }

  /** Never throws: whoever cannot be ended now is looked at again. */
  async #end(member: Member, why: string): Promise<void> {
    const { env, mayJudge, beats, member: entitled } = this.#options
    if (!entitled || !this.#signs.has(member.id)) return
    // One that was frozen finds everybody silent: first it learns whether it is over itself.
    if (!await mayJudge() || !this.#signs.has(member.id)) return
    try {
      env.log.warn('A member is taken for dead: its session is ended.', { member, why })
      await this.#fence(member)
      await beats.forget(member.id)
    } catch (error) {
      env.log.warn('A member that is taken for dead could not be ended.', { member, error })
    }
    if (!this.#over.has(member.id) || !this.#signs.delete(member.id)) return
    this.#endings.set(member.id, Promise.resolve(true))
    this.#options.over(member)
    this.#change()
  }

  #change(): void {
    const { self, member } = this.#options
    const staying = [...this.#signs.values()].filter(({ beat }) => !beat.leaving)
    const members = staying.map(({ beat: { id, address } }) => ({ id, address }))
    if (member && !this.#leaving) members.push(self)
    this.#view = Object.freeze({ self, members: Object.freeze(members) })
    for (const listener of this.#listeners) listener()
  }
}

function membersText(signs: ReadonlyMap<string, Sign>): string {
  return [...signs.values()].map(({ beat: { id, leaving } }) => `${id} ${leaving}`).toSorted()
    .join('\n')
}
