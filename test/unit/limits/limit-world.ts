/** Front doors and one counter in virtual time; messages between them are slow or lost. */

import type { Actor } from '../../../cluster/index.ts'
import { HeddleError } from '../../../src/errors.ts'
import { counterRules, limitActorKey, limitKind, LiveCounters } from '../../../src/limits/index.ts'
import type { LimitAdmit, LimitKey, LimitTable } from '../../../src/limits/index.ts'
import { LimitClients } from '../../../src/limits/limit-clients.ts'
import type { ChargedLimit, RateLimit } from '../../../src/limits/limit-rows.ts'
import { virtualEnv } from '../../support/env.ts'
import type { VirtualEnv } from '../../support/env.ts'

/** When an admitted request was sent, and when it learned that it is admitted. */
export interface Admitted {
  readonly sentMs: number
  readonly lastSeenMs: number
}

export const aRow: RateLimit = {
  name: 'tested',
  match: '',
  identity: 'IP',
  category: 'Tested',
  rank: 1,
  onOutage: 'allow',
  durable: false,
  count: 100,
  intervalMs: 10_000,
}

export class LimitWorld {
  readonly env: VirtualEnv = virtualEnv()
  readonly doors: readonly LimitClients[]
  readonly admitted: Admitted[] = []
  readonly refusals: number[] = []
  readonly failures: unknown[] = []
  readonly table = new LimitTableTwin()
  readonly limit: ChargedLimit
  readonly subject: string
  /** Where the counter is found. */
  live = new LiveCounters()
  /** How many questions the counter got. */
  asked = 0
  /** The latency from a door to the counter, and the same back. */
  wayMs = 0
  /** How long the table takes to store an admission. */
  writeMs = 0
  /** The counter is unreachable. */
  cut = false
  /** Doors that are dead do not tell what they admitted. */
  readonly gone = new Set<LimitClients>()
  #actor: Promise<Actor> | undefined
  /** How far the clock of the counter is ahead. */
  #aheadMs = 0

  constructor(limit: Partial<RateLimit> = {}, doors = 3, subject = 'somebody') {
    this.limit = { ...aRow, ...limit }
    this.subject = subject
    this.doors = Array.from({ length: doors }, () =>
      new LimitClients({
        env: this.env,
        doors: () => doors,
        router: { ask: (_, command) => this.#brought(command) },
      }))
  }

  /** One request, through one of the doors. */
  request(door: number): void {
    const sentMs = this.env.monotonicMs()
    Promise.resolve().then(() => this.doors[door]!.charge(this.limit, this.subject)).then(
      (verdict) => {
        if (verdict.admitted) this.admitted.push({ sentMs, lastSeenMs: this.env.monotonicMs() })
        else this.refusals.push(verdict.waitMs)
      },
      (error: unknown) => this.failures.push(error),
    )
  }

  /** Moves the clock in small steps, so that all promises continue. */
  async pass(ms: number, stepMs = 1): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      this.env.advance(stepMs)
      await settled()
    }
    await settled()
  }

  /** The counter is lost with its owner; the next question makes a new one. */
  failOver(aheadMs = 0): void {
    this.#actor = undefined
    this.live = new LiveCounters()
    this.#aheadMs = aheadMs
  }

  async #brought(command: unknown): Promise<unknown> {
    if (this.cut) throw new HeddleError('unavailable')
    await this.#onTheWay()
    this.asked++
    this.#actor ??= this.#newActor()
    const actor = await this.#actor
    const { reply } = await actor.receive(command)
    const said = await reply
    await this.#onTheWay()
    // As a reply that crosses to another member.
    return JSON.parse(JSON.stringify(said)) as unknown
  }

  async #onTheWay(ms = this.wayMs): Promise<void> {
    if (ms > 0) await new Promise<void>((there) => this.env.after(ms, there))
  }

  async #newActor(): Promise<Actor> {
    const { env, table } = this
    const aheadMs = this.#aheadMs
    const kind = limitKind({
      env: { ...env, nowMs: () => env.nowMs() + aheadMs },
      table: {
        append: async (key, admit) => {
          await this.#onTheWay(this.writeMs)
          await table.append(key, admit)
        },
        since: (key, sinceMs) => table.since(key, sinceMs),
      },
      live: this.live,
      ruleOf: counterRules([this.limit]),
      askDoors: async (question) =>
        this.doors.map((door) => this.gone.has(door) ? undefined : door.recent(question)),
    })
    const key = limitActorKey({ row: this.limit.name, who: this.subject })
    const actor = kind.create({ key, epoch: 1, notify: () => {}, sleep: () => {}, fail: () => {} })
    await actor.activate()
    return actor
  }
}

export class LimitTableTwin implements LimitTable {
  readonly rows: LimitAdmit[] = []
  failing = false

  async append(_key: LimitKey, admit: LimitAdmit): Promise<void> {
    if (this.failing) throw new HeddleError('unavailable')
    this.rows.push(admit)
  }

  async since(_key: LimitKey, sinceMs: number): Promise<readonly LimitAdmit[]> {
    return this.rows.filter(({ atMs }) => atMs >= sinceMs)
  }
}

/** The largest number of requests that were both sent and admitted within one window. */
export function mostWithin(windowMs: number, admitted: readonly Admitted[]): number {
  const bySent = admitted.toSorted((a, b) => a.sentMs - b.sentMs)
  return Math.max(0, ...bySent.map(({ sentMs }, index) =>
    bySent.slice(index)
      .filter(({ lastSeenMs }) => lastSeenMs <= sentMs + windowMs).length
  ))
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 12; turn++) await Promise.resolve()
}
