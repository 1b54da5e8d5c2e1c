/** A revision of a deployment as its record has it: what was uploaded, and whether it can serve. */

import type { GraphDescription, ProjectSettings, TrialRun } from '../graph/index.ts'

/**
 * uploading  chunks of it are missing, or it was not checked yet
 * building   a member makes it from the project's own files
 * ready      every graph of it was loaded
 * refused    it can never serve; `reason` says why
 * removed    its chunks are gone; the record stays
 */
export type RevisionState = 'uploading' | 'building' | 'ready' | 'refused' | 'removed'

/** A graph that cannot be loaded. */
export interface GraphFailure {
  readonly graph_id: string
  readonly message: string
  /** The place in the project, if it is known. */
  readonly at: string | null
}

/** A revision. Times are milliseconds since 1970. */
export interface Revision {
  /** A UUID. */
  readonly id: string
  /** The deployment's UUID. */
  readonly deployment: string
  /** `r12`: the twelfth of its deployment. */
  readonly name: string
  readonly number: number
  /** SHA-256 of its manifest, in hexadecimal digits; empty while it is built. */
  readonly hash: string
  readonly state: RevisionState
  readonly message: string
  /** Id of the key or user that uploaded it, or `local`. */
  readonly by: string
  /** Compressed bytes of all chunks. */
  readonly bytes: number
  readonly files: number
  readonly platform: string | null
  readonly wantsEnv: readonly string[]
  readonly source: { readonly commit: string | null; readonly branch: string | null;
    readonly dirty: boolean } | null
  /** Settings of its langgraph.json for webhooks, items and threads; null if it has none. */
  readonly settings: ProjectSettings | null
  /** Run that must succeed before others are sent to it; missing if its project names none. */
  readonly trial?: TrialRun | null
  /** Time at which that run succeeded; missing before. */
  readonly triedAtMs?: number | null
  /** The graphs as they were when they were checked; empty before. */
  readonly graphs: readonly GraphDescription[]
  /** Why it was refused. */
  readonly reason: string | null
  readonly failures: readonly GraphFailure[]
  readonly createdAtMs: number
  /** When an upload that is not complete is removed. */
  readonly expiresAtMs: number | null
  /** When it was last active; null if it never was. */
  readonly activeAtMs: number | null
}

/** Change of a revision. Members that are absent stay. */
export type RevisionChange = Partial<
  Omit<Revision, 'id' | 'deployment' | 'name' | 'number' | 'createdAtMs'>
>
