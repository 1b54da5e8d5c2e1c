/** Begins roll-outs for callers, and waits until they have moved the pointer or ended. */

import { atLatest } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import type { Deployment, DeploymentChange } from '../deployment.ts'
import type { Deployments, DeploymentSecrets } from '../deployments.ts'
import type { SecretSet } from '../secret-set.ts'
import { begunRollout } from './begin-rollout.ts'
import type { BeginRequest } from './begin-rollout.ts'
import { confirmMs } from './decide-rollout.ts'
import { owedWith } from './owed-events.ts'
import { endEvent, phaseEvent } from './rollout-events.ts'
import type { Rollout, RolloutKind, RolloutOutcome } from '../rollout.ts'

/** Request of a caller for a roll-out. Times are milliseconds. */
export interface RolloutRequest
  extends
    Pick<BeginRequest, 'by' | 'message' | 'percent' | 'now' | 'expect' | 'watchMs' | 'prepareMs'> {
  /** False to answer as soon as the roll-out has begun. */
  readonly wait?: boolean
}

/** Progress of a roll-out when its caller is answered. */
export interface Activated {
  readonly deployment: Deployment
  /** The roll-out as it began, as it is watching now, or as it ended. */
  readonly rollout: Rollout | RolloutOutcome
  /** Milliseconds from the move of the pointer to the last confirmation; 0 if it did not move. */
  readonly pointerMs: number
}

/**
 * Roll-outs of deployments, by name. They throw `not_found`, `stale` while another is under way,
 * and `not_ready` if the revision cannot be loaded, or a member did not load it in time;
 * `graph_failed`, with `graphs` among its details, if a member refused it. With an error, the
 * pointer stands.
 */
export interface Rollouts {
  /** Loads a revision on one member. */
  check(deployment: string, revision: string, options: RolloutRequest): Promise<Activated>
  /** Activates a revision. Throws `invalid` as well, for a share outside of 1 to 100. */
  activate(deployment: string, revision: string, options: RolloutRequest): Promise<Activated>
  /**
   * Ends the share of another revision, or else goes back to the named revision or the previous
   * one; `not_ready` if there is none.
   */
  rollback(deployment: string,
    options: RolloutRequest & { readonly to?: string }): Promise<Activated>
  /**
   * Loads the active revision with changed secrets, and with those that are kept. They count when
   * all members have loaded them. `not_ready` if no revision is active.
   */
  loadSecrets(deployment: string,
    options: RolloutRequest & { readonly change: SecretSet }): Promise<Activated>
}

/** Records, secrets and ports with which roll-outs are begun. */
export interface RolloutsParts {
  readonly deployments: Pick<Deployments, 'get' | 'change' | 'revision' | 'missing'>
  readonly secrets: Pick<DeploymentSecrets, 'fixed'>
  /**
   * Lets the member that drives look. The call may be lost: that member looks every few seconds.
   */
  wake(deployment: string): Promise<void>
  /** Calls back when this member learns of a change. It may be late. */
  watch(deployment: string, changed: () => void): () => void
  readonly env: Pick<Env, 'after' | 'uuid' | 'nowMs' | 'monotonicMs' | 'log'>
}

/** The record is read this often while a caller waits: more often while all wait for the last. */
const readMs = { preparing: 250, confirming: 50, watching: 250 }
/** Milliseconds that a caller waits beyond all deadlines: another member may have to take over. */
const takeoverMs = 60_000
/** Tries of a change, as others may change the record at the same time. */
const triesMax = 20

/** Roll-outs over the records of deployments. */
export function rolloutsOver(parts: RolloutsParts): Rollouts {
  return {
    check: (name, revision, options) =>
      rolledOut(parts, name, { ...options, kind: 'check', revision }),
    activate: (name, revision, options) =>
      rolledOut(parts, name, { ...options, kind: 'activate', revision }),
    rollback: async (name, { to, ...options }) =>
      await rolledOut(parts, name, { ...options, kind: 'rollback', revision: to ?? earlierOf }),
    loadSecrets: (name, options) =>
      rolledOut(parts, name, { ...options, kind: 'secrets', revision: activeOf }),
  }
}

/** A revision by name, or found anew whenever the record has changed. */
interface Asked extends RolloutRequest {
  readonly kind: RolloutKind
  readonly revision: string | ((deployment: Deployment) => string)
  /** Changes of secrets. */
  readonly change?: SecretSet
}

function earlierOf({ active, previous, next }: Deployment): string {
  const to = next === null ? previous : active
  if (to !== null) return to
  throw new HeddleError('not_ready', 'No revision was active before: name the one to go back to.')
}

function activeOf({ active }: Deployment): string {
  if (active !== null) return active
  throw new HeddleError('not_ready', 'No revision is active.')
}

async function rolledOut(parts: RolloutsParts, name: string, asked: Asked): Promise<Activated> {
  const { deployment, rollout } = await begin(parts, name, asked)
  parts.wake(name).catch((error: unknown) => {
    parts.env.log.debug('A roll-out begins at the next look.', { error, deployment: name })
  })
  if (asked.wait === false) return { deployment, rollout, pointerMs: 0 }
  return await settled(parts, rollout, name)
}

async function begin(parts: RolloutsParts, name: string,
  asked: Asked): Promise<{ readonly deployment: Deployment; readonly rollout: Rollout }> {
  const { deployments, env } = parts
  const id = env.uuid()
  for (let tries = 1;; tries++) {
    const before = await deployments.get(name)
    // A change that failed may have been made all the same.
    if (before.rollout?.id === id) return { deployment: before, rollout: before.rollout }
    const wanted = typeof asked.revision === 'string' ? asked.revision : asked.revision(before)
    const revision = await deployments.revision(before, wanted)
    const missingChunks = revision.state === 'uploading'
      ? (await deployments.missing(revision)).length
      : 0
    const secrets = { loaded: await parts.secrets.fixed(before, asked.change),
      change: asked.change ?? [] }
    const begun = begunRollout(before, revision, { ...asked, id, missingChunks, secrets },
      env.nowMs())
    if ('refusal' in begun) throw new HeddleError(begun.refusal.code, begun.refusal.message)
    try {
      const deployment = await deployments.change(before, { ...begun.change,
        owed: owedWith(before, eventsOf(begun.change)) })
      return { deployment, rollout: begun.change.rollout }
    } catch (error) {
      const { code, outcome } = HeddleError.from(error)
      const mayGoOn = code === 'stale' || outcome === 'maybe_done'
      if (!mayGoOn || before.removing || tries === triesMax) throw error
    }
  }
}

function eventsOf({ rollout, lastRollout }: DeploymentChange & { readonly rollout: Rollout }) {
  return [...lastRollout == null ? [] : [endEvent(lastRollout)], phaseEvent(rollout)]
}

async function settled({ deployments, watch, env }: RolloutsParts, { id, prepareMs }: Rollout,
  name: string): Promise<Activated> {
  const endMs = env.monotonicMs() + prepareMs + confirmMs + takeoverMs
  let changed = Promise.withResolvers<void>()
  const stop = watch(name, () => changed.resolve())
  try {
    while (env.monotonicMs() < endMs) {
      // Before the read: what changes during it is not missed.
      changed = Promise.withResolvers()
      const deployment = await deployments.get(name).catch(unlessAway)
      const found = deployment && settledOf(deployment, id)
      if (found !== undefined) return found
      const { phase } = deployment?.rollout ?? { phase: 'preparing' }
      await atLatest(env, readMs[phase], changed.promise)
    }
  } finally {
    stop()
  }
  throw new HeddleError('not_ready',
    'The roll-out has begun, but no member drives it right now: look at the deployment later.')
}

/** Ignores an error of the store: the roll-out has begun, and goes on without it. */
function unlessAway(error: unknown): undefined {
  if (HeddleError.from(error).code !== 'unavailable') throw error
}

/** Result for the caller; undefined while the roll-out goes on. */
function settledOf(deployment: Deployment, id: string): Activated | undefined {
  const { rollout, lastRollout } = deployment
  if (rollout?.id === id) {
    if (rollout.phase !== 'watching') return undefined
    return { deployment, rollout, pointerMs: pointerMsOf(rollout) }
  }
  if (lastRollout?.id !== id) {
    throw new HeddleError('stale',
      'Another roll-out has begun and ended meanwhile: read the events of the deployment.')
  }
  const { result, reason, failures } = lastRollout
  if (result === 'refused') {
    throw new HeddleError('graph_failed', reason ?? undefined, { graphs: failures })
  }
  if (result === 'failed') throw new HeddleError('not_ready', reason ?? undefined)
  return { deployment, rollout: lastRollout, pointerMs: pointerMsOf(lastRollout) }
}

/**
 * Milliseconds from the move of the pointer to the last confirmation. Members that did not confirm
 * count until the end of the wait.
 */
function pointerMsOf({ kind, members }: Pick<Rollout, 'kind' | 'members'>): number {
  if (kind === 'check') return 0
  return Math.max(0, ...members.map(({ state, ms }) => state === 'silent' ? confirmMs : ms ?? 0))
}
