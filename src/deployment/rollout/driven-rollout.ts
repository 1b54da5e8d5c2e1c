/** Drives the roll-outs of one deployment: reads its record, decides, changes it, asks members. */

import { atLatest } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { ignoreNotFound, ignoreStale } from '../../errors.ts'
import type { Deployment } from '../deployment.ts'
import type { Deployments } from '../deployments.ts'
import type { Revision } from '../revision.ts'
import { decideRollout, restMs, silentMs } from './decide-rollout.ts'
import type { RolloutDecision } from './decide-rollout.ts'
import { MemberCalls } from './member-calls.ts'
import type { RolloutMembers } from './member-port.ts'
import { owedWith } from './owed-events.ts'
import type { Rollout, RolloutOutcome } from '../rollout.ts'

/** Records, members and ports with which a roll-out is driven. */
export interface DrivenRolloutParts {
  readonly deployments: Pick<Deployments,
    'get' | 'change' | 'revision' | 'changeRevision' | 'note' | 'noteOwed' | 'settle'>
  readonly members: RolloutMembers
  /** The id of this member. */
  readonly self: string
  /** True if this member owns the records. Two drivers at once do no harm. */
  owns(): boolean
  readonly env: Pick<Env, 'after' | 'nowMs' | 'monotonicMs' | 'log'>
  /** Report of a check, which is noted as an event. */
  readonly report?: (deployment: Deployment,
    revision: Revision) => Promise<Readonly<Record<string, unknown>>>
  /**
   * Makes the trial run of a revision on this member. Resolves with what was bad about it; null if
   * it was good. The run is cancelled when the signal aborts. Without it, none is made.
   */
  readonly tryOut?: (deployment: Deployment, revision: Revision,
    signal: AbortSignal) => Promise<string | null>
  /** Called with the outcome of each roll-out that was driven here. */
  readonly ended?: (outcome: RolloutOutcome) => void
  /** Called after each roll-out, to remove revisions that are not needed any more. */
  readonly retention?: (deployment: Deployment) => Promise<void>
}

/**
 * over   there is no roll-out any more
 * again  something is to be decided at once
 * rest   nothing is to be done until there is news, or time has passed
 */
type Step = { readonly kind: 'over' | 'again' } | { readonly kind: 'rest'; readonly ms: number }

/** Milliseconds after a failed read or write. */
const retryMs = 500
/**
 * Milliseconds that loading may outlast the roll-out, so that the roll-out ends first and its
 * result counts.
 */
const givenUpMs = 1_000

/**
 * The record is all that counts: what is kept here are calls under way, which another driver makes
 * again.
 */
export class DrivenRollout {
  readonly #parts: DrivenRolloutParts
  readonly #name: string
  readonly #ended: () => void
  #calls: { readonly id: string; readonly of: MemberCalls } | undefined
  #isRunning = false
  #isClosed = false
  #noting = Promise.resolve()
  /** Owed events up to this mark are noted. */
  #notedMark = 0
  /** True if news came since the last step began. */
  #isWanted = false
  #wake = Promise.withResolvers<void>()

  /** `ended` is called when it drives nothing more. */
  constructor(parts: DrivenRolloutParts, name: string, ended: () => void) {
    this.#parts = parts
    this.#name = name
    this.#ended = ended
  }

  /** Drives what is in the record, or looks at it again. */
  look(): void {
    this.#isWanted = true
    this.#wake.resolve()
    if (this.#isRunning) return
    this.#isRunning = true
    void this.#drive()
  }

  close(): void {
    this.#isClosed = true
    this.#wake.resolve()
  }

  async #drive(): Promise<void> {
    const { env, owns } = this.#parts
    while (!this.#isClosed && owns()) {
      this.#isWanted = false
      this.#wake = Promise.withResolvers()
      const step = await this.#step().catch((error: unknown): Step => {
        env.log.debug('A roll-out waits for the store.', { error, deployment: this.#name })
        return { kind: 'rest', ms: retryMs }
      })
      if (step.kind === 'over' && !this.#isWanted) break
      if (step.kind === 'rest') await atLatest(env, step.ms, this.#wake.promise)
    }
    this.#endCalls()
    // Nothing is awaited before this: a look that comes later starts anew.
    this.#ended()
  }

  async #step(): Promise<Step> {
    const { deployments, members, self, env } = this.#parts
    const deployment = await deployments.get(this.#name).catch(ignoreNotFound)
    const rollout = deployment?.rollout ?? null
    if (deployment === undefined || deployment.removing) return { kind: 'over' }
    if (rollout === null) return await this.#settled(deployment)
    const revision = await deployments.revision(deployment, rollout.revision).catch(ignoreNotFound)
    const calls = this.#callsOf(rollout, deployment, revision)
    // From here to the change nothing is awaited: a member that joined is not overlooked.
    const live = members.live()
    const news = calls.news(live)
    const nowMs = env.nowMs()
    const decision = decideRollout({ deployment, revision, live, self, nowMs }, news)
    if (decision.revisionFirst !== undefined && revision !== undefined) {
      await deployments.changeRevision(revision, decision.revisionFirst)
      return { kind: 'again' }
    }
    const changed = await this.#change(deployment, decision)
    if (changed === undefined) return { kind: 'again' }
    calls.drop(news)
    if (changed.rollout === null) this.#end(changed, decision)
    else calls.start(decision.effects)
    // In order, and beside everything: members are not kept waiting for what is only noted.
    this.#noting = this.#noting.then(() => this.#note(changed, rollout, revision, decision))
    if (changed.rollout === null) return { kind: 'again' }
    return { kind: 'rest', ms: restMs(changed.rollout, env.nowMs()) }
  }

  /** Notes the events of other drivers and settles the record, when no roll-out is under way. */
  async #settled(deployment: Deployment): Promise<Step> {
    const { deployments } = this.#parts
    this.#noting = this.#noting.then(() => this.#noteOwed(deployment))
    await this.#noting
    const last = deployment.owed.at(-1)
    if (last === undefined) return { kind: 'over' }
    if (last.mark > this.#notedMark) return { kind: 'rest', ms: retryMs }
    const isSettled = await deployments.settle(deployment).then(() => true, ignoreStale)
    return { kind: isSettled === true ? 'over' : 'again' }
  }

  /**
   * Makes the change; undefined if the record was changed meanwhile and the decision must be made
   * anew.
   */
  async #change(deployment: Deployment,
    { change, events }: RolloutDecision): Promise<Deployment | undefined> {
    if (change === undefined && events.length === 0) return deployment
    const owed = owedWith(deployment, events, this.#notedMark)
    return await this.#parts.deployments.change(deployment, { ...change, owed }).catch(ignoreStale)
  }

  /**
   * Notes events of the roll-out. Never throws: the record is true already, and keeps unnoted
   * events.
   */
  async #note(deployment: Deployment, rollout: Rollout, revision: Revision | undefined,
    { revisionChange }: RolloutDecision): Promise<void> {
    const { deployments, env, report } = this.#parts
    const { id, by } = rollout
    try {
      if (revisionChange !== undefined && revision !== undefined) {
        await deployments.changeRevision(revision, revisionChange)
      }
      await this.#noteOwed(deployment)
      const isChecked = rollout.kind === 'check' && deployment.lastRollout?.id === rollout.id
      if (!isChecked || deployment.lastRollout.result !== 'done' || revision === undefined) return
      const data = await report?.(deployment, revision)
      if (data !== undefined) await deployments.note(deployment.id, { kind: 'report', by, data })
    } catch (error) {
      env.log.warn('What a roll-out did cannot be noted.', { error, deployment: this.#name, id })
    }
  }

  /** Notes owed events. Never throws: the record keeps the events that cannot be noted now. */
  async #noteOwed({ id, name, owed }: Deployment): Promise<void> {
    const { deployments, env } = this.#parts
    try {
      for (const event of owed) {
        if (event.mark <= this.#notedMark) continue
        await deployments.noteOwed(id, event)
        this.#notedMark = event.mark
      }
    } catch (error) {
      env.log.debug('What a roll-out did is noted later.', { error, deployment: name })
    }
  }

  /** Begins the work after the end of a roll-out. Errors are logged: no caller waits for it. */
  #end(deployment: Deployment, { effects }: RolloutDecision): void {
    const { members, env, retention, ended } = this.#parts
    if (deployment.lastRollout !== null) ended?.(deployment.lastRollout)
    for (const { member } of effects) {
      members.learn(member, deployment.name).catch((error: unknown) =>
        env.log.debug('A member does not know yet how a roll-out ended.', { error, member })
      )
    }
    retention?.(deployment).catch((error: unknown) =>
      env.log.warn('Old revisions cannot be removed now.', { error, deployment: this.#name })
    )
  }

  #callsOf(rollout: Rollout, deployment: Deployment,
    revisionNow: Revision | undefined): MemberCalls {
    const { id, revision, envVersion, from, prepareMs, secrets, takesSecrets } = rollout
    if (this.#calls?.id === id) return this.#calls.of
    this.#endCalls()
    const { members, env, tryOut } = this.#parts
    const of = new MemberCalls({ members, env, from, silentMs: silentMs(rollout),
      tryOut: async (signal) =>
        tryOut === undefined || revisionNow === undefined
          ? null
          : await tryOut(deployment, revisionNow, signal),
      options: { deployment: this.#name, revision, envVersion, withinMs: prepareMs + givenUpMs,
        ...takesSecrets === true && secrets !== undefined && { secrets } },
      arrived: () => this.#arrived() })
    this.#calls = { id, of }
    return of
  }

  #endCalls(): void {
    this.#calls?.of.close()
    this.#calls = undefined
  }

  #arrived(): void {
    this.#isWanted = true
    this.#wake.resolve()
  }
}
