/**
 * The actors that live in this process: found by key, made on demand, released when idle.
 *
 * Their number is bounded. At the bound the least recently used one makes room; if all are
 * occupied, the newcomer is answered `full`.
 */

import { asCoded, assert, ClusterError, goingAway } from '../errors.ts'
import type { CodedError } from '../errors.ts'
import { Backoff } from '../flow/backoff.ts'
import { throttleLog } from '../flow/throttle-log.ts'
import type { OwnershipCheck } from '../membership/ownership-check.ts'
import type { Env } from '../runtime/env.ts'
import { Activation } from './activation.ts'
import { actorKeyText } from './actor-key.ts'
import type { ActorKey } from './actor-key.ts'
import type { ActorKind } from './actor.ts'
import type { Operation, Envelope } from './mailbox.ts'
import { ReplyFence } from './reply-fence.ts'

/** The kinds of actors that a table hosts, and its limits. */
export interface ActivationTableOptions {
  readonly env: Env
  readonly kinds: readonly ActorKind[]
  /** Every reply passes it; without an ownership check, replies leave at once. */
  readonly check?: OwnershipCheck
  /** True if an actor may live here under that epoch; without it, all may. */
  readonly owns?: (key: ActorKey, epoch: number) => boolean
  /** An actor that was not used for this long is released: 10 minutes by default. */
  readonly idleMs?: number
  /** Actors that may be alive at once: 100 000 by default. */
  readonly limit?: number
  /** Commands that may wait for one actor: 1 024 by default. */
  readonly mailboxBound?: number
}

/** Counts of the actors of one kind in this process. */
export interface ActivationStats {
  /** Including those that activate or passivate. */
  alive: number
  /** Lives begun since the process started, and how many of them failed. */
  begun: number
  failed: number
  /** Commands that wait for their turn, in all mailboxes and in the fullest. */
  waiting: number
  fullest: number
}

/** Pause between a failure with work under way and the next life; it grows with each failure. */
const revival = { firstMs: 1_000, longestMs: 4_000 }

/** Without a store, or room, actors fail again and again: one line in this time reports all. */
const awayMs = 10_000

/** Occupied actors that are looked at before a newcomer is refused. */
const looksForRoom = 64

/** Looks for idle actors in each span of `idleMs`; one timer makes them for all. */
const looksPerIdleSpan = 10

/** Finds or makes the actor of a key, and hands it what is asked. */
export class ActivationTable {
  readonly #options: Required<Omit<ActivationTableOptions, 'kinds' | 'check'>>
  readonly #kinds: ReadonlyMap<string, ActorKind>
  /** By key text, the least recently used first. */
  readonly #table = new Map<string, Activation>()
  readonly #fence: ReplyFence | undefined
  readonly #stopTimer: () => void
  /** By kind. */
  readonly #lives: ReadonlyMap<string, Pick<ActivationStats, 'begun' | 'failed'>>
  /** Reports failures that are not the actor's own. */
  readonly #whileAway: ReturnType<typeof throttleLog>
  #closed = false

  constructor({ kinds, check, ...options }: ActivationTableOptions) {
    const { env, owns = () => true, idleMs = 600_000, limit = 100_000, mailboxBound = 1_024 } =
      options
    this.#options = { env, owns, idleMs, limit, mailboxBound }
    this.#whileAway = throttleLog(env, awayMs)
    this.#kinds = new Map(kinds.map((kind) => [kind.name, kind]))
    this.#lives = new Map(kinds.map(({ name }) => [name, { begun: 0, failed: 0 }]))
    this.#fence = check && new ReplyFence(env, check)
    this.#stopTimer = env.every(idleMs / looksPerIdleSpan, () => this.#letIdleGo())
  }

  /** Count of living actors, including those that activate or passivate. */
  get size(): number {
    return this.#table.size
  }

  /** By kind; counted on demand. */
  stats(): ReadonlyMap<string, Readonly<ActivationStats>> {
    const stats = new Map<string, ActivationStats>(
      [...this.#lives].map((
        [kind, lives],
      ) => [kind, { ...lives, alive: 0, waiting: 0, fullest: 0 }]),
    )
    for (const { key, waiting } of this.#table.values()) {
      const counts = stats.get(key.kind)!
      counts.alive++
      counts.waiting += waiting
      counts.fullest = Math.max(counts.fullest, waiting)
    }
    return stats
  }

  /** True if the actor is in memory. It is not activated for this. */
  has(key: ActorKey): boolean {
    return this.#table.has(actorKeyText(key))
  }

  /**
   * The actor's reply. An actor that does not live yet is activated under this epoch. `id` is the
   * same for each try of one command. `cancelled` aborts when the caller has gone.
   * Throws `not_owner` if the actor may not live here any more.
   */
  ask(key: ActorKey, epoch: number, command: unknown, id?: string,
    cancelled?: AbortSignal): Promise<unknown> {
    return this.#reply(key, epoch, (actor) => actor.receive(command, id, cancelled))
  }

  /** Lets the actor tell `listener` until the returned function is called. Throws as `ask` does. */
  async follow(key: ActorKey, epoch: number, request: unknown,
    listener: unknown): Promise<() => void> {
    let stop: (() => void) | undefined
    try {
      await this.#reply(key, epoch, async (actor) => {
        if (actor.follow === undefined) {
          throw new ClusterError('unsupported', `There is nothing to follow of a ${key.kind}.`)
        }
        stop = await actor.follow(request, listener)
        return { reply: undefined, kind: 'read' }
      })
      return stop!
    } catch (error) {
      stop?.()
      throw error
    }
  }

  /** Activates the actor, so that it continues what is in progress. Resolves when it is active. */
  async wake(key: ActorKey, epoch: number): Promise<void> {
    await this.#post(key, epoch, () => ({ reply: undefined }))
  }

  /** The keys of the actors in which something is in progress. */
  occupied(): ActorKey[] {
    return [...this.#table.values()].filter(({ occupied }) => occupied).map(({ key }) => key)
  }

  /**
   * Releases all actors that belong to a group; envelopes for an actor that may not live here any
   * more are answered `not_owner`. The result has, for each group with any actor here, a promise
   * that resolves when all of them have gone, with the keys of those in which something went on.
   */
  release<Group>(groupOf: (key: ActorKey) => Group | undefined,
    deadline: AbortSignal): ReadonlyMap<Group, Promise<ActorKey[]>> {
    const going = new Map<Group, { readonly gone: Promise<void>[]; readonly busy: ActorKey[] }>()
    for (const activation of this.#table.values()) {
      const group = groupOf(activation.key)
      if (group === undefined) continue
      const { gone, busy } = going.get(group) ?? { gone: [], busy: [] }
      going.set(group, { gone, busy })
      if (activation.occupied) busy.push(activation.key)
      gone.push(activation.passivate(deadline))
    }
    return new Map(
      [...going].map(([group, { gone, busy }]) => [group, Promise.all(gone).then(() => busy)]),
    )
  }

  /** Releases all; every request from now on is answered `unavailable`. */
  async close(deadline: AbortSignal): Promise<void> {
    this.#closed = true
    this.#stopTimer()
    await Promise.all([...this.#table.values()].map((one) => one.passivate(deadline)))
  }

  #reply(key: ActorKey, epoch: number, operation: Operation): Promise<unknown> {
    if (this.#fence === undefined) return this.#post(key, epoch, operation)
    return this.#fence.reply(operation, (checked) => this.#post(key, epoch, checked))
  }

  #post(key: ActorKey, epoch: number, operation: Operation): Promise<unknown> {
    const text = actorKeyText(key)
    let activation = this.#table.get(text)
    if (activation === undefined) {
      const refusal = this.#refusal(key, epoch)
      if (refusal !== undefined) return Promise.reject(refusal)
      activation = this.#activate(text, key, epoch, [])
    } else if (this.#closed) return Promise.reject(goingAway())
    this.#touch(text, activation)
    return activation.post(operation)
  }

  /** Reason to refuse a newcomer; undefined if there is room, or room was made. */
  #refusal(key: ActorKey, epoch: number): CodedError | undefined {
    if (this.#closed) return goingAway()
    if (!this.#options.owns(key, epoch)) return new ClusterError('not_owner')
    if (this.#table.size < this.#options.limit || this.#makeRoom()) return undefined
    return new ClusterError('full', 'As many actors as may live here are occupied; try later.')
  }

  #activate(text: string, key: ActorKey, epoch: number,
    envelopes: readonly Envelope[]): Activation {
    const kind = this.#kinds.get(key.kind)
    assert(kind !== undefined, `somebody hosts actors of kind ${key.kind}`)
    const lives = this.#lives.get(key.kind)!
    lives.begun++
    return new Activation({
      kind,
      key,
      epoch,
      envelopes,
      log: this.#options.env.log,
      mailboxBound: this.#options.mailboxBound,
      failed: (error) => {
        lives.failed++
        this.#reportFailure(key, error)
      },
      ended: (waiting, broken) => {
        this.#table.delete(text)
        if (this.#closed) { for (const envelope of waiting) envelope.reject(goingAway()) }
        else if (!this.#options.owns(key, epoch)) {
          for (const envelope of waiting) envelope.reject(new ClusterError('not_owner'))
        } else {
          // If the next life fails too, those that wait now may not ask again.
          if (broken) this.#revive(key, epoch)
          if (waiting.length > 0) this.#touch(text, this.#activate(text, key, epoch, waiting))
        }
      },
    })
  }

  #reportFailure(key: ActorKey, error: unknown): void {
    const report = (omitted: number) =>
      this.#options.env.log.warn(
        'An actor failed; the next command activates it again.',
        { key, error, ...omitted > 0 && { omitted } },
      )
    const { code } = asCoded(error)
    if (code === 'unavailable' || code === 'full') this.#whileAway(report)
    else report(0)
  }

  /** Activates an actor again that failed with work under way: no command may ever do so. */
  #revive(key: ActorKey, epoch: number, backoff = new Backoff(this.#options.env, revival)): void {
    this.#options.env.after(backoff.nextMs(), () => {
      if (this.#closed || !this.#options.owns(key, epoch)) return
      this.wake(key, epoch).catch(() => this.#revive(key, epoch, backoff))
    })
  }

  #makeRoom(): boolean {
    let looks = 0
    for (const [text, activation] of this.#table) {
      if (!activation.occupied) {
        this.#release(activation)
        return true
      }
      if (++looks === looksForRoom) return false
      this.#touch(text, activation)
    }
    return false
  }

  #letIdleGo(): void {
    const idleSinceMs = this.#options.env.monotonicMs() - this.#options.idleMs
    for (const [text, activation] of this.#table) {
      if (activation.usedMs > idleSinceMs) return
      if (activation.occupied) this.#touch(text, activation)
      else this.#release(activation)
    }
  }

  #release(activation: Activation): void {
    const noHurry = new AbortController().signal
    void activation.passivate(noHurry)
  }

  /** A command counts as use, and so does being found occupied. */
  #touch(text: string, activation: Activation): void {
    activation.usedMs = this.#options.env.monotonicMs()
    this.#table.delete(text)
    this.#table.set(text, activation)
  }
}
