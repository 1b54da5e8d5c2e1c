/**
 * Watches the cluster for everybody who looks at it. It looks when it is asked, and again and again
 * while somebody follows: nothing is done for a page that nobody shows.
 */

import { atLatest } from '../../../cluster/index.ts'
import type { ClusterStatus, Env, Member } from '../../../cluster/index.ts'
import { eventsBetween, viewOf } from './cluster-view.ts'
import type { ClusterEvent, ClusterView, MemberDetails, SeenMember } from './cluster-view.ts'

/** Source from which a front door learns of the cluster and its members. */
export interface ClusterSource {
  /** False if other members can join. */
  readonly embedded: boolean
  /** Number of shards, the same for the whole cluster. */
  readonly shards: number
  status(): ClusterStatus
  /** Asks a member for its report on itself. */
  ask(member: Member): Promise<MemberDetails>
}

/** A member with what it said of itself; undefined if it did not answer. */
export interface WatchedMember extends SeenMember {
  readonly details: MemberDetails | undefined
}

/** The cluster at one moment, with what its members said. */
export interface WatchedCluster extends Pick<ClusterView, 'owners'> {
  readonly members: readonly WatchedMember[]
}

/** Called while the cluster is followed. */
export interface ClusterListener {
  changed(events: readonly ClusterEvent[]): void
  /** At most once a second. */
  loaded(members: readonly WatchedMember[]): void
}

const lookMs = 250
const looksPerLoad = 4
/** A member that takes longer is shown without what it says. */
const answerMs = 500
/** Time that a member is shown after it has gone. */
const goneMs = 60_000
/** Age of answers that are given to several who ask. */
const freshMs = 250

/** Watches the cluster at one front door. */
export class ClusterWatch {
  readonly #env: Env
  readonly #source: ClusterSource
  readonly #listeners = new Set<ClusterListener>()
  readonly #gone = new Map<string, { readonly member: Member; readonly sinceMs: number }>()
  #view: ClusterView | undefined
  #asked: { readonly atMs: number; readonly answer: Promise<WatchedCluster> } | undefined
  #looks = 0
  #stopLooking = () => {}

  constructor(env: Env, source: ClusterSource) {
    this.#env = env
    this.#source = source
  }

  /** The cluster now. Members that do not answer in time are shown without details. */
  now(): Promise<WatchedCluster> {
    const nowMs = this.#env.monotonicMs()
    if (this.#asked === undefined || nowMs - this.#asked.atMs > freshMs) {
      this.#asked = { atMs: nowMs, answer: this.#ask() }
    }
    return this.#asked.answer
  }

  /** Calls the listener until the result is called. */
  follow(listener: ClusterListener): () => void {
    if (this.#listeners.size === 0) {
      this.#look()
      this.#stopLooking = this.#env.every(lookMs, () => this.#tick())
    }
    this.#listeners.add(listener)
    // The next one who asks gets no view from before.
    this.#asked = undefined
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.#stopLooking()
    }
  }

  async #ask(): Promise<WatchedCluster> {
    const { members, owners } = this.#look()
    return { owners, members: await Promise.all(members.map(async (member) => {
      if (member.state === 'gone') return { ...member, details: undefined }
      const { id, address } = member
      const asked = this.#source.ask({ id, address }).catch(() => undefined)
      return { ...member, details: await atLatest(this.#env, answerMs, asked) }
    })) }
  }

  #tick(): void {
    this.#look()
    if (++this.#looks % looksPerLoad !== 0) return
    void this.now().then(({ members }) => {
      for (const { loaded } of this.#listeners) loaded(members)
    })
  }

  /** Compares the cluster with what was seen before. */
  #look(): ClusterView {
    const before = this.#view
    const status = this.#source.status()
    if (before !== undefined) this.#noteGone(before, status)
    const view = viewOf(status, this.#source.shards,
      [...this.#gone.values()].map(({ member }) => member))
    this.#view = view
    const events = before === undefined ? [] : eventsBetween(before, view)
    if (events.length > 0) { for (const { changed } of this.#listeners) changed(events) }
    return view
  }

  #noteGone({ members }: ClusterView, { member: self, view, leaving }: ClusterStatus): void {
    const nowMs = this.#env.monotonicMs()
    const present = new Set([self, ...view, ...leaving].map(({ id }) => id))
    for (const { id, address, state } of members) {
      if (present.has(id)) this.#gone.delete(id)
      else if (state !== 'gone') this.#gone.set(id, { member: { id, address }, sinceMs: nowMs })
    }
    for (const [id, { sinceMs }] of this.#gone) {
      if (nowMs - sinceMs > goneMs) this.#gone.delete(id)
    }
  }
}
