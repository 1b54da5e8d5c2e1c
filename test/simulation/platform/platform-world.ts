/**
 * A model of what clients and people do with the platform, in random order: after each step, what
 * was deleted is readable nowhere, and all the rest is there. The model knows only what each step
 * was meant to do.
 */

import { Chance } from '../chance.ts'
import { dataDirectory, memoryKeyspace } from './house-store.ts'
import { FeedbackActions } from './feedback-actions.ts'
import { LifeActions } from './life-actions.ts'
import { PlatformChecks } from './platform-checks.ts'
import { PlatformHouse } from './platform-house.ts'
import { PlatformModel } from './platform-model.ts'
import type { StoreTraits } from './platform-model.ts'
import type { PlatformRule } from './platform-rule.ts'
import { RecordActions } from './record-actions.ts'
import { TraceActions } from './trace-actions.ts'

/** What a sequence has found, and its steps. */
export interface PlatformOutcome {
  readonly findings: readonly string[]
  readonly trace: readonly string[]
  readonly steps: number
}

/** Actions that are drawn more often: most others need what they make, or end what they make. */
const [makers, lives] = [['ingest', 'own run', 'handoff'], ['tier', 'days', 'recording',
  'clock ahead']] as const
/** Bytes that the tenant of some sequences may have: a few traces. */
const tenantBytes = 1_500

/** A store under the platform. */
export type StoreKind = 'embedded' | 'Cassandra'

/** Simulates the sequence of a seed, without one of the rules if it is named. */
export async function simulatePlatform(seed: number, steps: number, kind: StoreKind = 'embedded',
  without?: PlatformRule): Promise<PlatformOutcome> {
  const hasQuota = kind === 'embedded' && seed % 3 === 0
  const store = kind === 'Cassandra'
    ? memoryKeyspace()
    : dataDirectory(hasQuota ? tenantBytes : Infinity)
  const traits = { hasQuota, hasOwnEnds: kind === 'Cassandra' }
  const world = new PlatformWorld(new Chance(seed), new PlatformHouse(store, without), traits)
  try {
    if (!hasQuota && seed % 10 === 0) await world.fill()
    return await world.live(steps)
  } finally {
    await world.end()
  }
}

class PlatformWorld {
  readonly #chance: Chance
  readonly #house: PlatformHouse
  readonly #checks: PlatformChecks
  readonly #findings: string[] = []
  readonly #trace: string[] = []
  readonly #traces: TraceActions
  readonly #lives: LifeActions
  readonly #actions: Readonly<Record<string, () => Promise<void>>>

  constructor(chance: Chance, house: PlatformHouse, traits: StoreTraits) {
    this.#chance = chance
    this.#house = house
    const model = new PlatformModel(chance, traits)
    const checks = this.#checks = new PlatformChecks(house, model, this.#findings)
    const parts = { chance, house, model, checks }
    this.#traces = new TraceActions(parts)
    this.#lives = new LifeActions(parts)
    this.#actions = {
      ...this.#traces.all,
      ...new RecordActions(parts).all,
      ...new FeedbackActions(parts).all,
      ...this.#lives.all,
      restart: () => house.restart(),
    }
  }

  /** Stores many spans that live for long: all others are behind them in the order of arrival. */
  async fill(): Promise<void> {
    const project = await this.#traces.fill()
    await this.#checks.check()
    await this.#lives.setTier(project, true)
  }

  async live(steps: number): Promise<PlatformOutcome> {
    let step = 0
    for (; step < steps && this.#findings.length === 0; step++) {
      const kind = this.#chance.number()
      const action = this.#chance.pick(
        kind < 0.3 ? makers : kind < 0.4 ? lives : Object.keys(this.#actions),
      )
      this.#trace.push(action)
      await this.#actions[action]!()
      await this.#house.pass(2)
      await this.#checks.check()
    }
    if (this.#findings.length === 0) await this.#checks.checkJudged()
    if (this.#findings.length === 0) await this.#checks.checkDisk()
    if (this.#findings.length === 0) await this.#lives.endAll()
    if (this.#findings.length === 0) await this.#checks.checkDisk()
    return { findings: this.#findings, trace: this.#trace, steps: step }
  }

  end(): Promise<void> {
    return this.#house.end()
  }
}
