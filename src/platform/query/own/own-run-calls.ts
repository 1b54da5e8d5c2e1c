/**
 * Calls of the query thread to the main thread: runs of this server, as their threads know them.
 */

import type { Uuid } from '../../spans/span.ts'
import type { OwnRun } from '../../ingest/ingest-call.ts'

/** Name of a state of a thread. */
export interface OwnStatePlace {
  readonly tenant: string
  readonly thread: string
  readonly checkpoint: string
}

/** A run as its thread knows it. Texts are JSON; one that is too long is null. */
export interface OwnRunTexts {
  readonly kwargs: string | null
  readonly metadata: string | null
  /** Null if it did not fail. */
  readonly error: string | null
  /** Output of the run; null if it failed. */
  readonly outputs: string | null
  /** The newest checkpoint when it ended; empty if there was none. */
  readonly finalCheckpoint: string
}

/** A run that has not ended, and the project that its trace is in. */
export interface RunningRun {
  readonly run: OwnRun
  readonly project: Uuid
}

/** The threads of this server. Removed runs and states are null or missing. */
export interface QueryNeeds {
  ownRun(
    name: { readonly tenant: string; readonly thread: string; readonly run: Uuid },
  ): Promise<OwnRunTexts | null>
  /** Those of these runs that have not ended. */
  runningRuns(
    names: { readonly tenant: string; readonly ids: readonly Uuid[] },
  ): Promise<readonly RunningRun[]>
  /** A `ThreadState` of the API as JSON. */
  ownState(place: OwnStatePlace): Promise<string | null>
  /** States before one, newest first: `limit` of them, or fewer if they are long. */
  ownStatesBefore(place: OwnStatePlace & { readonly limit: number }): Promise<readonly string[]>
}
