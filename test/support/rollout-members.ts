/** Members whose answers a test gives, and roll-outs that are driven over them in virtual time. */

import { driveRollouts, loadedSecretsOf, rolloutsOver } from '../../src/deployment/index.ts'
import type { Deployment, Prepared, RevisionTally, RolloutDriver, RolloutDriverParts,
  RolloutMembers, Rollouts, SecretSet } from '../../src/deployment/index.ts'
import { virtualEnv } from './env.ts'
import { aDeployment, aRevision, keptRecords } from './rollout-records.ts'

/** A call that a member has not answered. */
export interface OpenCall {
  /** As `prepare b r2/0`. */
  readonly name: string
  answer(value?: Prepared | RevisionTally): void
  fail(message: string): void
}

/** A revision that was loaded. */
export const ready: Prepared = { kind: 'ready', ms: 7, graphs: [] }

/** Members a, which drives, b and c; r1 is active and r2 is uploaded. */
export class ScriptedCluster {
  readonly env = virtualEnv()
  readonly records
  readonly calls: OpenCall[] = []
  /** The secrets that member a was asked to load. */
  readonly secrets: (SecretSet | undefined)[] = []
  live = ['a', 'b', 'c']
  owns = true
  readonly members: RolloutMembers = {
    live: () => this.live,
    prepare: (member, { revision, envVersion, secrets }) => {
      if (member === 'a') this.secrets.push(secrets)
      return this.#call(`prepare ${member} ${revision}/${envVersion}`)
    },
    learn: (member) => this.#call(`learn ${member}`),
    tally: (member, { revision }) => this.#call(`tally ${member} ${revision}`),
    wake: async (name) => this.driver.look(name),
  }
  readonly driver: RolloutDriver
  readonly rollouts: Rollouts

  constructor(before: Partial<Deployment> = {}, more: Partial<RolloutDriverParts> = {}) {
    this.records = keptRecords(aDeployment({ active: 'r1', ...before }), [
      aRevision('r1', { state: 'ready', activeAtMs: 1 }),
      aRevision('r2'),
    ])
    this.driver = this.another('a', more)
    this.rollouts = rolloutsOver({ deployments: this.records, env: this.env,
      secrets: { fixed: async (deployment) => loadedSecretsOf(deployment) ?? [] },
      wake: (name) => this.members.wake(name), watch: () => () => {} })
  }

  /** Another driver over the same records. */
  another(self: string, more: Partial<RolloutDriverParts> = {}): RolloutDriver {
    return driveRollouts({ deployments: this.records, members: this.members, self, env: this.env,
      owns: () => this.owns, ...more })
  }

  /** Lets time pass; what is due happens. */
  async pass(ms = 0): Promise<void> {
    for (let left = ms;;) {
      const now = Math.min(left, 500)
      this.env.advance(now)
      await new Promise<void>((done) => void setImmediate(done))
      left -= now
      if (left <= 0) return
    }
  }

  /** The names of the calls that are open. */
  get open(): string[] {
    return this.calls.map(({ name }) => name)
  }

  /** Answers an open call. */
  async answer(name: string, value?: Prepared | RevisionTally): Promise<void> {
    this.#take(name).answer(value)
    await this.pass()
  }

  async fail(name: string, message: string): Promise<void> {
    this.#take(name).fail(message)
    await this.pass()
  }

  /** All members load r2, and confirm. */
  async roll(version = 0): Promise<void> {
    for (const member of this.live) await this.answer(`prepare ${member} r2/${version}`, ready)
    for (const member of this.live) await this.answer(`learn ${member}`)
  }

  #take(name: string): OpenCall {
    const index = this.calls.findIndex((call) => call.name === name)
    if (index === -1) throw new Error(`${name} is not open: ${this.open.join(', ')}`)
    return this.calls.splice(index, 1)[0]!
  }

  #call<Value>(name: string): Promise<Value> {
    const { promise, resolve, reject } = Promise.withResolvers<Value>()
    this.calls.push({ name, answer: (value) => resolve(value as Value),
      fail: (message) => reject(new Error(message)) })
    return promise
  }
}
