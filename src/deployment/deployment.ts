/** A deployment: a name with revisions, a pointer to the active one, secrets, limits and data. */

import { bodyMbMax } from '../api/index.ts'
import type { OwedEvent } from './deployment-event.ts'
import type { Rollout, RolloutOutcome } from './rollout.ts'
import type { LoadedSecrets, SecretSet } from './secret-set.ts'

/**
 * Callers that may use it: the keys of its owner, or those of every tenant, each with its own data.
 */
export type DeploymentAccess = 'own' | 'any'

/** Bound on requests: `count` in any span of `interval_s` seconds. */
export interface RequestLimit {
  readonly count: number
  readonly interval_s: number
}

/** Bounds of a deployment: on each member, but for its requests. */
export interface DeploymentLimits {
  /** Threads of its graph process. */
  readonly workers: number
  /** MiB that its graph process may fill; above them it is replaced. */
  readonly memory_mb: number
  /** Runs that execute at once; further ones wait. */
  readonly concurrency: number
  /** Seconds that a run may take. */
  readonly run_timeout_s: number
  /** MiB that the body of a request may have; never more than the server takes. */
  readonly body_mb: number
  /** Requests of all callers together, at all members; null for no limit of its own. */
  readonly requests: RequestLimit | null
}

/** The limits of a deployment that names none. */
export const defaultDeploymentLimits: DeploymentLimits = { workers: 2, memory_mb: 512,
  concurrency: 100, run_timeout_s: 3_600, body_mb: bodyMbMax, requests: null }

/** A preview: a deployment that is removed when it has not been used for a while. */
export interface Preview {
  /** The deployment whose secrets it uses. */
  readonly of: string
  readonly label: string
  readonly ttlMs: number
}

/** A deployment as it is stored. Times are milliseconds since 1970. */
export interface Deployment {
  /** A UUID, which documents and secrets are kept under. */
  readonly id: string
  /** A DNS label, unique in the cluster. */
  readonly name: string
  /** Its owner. */
  readonly tenant: string
  readonly access: DeploymentAccess
  /** Host names of its own. */
  readonly hosts: readonly string[]
  readonly limits: DeploymentLimits
  /**
   * The share of runs whose calls are recorded: `off`, `all` or `10%`. Null or missing for what the
   * langgraph.json of a revision says.
   */
  readonly record?: string | null
  /** True while it takes no new runs. */
  readonly paused: boolean
  /** True once its removal has begun. It refuses every request from then on. */
  readonly removing: boolean
  /** The revision that new runs take, as `r12`. */
  readonly active: string | null
  /** The one that was active before. */
  readonly previous: string | null
  /** The one that takes a share of new runs. */
  readonly next: { readonly revision: string; readonly percent: number } | null
  /** Runs under way on other revisions go on with the active one, if that has their nodes. */
  readonly movesRuns: boolean
  /** Number of changes of its secrets. */
  readonly envVersion: number
  /** Secrets that later processes start with; missing if none were loaded since sets are kept. */
  readonly loadedSecrets?: LoadedSecrets | null
  /** Changes of secrets that the next roll-out takes; missing if there is none. */
  readonly keptSecrets?: SecretSet
  /** The number of the newest revision. */
  readonly revisionCount: number
  readonly rollout: Rollout | null
  readonly lastRollout: RolloutOutcome | null
  readonly preview: Preview | null
  /**
   * True if it is removed an hour after its last failed build, unless a revision of it ever served.
   */
  readonly provisional?: boolean
  /**
   * Events of roll-outs that are stored with the change that caused them, until a driver notes
   * them.
   */
  readonly owed: readonly OwedEvent[]
  /** Number of changes of this record. A change names the step that it was made from. */
  readonly step: number
  readonly createdAtMs: number
  readonly modifiedAtMs: number
}

/** Change of a deployment. Members that are absent stay. */
export type DeploymentChange = Partial<
  Omit<Deployment, 'id' | 'name' | 'tenant' | 'step' | 'createdAtMs' | 'modifiedAtMs'>
>
