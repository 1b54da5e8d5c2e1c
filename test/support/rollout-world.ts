/**
 * A cluster that rolls out, in simulated time: members that crash, join and load slowly, lost
 * calls, a store that fails, several drivers at once. Every choice follows from the seed.
 */

import { driveRollouts, loadedSecretsOf, rolloutsOver } from '../../src/deployment/index.ts'
import type { Deployment, DeploymentChange, Prepared, PrepareRequest, RevisionTally, RolloutDriver,
  RolloutMembers, Rollouts } from '../../src/deployment/index.ts'
import { HeddleError } from '../../src/errors.ts'
import { Chance } from '../simulation/chance.ts'
import { virtualEnv } from './env.ts'
import { aDeployment, aRevision, keptRecords } from './rollout-records.ts'
import type { RolloutRecords } from './rollout-records.ts'

/** Runs of r4 fail, the process of r5 dies, and r3 cannot be loaded. */
export const revisionNames = ['r1', 'r2', 'r3', 'r4', 'r5', 'r6'] as const

/** A life of a member. */
interface LivingMember {
  readonly id: string
  isUp: boolean
  /** False once it was fenced: nobody waits for it any more. */
  inView: boolean
  /** What it has loaded, as `r2/0` with the version of the secrets. */
  readonly loaded: Set<string>
  /** What it knows of the deployment. */
  known: Deployment
  readonly tallies: Map<string, { ended: number; failed: number; deaths: number }>
  readonly driver: RolloutDriver
  readonly rollouts: Rollouts
  /** Another owner was found, which this one does not know until then. */
  ownsUntilMs: number
}

const phases = ['preparing', 'confirming', 'watching']
const [membersMin, membersMax] = [1, 5]
const refreshMs = 5_000
/** What may come on top of all deadlines: an owner is found and looks, and the store fails. */
const slackMs = 15_000

/** The world. `step` moves it on. */
export class RolloutWorld {
  readonly env = virtualEnv()
  readonly chance: Chance
  readonly members: LivingMember[] = []
  /** What broke the rules. */
  readonly violations: string[] = []
  /** How roll-outs ended. */
  readonly results: string[] = []
  /** False: nothing fails any more. */
  hasFaults = true
  readonly #kept
  /** Every revision that was ever pointed at. */
  readonly #pointed = new Set<string>(['r1'])
  readonly #ended = new Set<string>()
  /** Where the pointer went, in order. */
  readonly #moves: string[] = []
  #names = 0

  constructor(seed: number) {
    this.chance = new Chance(seed)
    this.#kept = keptRecords(aDeployment({ active: 'r1' }),
      revisionNames.map((name) =>
        aRevision(name, name === 'r1' ? { state: 'ready', activeAtMs: 1 } : {})
      ))
    for (let count = 0; count < 3; count++) this.join()
    this.#own(this.members[0]!)
  }

  get deployment(): Deployment {
    return this.#kept.deployment
  }

  get nowMs(): number {
    return this.env.monotonicMs()
  }

  /** Lets time pass, and all that is due happen. */
  async step(ms: number): Promise<void> {
    this.env.advance(ms)
    // What waits for no timer goes on until it waits for one.
    await new Promise<void>((done) => void setImmediate(done))
    this.#checkEnd()
  }

  join(): void {
    if (this.members.filter(({ isUp }) => isUp).length >= membersMax) return
    const id = `m${++this.#names}`
    const member: LivingMember = { id, isUp: true, inView: true, loaded: new Set(['r1/0']),
      known: this.deployment, tallies: new Map(), ownsUntilMs: 0,
      driver: driveRollouts({ deployments: this.#records(), members: this.#port(() => member),
        self: id, owns: () => member.ownsUntilMs > this.nowMs, env: this.env }),
      rollouts: rolloutsOver({ deployments: this.#records(), env: this.env, watch: () => () => {},
        secrets: { fixed: async (deployment) => loadedSecretsOf(deployment) ?? [] },
        wake: (name) => this.#port(() => member).wake(name) }) }
    // A member that joins has loaded nothing: it does so when a run needs it.
    if (this.members.length >= 3) member.loaded.clear()
    this.members.push(member)
    this.#everyWhileUp(member, 500, () => this.#run(member))
    this.#everyWhileUp(member, refreshMs, () => {
      member.driver.look()
      if (!this.#isLost()) member.known = this.deployment
    })
  }

  /** Ends a member, which is fenced a little later. */
  crash(): void {
    const up = this.members.filter(({ isUp }) => isUp)
    if (up.length <= membersMin) return
    const member = this.chance.pick(up)
    const isOwner = member.ownsUntilMs > this.nowMs
    member.isUp = false
    member.driver.close()
    this.env.after(this.chance.between(200, 3_000), () => {
      member.inView = false
      if (isOwner) this.moveOwner()
    })
  }

  /** Another member drives. The one before goes on for a while, as it does not know. */
  moveOwner(): void {
    const isFaulty = this.hasFaults && this.chance.flip(0.5)
    const untilMs = isFaulty ? this.nowMs + this.chance.between(0, 6_000) : this.nowMs
    for (const member of this.members) {
      member.ownsUntilMs = Math.min(member.ownsUntilMs, untilMs)
    }
    this.#own(this.chance.pick(this.members.filter(({ isUp }) => isUp)))
  }

  /** What was done and is not noted, or more than once. */
  unnoted(): readonly string[] {
    const { noted } = this.#kept
    const moves = noted.filter(({ kind }) => kind === 'pointer').map(({ data }) => moveOf(data))
    const ends = noted.filter(({ data }) => data['phase'] === 'ended')
      .map(({ data }) => String(data['rollout_id']))
    return [...moves.join() === this.#moves.join() ? [] : [`${moves.join()} was noted instead of ` +
      this.#moves.join()], ...ends.join() === [...this.#ended].join() ? [] : [`${ends.join()} ` +
      `ended by the events, and in truth ${[...this.#ended].join()}`]]
  }

  /** A caller of any member. */
  caller(): Rollouts {
    return this.chance.pick(this.members.filter(({ isUp }) => isUp)).rollouts
  }

  #own(member: LivingMember): void {
    member.ownsUntilMs = Number.POSITIVE_INFINITY
  }

  #everyWhileUp(member: LivingMember, ms: number, work: () => void): void {
    const stop = this.env.every(ms, () => member.isUp ? work() : stop())
  }

  #isLost(): boolean {
    return this.hasFaults && this.chance.flip(0.06)
  }

  #pause(lowMs: number, highMs: number): Promise<void> {
    return new Promise((done) => this.env.after(this.chance.between(lowMs, highMs), done))
  }

  /** A new run, on what the member knows. */
  #run(member: LivingMember): void {
    const { active, next } = member.known
    const revision = next !== null && this.chance.flip(next.percent / 100) ? next.revision : active!
    if (!this.#pointed.has(revision)) this.violations.push(`a run started on ${revision}`)
    const tally = this.#tallyOf(member, revision)
    if (revision === 'r5' && this.chance.flip(0.3)) tally.deaths++
    for (let runs = 0; runs < 4; runs++) {
      tally.ended++
      if (this.chance.flip(revision === 'r4' ? 0.9 : 0.02)) tally.failed++
    }
  }

  #tallyOf(member: LivingMember, revision: string) {
    const tally = member.tallies.get(revision) ?? { ended: 0, failed: 0, deaths: 0 }
    member.tallies.set(revision, tally)
    return tally
  }

  /** The store: it takes time, and may fail before or after it has done what it was asked. */
  #records(): RolloutRecords {
    const kept = this.#kept
    const stored = async <Result>(work: () => Promise<Result>): Promise<Result> => {
      await this.#pause(1, 80)
      if (this.#isLost()) throw new HeddleError('unavailable')
      const result = await work()
      await this.#pause(1, 80)
      if (this.#isLost()) throw new HeddleError('unavailable', undefined, { ambiguous: true })
      return result
    }
    return {
      get: (name) => stored(() => kept.get(name)),
      list: (query) => stored(() => kept.list(query)),
      revision: (...named) => stored(() => kept.revision(...named)),
      changeRevision: (...change) => stored(() => kept.changeRevision(...change)),
      missing: async () => [],
      note: (...event) => stored(() => kept.note(...event)),
      noteOwed: (...event) => stored(() => kept.noteOwed(...event)),
      settle: (deployment) => stored(() => kept.settle(deployment)),
      change: (before, change) => {
        const broken = this.#brokenBy(before, change)
        return stored(async () => {
          const replaced = kept.deployment
          const changed = await kept.change(before, change)
          this.#changed(replaced, changed, broken)
          return changed
        })
      },
    }
  }

  /** The rule: no pointer moves before every live member has loaded the revision. */
  #brokenBy({ rollout: before }: Deployment, { rollout }: DeploymentChange): readonly string[] {
    const moves = before?.phase === 'preparing' && rollout?.phase === 'confirming'
    if (!moves) return []
    const key = `${rollout.revision}/${rollout.envVersion}`
    return this.members.filter(({ inView, loaded }) => inView && !loaded.has(key))
      .map(({ id }) => `the pointer moved to ${key} before ${id} had loaded it`)
  }

  #changed(before: Deployment, { active, next, envVersion, lastRollout, rollout }: Deployment,
    broken: readonly string[]): void {
    this.violations.push(...broken)
    const isForward = before.rollout?.phase === 'preparing' && rollout?.phase === 'confirming'
    const isBack = lastRollout !== before.lastRollout && lastRollout?.result === 'rolled_back'
    if (isForward || isBack) {
      this.#moves.push(moveOf({ active, next, env_version: envVersion }))
    }
    if (active !== before.active) this.#pointed.add(active!)
    if (next !== null) this.#pointed.add(next.revision)
    if (active === 'r3' || next?.revision === 'r3') this.violations.push('r3 was pointed at')
    if (lastRollout !== null && lastRollout !== before.lastRollout) {
      if (this.#ended.has(lastRollout.id)) this.violations.push(`${lastRollout.id} ended twice`)
      this.#ended.add(lastRollout.id)
      this.results.push(`${lastRollout.kind} ${lastRollout.result}`)
    }
    if (rollout === null) return
    if (this.#ended.has(rollout.id)) this.violations.push(`${rollout.id} came back`)
    const isEarlier = rollout.id === before.rollout?.id &&
      phases.indexOf(rollout.phase) < phases.indexOf(before.rollout.phase)
    if (isEarlier) this.violations.push(`${rollout.id} went back to ${rollout.phase}`)
  }

  /** Every roll-out ends in time. */
  #checkEnd(): void {
    const { rollout } = this.deployment
    if (rollout === null) return
    const { id, startedAtMs, prepareMs, watchMs, phase } = rollout
    const limitMs = prepareMs + 2_000 + watchMs + slackMs
    if (this.env.nowMs() < startedAtMs + limitMs) return
    const violation = `${id} is still ${phase}`
    if (!this.violations.includes(violation)) this.violations.push(violation)
  }

  #port(caller: () => LivingMember): RolloutMembers {
    const call = <Result>(to: string, work: (member: LivingMember) => Promise<Result>) =>
      this.#call(caller(), this.members.find(({ id }) => id === to)!, work)
    return {
      live: () => this.members.filter(({ inView }) => inView).map(({ id }) => id),
      prepare: (to, options) => call(to, (member) => this.#prepare(member, options)),
      learn: (to) =>
        call(to, async (member) => {
          await this.#pause(1, 20)
          member.known = this.deployment
        }),
      tally: (to, { revision }) =>
        call(to, async (member): Promise<RevisionTally> => (
          { ...this.#tallyOf(member, revision) }
        )),
      wake: async (name) => {
        const owner = this.members.find(({ isUp, ownsUntilMs }) => isUp && ownsUntilMs > this.nowMs)
        if (owner === undefined) throw new HeddleError('unavailable')
        await this.#call(caller(), owner, async (member) => member.driver.look(name))
      },
    }
  }

  async #call<Result>(from: LivingMember, to: LivingMember,
    work: (member: LivingMember) => Promise<Result>): Promise<Result> {
    if (from !== to) await this.#pause(1, 50)
    if (!to.isUp || this.#isLost()) {
      await this.#pause(100, 15_000)
      throw new HeddleError('unavailable', 'It does not answer.')
    }
    const result = await work(to)
    if (from !== to) await this.#pause(1, 50)
    // What comes back to a member that has crashed, or is lost, is waited for in vain.
    if (!to.isUp || !from.isUp || this.#isLost()) await new Promise(() => {})
    return result
  }

  async #prepare(member: LivingMember,
    { revision, envVersion }: PrepareRequest): Promise<Prepared> {
    await this.#pause(50, this.hasFaults && this.chance.flip(0.05) ? 40_000 : 4_000)
    if (this.#isLost()) throw new HeddleError('unavailable', 'The store is away.')
    if (revision === 'r3' || this.hasFaults && this.chance.flip(0.02)) {
      return { kind: 'refused', reason: `${revision} does not compile.`, failures: [] }
    }
    member.loaded.add(`${revision}/${envVersion}`)
    return { kind: 'ready', ms: 1, graphs: [] }
  }
}

/** Where the pointer of a deployment stands, as text. */
function moveOf({ active, next, env_version: version }: Readonly<Record<string, unknown>>): string {
  const { revision = '', percent = '' } = (next ?? {}) as { revision?: string; percent?: number }
  return `${String(active)} ${revision}${percent} ${String(version)}`
}
