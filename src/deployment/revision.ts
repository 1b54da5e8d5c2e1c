/** A revision of a deployment as its record has it: what was uploaded, and whether it can serve. */

import type { GraphDescription, ProjectSettings, TrialRun } from '../graph/index.ts'

/**
 * uploading  chunks of it are missing, or nobody has checked it
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
  /** Who uploaded it: a key's id, a user or `local`. */
  readonly by: string
  /** Compressed bytes of all chunks. */
  readonly bytes: number
  readonly files: number
  readonly platform: string | null
  readonly wantsEnv: readonly string[]
  readonly source: { readonly commit: string | null; readonly branch: string | null;
    readonly dirty: boolean } | null
  /** What its langgraph.json says of webhooks, items and threads; null if nothing. */
  readonly settings: ProjectSettings | null
  /** What it must run before others are sent to it; missing if its project names nothing. */
  readonly trial?: TrialRun | null
  /** When it has run that; missing if it has not. */
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

/** What changes of a revision. What is absent stays. */
export type RevisionChange = Partial<
  Omit<Revision, 'id' | 'deployment' | 'name' | 'number' | 'createdAtMs'>
>
