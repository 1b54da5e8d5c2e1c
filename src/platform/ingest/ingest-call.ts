/** Writes about spans: requests, own runs and feedback, and the calls that writing needs. */

import type { BodyForm } from './body/request-body.ts'
import type { FiledRun } from '../records/projects/former-names.ts'
import type { Reader } from './ended/ended-span.ts'
import type { EndedNeeds } from './ended/ended-writer.ts'
import type { PriceJson } from './pricing/prices.ts'
import type { Project } from '../records/projects/project.ts'
import type { Feedback, FeedbackToken } from '../spans/feedback-port.ts'
import type { Removal, RemovedSpans } from '../spans/span-port.ts'
import type { Uuid } from '../spans/span.ts'

/** A request with operations, as it arrived. */
export interface IngestCall extends BodyForm {
  readonly tenant: string
  /** Without its compression if `encoding` is empty. Moved to the thread. */
  readonly body: Uint8Array
  readonly encoding: '' | 'gzip' | 'zstd'
}

/** Result of the operations of a request. */
export interface IngestAnswer {
  readonly accepted: number
  /** Operations that failed alone. */
  readonly rejected: readonly { readonly id: string; readonly reason: string }[]
  /** Parts of accepted operations that were too long and were cut. */
  readonly cut?: readonly { readonly id: string; readonly reason: string }[]
  /** For OTLP: the bytes and media type of the answer. */
  readonly otlp?: { readonly body: Uint8Array; readonly contentType: string }
}

/** An own run of this server: only its head is kept, once it has ended. */
export interface OwnRun {
  readonly id: Uuid
  readonly thread: string
  readonly assistant: string
  /** Name of its project, unless its metadata names another one. */
  readonly graph: string
  readonly startMs: number
  /** Null for one that has not ended. */
  readonly endMs: number | null
  readonly failed: boolean
  /** Metadata that it can be found by: the scalars of an object; empty for none. */
  readonly metadataJson: string
  /** True if its thread reports it again: it may have been written before, and removed since. */
  readonly repeated?: boolean
}

/** Recorded calls of one execution of a run, as its worker has packed them. */
export interface RecordingBlock {
  readonly tenant: string
  /** Id of the deployment; missing for the server's own project. */
  readonly deployment?: string | undefined
  readonly runId: string
  /** Begin of the execution, and the number of the block in it. */
  readonly startedAtMs: number
  readonly no: number
  readonly body: Uint8Array
  /** By which the recording is listed; missing for most. */
  readonly label?: string
  /** Seconds for which it is kept. */
  readonly timeToLiveS: number
}

/** Runs whose recordings are removed. */
export interface RemovedRecordings {
  readonly tenant: string
  /** Id of the deployment; missing for the server's own project. */
  readonly deployment?: string | undefined
  readonly runs: readonly string[]
}

/** A change of feedback by a client. */
export interface FeedbackChange {
  readonly tenant: string
  readonly id: Uuid
  readonly change: Readonly<Record<string, unknown>>
  readonly nowUs: number
}

/** Writes of spans, feedback, own runs and recorded calls. */
export interface SpanWrites {
  /**
   * Durable and readable when it resolves. Throws `malformed` or `invalid` if nothing can be read,
   * `too_large`, `exists` for a single post with a known id, `unavailable`.
   */
  ingest(call: IngestCall): Promise<IngestAnswer>
  ownRuns(call: { readonly tenant: string; readonly runs: readonly OwnRun[] }): Promise<void>
  /**
   * Returns the ids of the feedback that was not written, because its span, its trace or its
   * project was deleted.
   */
  putFeedback(rows: readonly Feedback[]): Promise<readonly Uuid[]>
  /**
   * Changes feedback, after the changes and the deletion of it that came before. Returns the row
   * after it, or `undefined` if there is none. Throws `invalid`.
   */
  changeFeedback(call: FeedbackChange): Promise<Feedback | undefined>
  deleteFeedback(call: { readonly tenant: string; readonly id: Uuid }): Promise<boolean>
  putFeedbackToken(token: FeedbackToken): Promise<void>
  /** A time behind the arrivals of all that this member has answered, and before all later ones. */
  arrivalUs(call: null): Promise<number>
  remove(call: { readonly tenant: string; readonly what: Removal }): Promise<void>
  /** As `SpanPort.isRemovedProject`. */
  isRemovedProject(
    call: { readonly tenant: string; readonly project: Uuid },
  ): Promise<boolean>
  /** Changes the seconds for which all spans of a project are kept, as `SpanPort.changeLife`. */
  changeLife(
    call: { readonly tenant: string; readonly project: Uuid; readonly timeToLiveS: number },
  ): Promise<void>
  /** Notes deleted runs of this server without a project, so that they are not written later. */
  noteRemovedRuns(call: { readonly tenant: string; readonly runs: readonly Uuid[] }): Promise<void>
  /** Writes a block of recorded calls, unless its run is removed. */
  putRecording(block: RecordingBlock): Promise<void>
  /** Removes the recorded calls of runs. None that comes later revives them. */
  removeRecordings(call: RemovedRecordings): Promise<void>
  /**
   * Removes what no catalog of the tenant lists: recorded calls of a deployment, tokens for
   * feedback, and notes on deleted runs. Calls that are recorded later are rejected. Returns the
   * number of tokens and of runs with recorded calls.
   */
  removeUnlisted(
    call: { readonly tenant: string; readonly deployment: string },
  ): Promise<number>
}

/** The project of a run of this server. */
export interface OwnProject extends Project {
  readonly readers?: readonly Reader[]
}

/** Calls of the main thread that writing needs. */
export interface SpanWriteNeeds extends EndedNeeds {
  /** Projects by name, made on first use, and by id. Unknown ids are missing. */
  projects(
    call: { readonly tenant: string; readonly names: readonly string[];
      readonly ids: readonly Uuid[];
      /** When a project that is made begins, by the place of its name; now at the latest. */
      readonly startsMs?: readonly number[] },
  ): Promise<readonly (Project & { readonly readers?: readonly Reader[] })[]>
  /**
   * The project of each run of this server, made if it is missing; `null` for a run whose project
   * was deleted.
   */
  ownProjects(
    call: { readonly tenant: string; readonly runs: readonly FiledRun[] },
  ): Promise<readonly (OwnProject | null)[]>
  /** Prices of models, as `Prices.list` has them. */
  prices(call: { readonly tenant: string }): Promise<readonly PriceJson[]>
  /** Says what the store has removed by itself. */
  removed(removed: RemovedSpans): Promise<void>
}
