/** Begins a roll-out: makes the change of the deployment, or says why it cannot begin. */

import type { Deployment, DeploymentChange } from '../deployment.ts'
import type { Revision } from '../revision.ts'
import { afterChanges, mergedChanges, secretsKey } from '../secret-set.ts'
import type { SecretSet } from '../secret-set.ts'
import { endedRollout } from './end-rollout.ts'
import type { Rollout, RolloutKind } from '../rollout.ts'

/** Request for a roll-out. Times are milliseconds. */
export interface BeginRequest {
  /** A UUID for the roll-out. */
  readonly id: string
  readonly kind: RolloutKind
  readonly by: string
  readonly message?: string
  /** The share of new runs, from 1 to 100; 100 by default. */
  readonly percent?: number
  /** True if runs under way go on with the revision, too. */
  readonly now?: boolean | undefined
  /** Revision that must be active now; null for none. By default any may be active. */
  readonly expect?: string | null
  /** Watch of ended runs: 60 s by default for an activation. Nothing else is watched. */
  readonly watchMs?: number
  /** Time for loading: 5 min by default. */
  readonly prepareMs?: number
  /** The set that is loaded now, and changes of it; missing where secrets have no part in it. */
  readonly secrets?: { readonly loaded: SecretSet; readonly change: SecretSet }
  /** Number of chunks of the revision that are missing. */
  readonly missingChunks?: number
}

/**
 * stale      a roll-out is under way, or another revision is active than was expected
 * not_ready  the revision cannot be loaded now
 * invalid    it makes no sense
 */
export interface BeginRefusal {
  readonly code: 'stale' | 'not_ready' | 'invalid'
  readonly message: string
}

/** Change of the deployment, or the reason why there is none. */
export type Begun =
  | { readonly change: DeploymentChange & { readonly rollout: Rollout } }
  | { readonly refusal: BeginRefusal }

/** Milliseconds for which ended runs are watched after an activation. */
const watchMsDefault = 60_000

/** Milliseconds that all members may take to load a revision. */
const prepareMsDefault = 300_000

/** Begins a roll-out of a revision. One that only watches makes way, as it has moved already. */
export function begunRollout(deployment: Deployment, revision: Revision, options: BeginRequest,
  nowMs: number): Begun {
  const refusal = refusalOf(deployment, revision, options)
  if (refusal !== undefined) return { refusal }
  const { active, rollout: before } = deployment
  const { id, kind, by, message = '', prepareMs = prepareMsDefault } = options
  // Without an active revision, no other revision can take the rest.
  const percent = kind === 'activate' && active !== null ? options.percent ?? 100 : 100
  const isWatched = kind === 'activate' && active !== null && active !== revision.name
  const rollout: Rollout = { id, kind, revision: revision.name, from: active, percent,
    ...secretsIn(deployment, options, percent), phase: 'preparing', members: [],
    ...options.now === true && { now: true }, startedAtMs: nowMs, phaseAtMs: nowMs, prepareMs, by,
    message, watchMs: isWatched ? options.watchMs ?? watchMsDefault : 0 }
  return {
    change: { ...before !== null && endedRollout(before, { result: 'done' }, nowMs), rollout },
  }
}

/**
 * Secrets of the roll-out. A rollback brings code alone, and a share must not change the secrets of
 * the other revision.
 */
function secretsIn({ envVersion, keptSecrets = [] }: Deployment, { kind, secrets }: BeginRequest,
  percent: number
): Pick<Rollout, 'envVersion' | 'secrets' | 'takesSecrets' | 'keptThen' | 'secretsBefore'> {
  const version = kind === 'secrets' ? envVersion + 1 : envVersion
  if (secrets === undefined) return { envVersion: version }
  const { loaded, change } = secrets
  const taken = kind === 'rollback' || percent < 100
    ? loaded
    : afterChanges(loaded, mergedChanges(keptSecrets, change))
  if (kind !== 'secrets' && secretsKey(taken) === secretsKey(loaded)) {
    return { envVersion, secrets: taken }
  }
  return { envVersion: envVersion + 1, secrets: taken, takesSecrets: true, keptThen: keptSecrets,
    secretsBefore: loaded }
}

function refusalOf(deployment: Deployment, revision: Revision, options: BeginRequest):
  | BeginRefusal
  | undefined {
  const { active, next, rollout } = deployment
  const { kind, expect, percent = 100, now } = options
  if (rollout !== null && rollout.phase !== 'watching') {
    return { code: 'stale', message: `A roll-out of ${rollout.revision} is under way (` +
      `${rollout.kind}, ${rollout.phase}). Wait for its end; active is ${active ?? 'none'}.` }
  }
  if (expect !== undefined && expect !== active) {
    return { code: 'stale',
      message: `Active is ${active ?? 'none'}, and not ${expect ?? 'none'} as expected.` }
  }
  if (kind === 'secrets' && next !== null) {
    return { code: 'stale', message: `${next.revision} takes ${next.percent} % of new runs: give ` +
      'it all or roll back first, for secrets are loaded with one revision.' }
  }
  if (!Number.isInteger(percent) || percent < 1 || percent > 100) {
    return { code: 'invalid', message: 'The share is a whole number from 1 to 100 percent.' }
  }
  if (kind === 'activate' && percent < 100 && active === revision.name) {
    return { code: 'invalid', message: `${active} is active: only another one can get a share.` }
  }
  if (now === true && percent < 100) {
    return { code: 'invalid',
      message: 'Runs under way move with the pointer: leave the share out.' }
  }
  return notReady(revision, options)
}

function notReady({ name, state, reason }: Revision, { missingChunks = 0 }: BeginRequest):
  | BeginRefusal
  | undefined {
  const refused = (message: string): BeginRefusal => ({ code: 'not_ready', message })
  if (state === 'refused') return refused(`${name} was refused: ${reason ?? 'it cannot serve'}`)
  if (state === 'removed') return refused(`${name} was removed: deploy it again.`)
  if (state === 'building') return refused(`${name} is being built.`)
  if (missingChunks === 0) return undefined
  return refused(`${missingChunks} chunks of ${name} are missing: upload them first.`)
}
