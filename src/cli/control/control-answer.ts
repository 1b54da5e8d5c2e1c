/** What the control API answers, as JSON. Times are ISO 8601 texts. */

import type { DeploymentAccess, DeploymentLimits, DeploymentLine, GraphFailure, MemberProgress,
  RevisionState, RolloutKind, RolloutPhase, RolloutResult } from '../../deployment/index.ts'

/** A roll-out that is under way. */
export interface ControlRollout {
  readonly id: string
  readonly kind: RolloutKind
  readonly revision: string
  readonly from: string | null
  readonly percent: number
  readonly phase: RolloutPhase
  readonly members: readonly MemberProgress[]
  readonly started_at: string
  readonly watch_s: number
  readonly by: string
  readonly message: string
}

/** A roll-out that has ended. */
export interface ControlOutcome {
  readonly id: string
  readonly kind: RolloutKind
  readonly revision: string
  readonly from: string | null
  readonly percent: number
  readonly result: RolloutResult
  readonly reason: string | null
  readonly failures: readonly GraphFailure[]
  readonly members: readonly MemberProgress[]
  readonly by: string
  readonly started_at: string
  readonly ended_at: string
}

/** A deployment. */
export interface ControlDeployment {
  readonly name: string
  readonly tenant: string
  readonly access: DeploymentAccess
  readonly url: string
  readonly hosts: readonly string[]
  readonly limits: DeploymentLimits
  readonly paused: boolean
  readonly active: string | null
  readonly previous: string | null
  readonly next: { readonly revision: string; readonly percent: number } | null
  readonly env_version: number
  readonly rollout: ControlRollout | null
  readonly last_rollout: ControlOutcome | null
  readonly preview: { readonly of: string; readonly label: string; readonly ttl_s: number } | null
  readonly created_at: string
  readonly updated_at: string
}

/** A revision. The last two numbers are null if they were not counted. */
export interface ControlRevision {
  readonly name: string
  readonly state: RevisionState
  readonly hash: string
  readonly message: string
  readonly by: string
  readonly bytes: number
  readonly files: number
  readonly platform: string | null
  readonly source: { readonly commit: string | null; readonly branch: string | null;
    readonly dirty: boolean } | null
  readonly wants_env: readonly string[]
  readonly graphs: readonly { readonly graph_id: string; readonly nodes: readonly string[] }[]
  readonly reason: string | null
  readonly failures: readonly GraphFailure[]
  readonly created_at: string
  readonly expires_at: string | null
  readonly active_at: string | null
  readonly running: number | null
  readonly waiting_threads: number | null
}

/** A revision with the chunks that must still be uploaded, by SHA-256. */
export interface ControlUpload {
  readonly revision: ControlRevision
  readonly missing: readonly string[]
  readonly expires_at: string | null
}

/** How a revision differs from the active one. */
export interface ControlReport {
  readonly graphs_added: readonly string[]
  readonly graphs_removed: readonly string[]
  readonly nodes_removed: readonly { readonly graph_id: string; readonly node: string;
    readonly waiting_threads: number | null }[]
  readonly nodes_added: readonly { readonly graph_id: string; readonly node: string }[]
  readonly channels_removed: readonly { readonly graph_id: string; readonly channel: string }[]
  /** Names of variables that the project has and the deployment lacks. */
  readonly wants_env_missing: readonly string[]
}

/** A pointer that has moved. */
export interface ControlMove {
  readonly active: string | null
  readonly previous: string | null
  readonly next: { readonly revision: string; readonly percent: number } | null
  readonly pointer_ms: number
  readonly members: readonly MemberProgress[]
  /** Live members that did not confirm in time. */
  readonly unconfirmed: readonly string[]
  readonly still_running: readonly { readonly revision: string; readonly runs: number }[]
  readonly rollout_id: string
}

/** A secret, never with its value. */
export interface ControlSecret {
  readonly name: string
  readonly version: number
  readonly updated_at: string
}

/** A line that the code of a deployment wrote. */
export interface ControlLine
  extends Pick<DeploymentLine, 'member' | 'level' | 'revision' | 'text' | 'thread_id' | 'run_id'> {
  readonly at: string
}
