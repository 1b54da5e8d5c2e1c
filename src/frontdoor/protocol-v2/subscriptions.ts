/**
 * The subscriptions of one socket. All follow the thread together. A new one needs the past, so it
 * follows by itself until it has the same events as the others.
 */

import type { ThreadEvent, ThreadEventListener } from '../../thread/index.ts'
import type { EventFilter } from '../../api/index.ts'
import { ProtocolError } from './envelope.ts'
import { eventTest, filterCharactersMax } from './event-filter.ts'
import type { EventTest } from './event-filter.ts'

/** Subscriptions of one socket. A page of many subagents has a few for each. */
const subscriptionsMax = 200

/** Parts that the subscriptions of a socket need: the thread's events, and the client. */
export interface SubscriptionParts {
  follow(afterSeq: number | null, listener: ThreadEventListener): Promise<() => void>
  /** Called with events that pass at least one subscription. */
  send(events: readonly ThreadEvent[]): void
  /** Resolves when the client takes more; undefined if it does now. */
  ready(): Promise<void> | undefined
  /** Called when the events cannot be followed any more. */
  lost(): void
}

interface Subscription {
  readonly passes: EventTest
  readonly characters: number
}

/** One way through the events of the thread. */
interface Follow {
  readonly subscriptions: Set<Subscription>
  /** `seq` of the last event that it delivered, or after which it began. */
  seq: number
  /** Events that came before it began; undefined since. */
  early: ThreadEvent[][] | undefined
  stopped: boolean
  stop(): void
}

/** The subscriptions of one socket, which owns them. */
export class Subscriptions {
  readonly #parts: SubscriptionParts
  readonly #byId = new Map<string, Subscription>()
  readonly #follows = new Set<Follow>()
  /** Those that join a follow at the next `begin`, and after which event. */
  #joining: (readonly [Subscription, after: number | null])[] = []
  #characters = 0
  #closed = false

  constructor(parts: SubscriptionParts) {
    this.#parts = parts
  }

  /**
   * Adds a subscription, whose events come after the next `begin`. Resolves with the number of
   * events of its past that have come by then: more may come of a past that the log has.
   */
  async add(id: string, filter: EventFilter): Promise<number> {
    const subscription = { passes: eventTest(filter), characters: JSON.stringify(filter).length }
    this.#hold(id, subscription)
    const after = filter.since ?? null
    try {
      return await this.#place(subscription, after)
    } catch (error) {
      this.remove(id)
      throw error
    }
  }

  /**
   * Sends the events of those that were added since. What began together and after the same event
   * gets them in the order of the thread: a client takes the end of a run for the last of it.
   */
  begin(): void {
    for (const [subscription, after] of this.#joining.splice(0)) {
      if (this.#isHeld(subscription)) this.#join(subscription, after)
    }
    for (const follow of [...this.#follows]) this.#deliverEarly(follow)
  }

  /** Throws `no_such_subscription`. */
  remove(id: string): void {
    const subscription = this.#byId.get(id)
    if (subscription === undefined) {
      throw new ProtocolError('no_such_subscription', `There is no subscription ${id}.`)
    }
    this.#byId.delete(id)
    this.#characters -= subscription.characters
    for (const follow of this.#follows) {
      follow.subscriptions.delete(subscription)
      if (follow.subscriptions.size === 0) this.#stop(follow)
    }
  }

  close(): void {
    this.#closed = true
    for (const follow of this.#follows) this.#stop(follow)
  }

  #hold(id: string, subscription: Subscription): void {
    if (this.#byId.size >= subscriptionsMax) {
      throw new ProtocolError('invalid_argument', `A socket may have ${subscriptionsMax} ` +
        'subscriptions at a time: unsubscribe from some.')
    }
    if (this.#characters + subscription.characters > filterCharactersMax) {
      throw new ProtocolError('invalid_argument', 'The filters of a socket may have ' +
        `${filterCharactersMax / 1024} KB of JSON in all.`)
    }
    this.#byId.set(id, subscription)
    this.#characters += subscription.characters
  }

  /** Resolves with the number of events that wait for the subscription. */
  async #place(subscription: Subscription, after: number | null): Promise<number> {
    const level = this.#followAt(after)
    if (level !== undefined && level.early === undefined) {
      this.#joining.push([subscription, after])
      return 0
    }
    level?.subscriptions.add(subscription)
    const { early = [] } = level ?? await this.#follow(new Set([subscription]), after)
    return early.flat().filter(subscription.passes).length
  }

  #followAt(after: number | null): Follow | undefined {
    return [...this.#follows].find(({ seq }) => seq === (after ?? -1))
  }

  #isHeld(subscription: Subscription): boolean {
    return !this.#closed && [...this.#byId.values()].includes(subscription)
  }

  /** Adds a subscription to a follow that is where it begins. */
  #join(subscription: Subscription, after: number | null): void {
    const follow = this.#followAt(after)
    if (follow !== undefined) follow.subscriptions.add(subscription)
    else {
      this.#follow(new Set([subscription]), after)
        .then((made) => this.#deliverEarly(made), () => this.#lose())
    }
  }

  async #follow(subscriptions: Set<Subscription>, after: number | null): Promise<Follow> {
    const follow: Follow = { subscriptions, seq: after ?? -1, early: [], stopped: false,
      stop: () => {} }
    this.#follows.add(follow)
    try {
      const stop = await this.#parts.follow(after, this.#listener(follow))
      follow.stop = stop
      if (follow.stopped) stop()
    } catch (error) {
      this.#stop(follow)
      throw error
    }
    return follow
  }

  #deliverEarly(follow: Follow): void {
    const { early = [] } = follow
    follow.early = undefined
    for (const batch of early) this.#deliver(follow, batch)
  }

  #listener(follow: Follow): ThreadEventListener {
    return {
      events: (batch) => {
        if (follow.early !== undefined) follow.early.push([...batch])
        else this.#deliver(follow, batch)
      },
      ready: () => this.#parts.ready(),
      ended: () => {
        if (!follow.stopped) this.#lose()
      },
    }
  }

  #deliver(follow: Follow, batch: readonly ThreadEvent[]): void {
    const events: ThreadEvent[] = []
    for (const event of batch) {
      if (follow.stopped) break
      this.#absorb(follow, event.seq)
      follow.seq = event.seq
      for (const { passes } of follow.subscriptions) {
        if (!passes(event)) continue
        events.push(event)
        break
      }
    }
    this.#parts.send(events)
  }

  /**
   * Takes over the subscriptions of follows that have delivered what this one has, and not the
   * event that comes next.
   */
  #absorb(follow: Follow, next: number): void {
    if (this.#follows.size === 1) return
    for (const other of this.#follows) {
      const isLevel = follow.seq <= other.seq && other.seq < next
      if (other === follow || other.early !== undefined || !isLevel) continue
      for (const each of other.subscriptions) follow.subscriptions.add(each)
      this.#stop(other)
    }
  }

  #stop(follow: Follow): void {
    follow.stopped = true
    this.#follows.delete(follow)
    follow.stop()
  }

  #lose(): void {
    if (!this.#closed) this.#parts.lost()
  }
}
