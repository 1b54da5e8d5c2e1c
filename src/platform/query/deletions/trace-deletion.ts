/** A deletion of all traces that a question finds: what was asked, and how far it is. Pure. */

import type { BulkDeletion, BulkDeletionBody } from '../../../api/index.ts'
import type { CatalogRecord } from '../../records/catalog/catalog-record.ts'
import type { ScanMark } from '../../spans/span-port.ts'
import type { Uuid } from '../../spans/span.ts'
import { zonedTextUs } from '../../spans/time.ts'
import type { RunsQuestion } from '../question.ts'

/** Conditions on the runs whose traces go, as questions have them. */
export type DeletionConditions = Pick<RunsQuestion,
  'type' | 'fromUs' | 'endToUs' | 'failed' | 'rootsOnly' | 'isRoot' | 'examples' | 'text' | 'filter'
    | 'traceFilter' | 'treeFilter'>

/** Traces that a client wants deleted: runs of these projects that meet the conditions. */
export interface DeletionRequest {
  readonly projects: readonly Uuid[]
  readonly conditions: DeletionConditions
  /** In the words of the client, to be shown. */
  readonly asked: BulkDeletionBody
}

/** State of a deletion. It is open while it is created or running. */
export type DeletionStatus = BulkDeletion['status']

/** Progress of a deletion. */
export interface DeletionProgress {
  readonly status: DeletionStatus
  /** Rises with each change, so that nobody overwrites what another one decided. */
  readonly version: number
  /** Only what comes after is still to be looked at; null at the beginning. */
  readonly after: ScanMark | null
  /** Runs that were looked at, and those of them that matched. */
  readonly looked: number
  readonly matched: number
  /** Traces that are deleted. */
  readonly traces: number
  /** Last failure, in one sentence; null if the deletion has gone on since. */
  readonly error: string | null
  readonly finishedMs: number | null
}

/** A deletion as its catalog keeps it. */
export interface TraceDeletion extends DeletionRequest, DeletionProgress {
  readonly id: Uuid
  /** Microseconds. Traces that arrived then or later stay. */
  readonly arrivedBeforeUs: number
  readonly createdMs: number
  readonly modifiedMs: number
}

/** Events of a deletion. */
export type DeletionEvent =
  /** Some traces are gone. Without `after`, these were the last. */
  | { readonly kind: 'slice'; readonly looked: number; readonly matched: number;
    readonly traces: number; readonly after: ScanMark | null }
  /** A final failure comes again whenever it is tried. */
  | { readonly kind: 'failure'; readonly message: string; readonly isFinal: boolean }
  | { readonly kind: 'cancel' }

/** Nothing is done yet. */
export const unbegun: DeletionProgress = { status: 'Created', version: 1, after: null, looked: 0,
  matched: 0, traces: 0, error: null, finishedMs: null }

/** True until it is completed, cancelled or has failed. */
export function isOpen({ status }: Pick<DeletionProgress, 'status'>): boolean {
  return status === 'Created' || status === 'Running'
}

/** Progress after an event. A deletion that has ended stays as it is. */
export function nextProgress(before: DeletionProgress, event: DeletionEvent,
  nowMs: number): DeletionProgress {
  if (!isOpen(before)) return before
  const { status, version, after, looked, matched, traces, error, finishedMs } = before
  const same = { status, version: version + 1, after, looked, matched, traces, error, finishedMs }
  switch (event.kind) {
    case 'cancel':
      return { ...same, status: 'Cancelled', finishedMs: nowMs }
    case 'failure':
      return event.isFinal
        ? { ...same, status: 'Failed', error: event.message, finishedMs: nowMs }
        : { ...same, error: event.message }
    case 'slice':
      return { ...same, status: event.after === null ? 'Completed' : 'Running', error: null,
        after: event.after ?? after, looked: looked + event.looked,
        matched: matched + event.matched, traces: traces + event.traces,
        finishedMs: event.after === null ? nowMs : null }
  }
}

/** The deletion of a record. */
export function deletionOf(
  { id, bodyJson, createdAtMs, modifiedAtMs }: CatalogRecord,
): TraceDeletion {
  return { ...JSON.parse(bodyJson) as Omit<TraceDeletion, 'id'>, id, createdMs: createdAtMs,
    modifiedMs: modifiedAtMs }
}

/** A deletion as clients read it. */
export function deletionJson(deletion: TraceDeletion): BulkDeletion {
  const { id, asked, status, arrivedBeforeUs, createdMs, modifiedMs, finishedMs, looked, matched,
    traces, after, error } = deletion
  return {
    ...asked,
    id,
    status,
    arrived_before: zonedTextUs(arrivedBeforeUs),
    created_at: zonedTextUs(createdMs * 1_000),
    updated_at: zonedTextUs(modifiedMs * 1_000),
    finished_at: finishedMs === null ? null : zonedTextUs(finishedMs * 1_000),
    looked_at_runs: looked,
    matched_runs: matched,
    deleted_traces: traces,
    reached_start_time: after === null ? null : zonedTextUs(after.startUs),
    error,
  }
}
