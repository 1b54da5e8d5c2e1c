/** Deployments and their roll-outs as the control API has them. Times are ISO texts. */

import type { GraphFailure } from '../../api/client.ts'

/** How far a member is with a roll-out. */
export interface MemberProgress {
  readonly id: string
  readonly state: 'waiting' | 'ready' | 'confirmed' | 'silent'
  /** Milliseconds that loading took, or that passed until it confirmed. */
  readonly ms: number | null
}

/** What a roll-out is for. */
export type RolloutKind = 'check' | 'activate' | 'rollback' | 'secrets'

/** A roll-out that is under way. */
export interface Rollout {
  readonly id: string
  readonly kind: RolloutKind
  readonly revision: string
  readonly from: string | null
  readonly percent: number
  readonly phase: 'preparing' | 'confirming' | 'watching'
  readonly members: readonly MemberProgress[]
  readonly started_at: string
  readonly watch_s: number
  readonly by: string
  readonly message: string
}

/** A roll-out that has ended. */
export interface Outcome {
  readonly id: string
  readonly kind: RolloutKind
  readonly revision: string
  readonly from: string | null
  readonly percent: number
  readonly result: 'done' | 'refused' | 'failed' | 'rolled_back'
  /** A sentence if it is not `done`. */
  readonly reason: string | null
  readonly failures: readonly GraphFailure[]
  readonly members: readonly MemberProgress[]
  readonly by: string
  readonly started_at: string
  readonly ended_at: string
}

/** A deployment. */
export interface Deployment {
  readonly name: string
  readonly tenant: string
  readonly access: 'own' | 'any'
  readonly url: string
  readonly hosts: readonly string[]
  readonly limits: { readonly workers: number; readonly memory_mb: number;
    readonly concurrency: number; readonly run_timeout_s: number; readonly body_mb: number;
    /** Of all callers together; null for no limit. */
    readonly requests: { readonly count: number; readonly interval_s: number } | null }
  readonly paused: boolean
  readonly active: string | null
  readonly previous: string | null
  /** The revision that takes a share of new runs. */
  readonly next: { readonly revision: string; readonly percent: number } | null
  readonly env_version: number
  readonly rollout: Rollout | null
  readonly last_rollout: Outcome | null
  readonly preview: { readonly of: string; readonly label: string; readonly ttl_s: number } | null
  readonly created_at: string
  readonly updated_at: string
}

/** A revision of a deployment. */
export interface Revision {
  readonly name: string
  readonly state: 'uploading' | 'building' | 'ready' | 'refused' | 'removed'
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
  /** Why it was refused. */
  readonly reason: string | null
  readonly failures: readonly GraphFailure[]
  readonly created_at: string
  readonly expires_at: string | null
  readonly active_at: string | null
  /** Null if they were not counted. */
  readonly running: number | null
  readonly waiting_threads: number | null
}

/** What a revision changes against the active one. */
export interface Report {
  readonly graphs_added: readonly string[]
  readonly graphs_removed: readonly string[]
  readonly nodes_removed: readonly { readonly graph_id: string; readonly node: string;
    readonly waiting_threads: number }[]
  readonly nodes_added: readonly { readonly graph_id: string; readonly node: string }[]
  readonly channels_removed: readonly { readonly graph_id: string; readonly channel: string }[]
  /** Variables that the project names and the deployment has no secret for. */
  readonly wants_env_missing: readonly string[]
}

/** Something that happened to a deployment. What else it has depends on its kind. */
export interface DeploymentEvent {
  readonly seq: number
  readonly at: string
  readonly by: string
  readonly kind: string
  readonly [field: string]: unknown
}

/** A line that the code of a deployment wrote. */
export interface LogLine {
  readonly at: string
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly member: string
  readonly revision: string
  readonly text: string
  readonly thread_id: string | null
  readonly run_id: string | null
}

/** A secret without its value. */
export interface Secret {
  readonly name: string
  readonly version: number
  readonly updated_at: string
}
