/** An experiment that goes on by itself: what was asked, and how far it is. Pure. */

import type { Experiment as ExperimentJson, NewExperiment } from '../../../api/index.ts'
import type { CatalogRecord } from '../../records/catalog/catalog-record.ts'
import type { Uuid } from '../../spans/span.ts'
import { zonedTextUs } from '../../spans/time.ts'

/** An experiment as it was asked for, with what was found out at its beginning. */
export interface ExperimentRequest {
  readonly asked: Omit<NewExperiment, 'project_name' | 'description'>
  readonly project: Uuid
  readonly projectName: string
  /** The version of the dataset, as examples are read by it. */
  readonly datasetVersion: string
  /** Name of what is asked, for its spans. */
  readonly target: string
  /** Runs: examples times repetitions. */
  readonly total: number
}

/** State of an experiment. It is open while it is created or running. */
export type ExperimentStatus = ExperimentJson['status']

/** Progress of an experiment. Its runs are numbered from 0. */
export interface ExperimentProgress {
  readonly status: ExperimentStatus
  /** Rises with each change, so that nobody overwrites what another one decided. */
  readonly version: number
  /** All runs before this one have ended. */
  readonly next: number
  /** Later runs that have ended, rising. */
  readonly ended: readonly number[]
  readonly failed: number
  readonly verdicts: number
  readonly failedVerdicts: number
  /** Its last failure, in one sentence. */
  readonly error: string | null
  /** Nothing is tried before: a limit is reached. */
  readonly waitsUntilMs: number | null
  readonly finishedMs: number | null
}

/** An experiment as its catalog keeps it. */
export interface BackgroundExperiment extends ExperimentRequest, ExperimentProgress {
  readonly id: Uuid
  readonly createdMs: number
  readonly modifiedMs: number
}

/** A run that has ended, with its verdicts. */
export interface RunEnd {
  readonly no: number
  readonly failed: boolean
  readonly verdicts: number
  readonly failedVerdicts: number
  /** The failure, in one sentence; null without one. */
  readonly error: string | null
}

/** Events of an experiment. */
export type ExperimentEvent =
  | { readonly kind: 'end'; readonly run: RunEnd }
  /** A limit is reached: it goes on then. */
  | { readonly kind: 'wait'; readonly untilMs: number; readonly message: string }
  /** A final failure comes again whenever it is tried. */
  | { readonly kind: 'failure'; readonly message: string; readonly isFinal: boolean }
  | { readonly kind: 'cancel' }

/** Nothing is done yet. */
export const unbegun: ExperimentProgress = { status: 'Created', version: 1, next: 0, ended: [],
  failed: 0, verdicts: 0, failedVerdicts: 0, error: null, waitsUntilMs: null, finishedMs: null }

/** True until it is completed, cancelled or has failed. */
export function isOpen({ status }: Pick<ExperimentProgress, 'status'>): boolean {
  return status === 'Created' || status === 'Running'
}

/** True if this run has ended. */
export function hasEnded({ next, ended }: Pick<ExperimentProgress, 'next' | 'ended'>,
  no: number): boolean {
  return no < next || ended.includes(no)
}

/** Runs that have ended. */
export function endedRuns({ next, ended }: Pick<ExperimentProgress, 'next' | 'ended'>): number {
  return next + ended.length
}

/** Progress after some events. An experiment that is over stays as it is. */
export function progressAfter(before: ExperimentProgress & Pick<ExperimentRequest, 'total'>,
  events: readonly ExperimentEvent[], nowMs: number): ExperimentProgress {
  const { status, next, ended, failed, verdicts, failedVerdicts, error, waitsUntilMs, finishedMs,
    version, total } = before
  const first: ExperimentProgress = { status, next, ended, failed, verdicts, failedVerdicts, error,
    waitsUntilMs, finishedMs, version }
  const after = events.reduce((now, event) => afterEvent(now, event, { total, nowMs }), first)
  return after === first ? first : { ...after, version: version + 1 }
}

/** Returns the progress of an experiment that is cancelled; `undefined` if it has ended before. */
export function cancelledExperiment(before: BackgroundExperiment, nowMs: number):
  | ExperimentProgress
  | undefined {
  return isOpen(before) ? progressAfter(before, [{ kind: 'cancel' }], nowMs) : undefined
}

function afterEvent(before: ExperimentProgress, event: ExperimentEvent,
  { total, nowMs }: { readonly total: number; readonly nowMs: number }): ExperimentProgress {
  if (!isOpen(before)) return before
  switch (event.kind) {
    case 'cancel':
      return { ...before, status: 'Cancelled', waitsUntilMs: null, finishedMs: nowMs }
    case 'failure':
      return event.isFinal
        ? { ...before, status: 'Failed', error: event.message, waitsUntilMs: null,
          finishedMs: nowMs }
        : { ...before, error: event.message }
    case 'wait':
      return { ...before, status: 'Running', error: event.message, waitsUntilMs: event.untilMs }
    case 'end':
      return withEnd(before, event.run, { total, nowMs })
  }
}

function withEnd(before: ExperimentProgress, run: RunEnd,
  { total, nowMs }: { readonly total: number; readonly nowMs: number }): ExperimentProgress {
  if (hasEnded(before, run.no)) return before
  const rest = new Set([...before.ended, run.no])
  let { next } = before
  while (rest.delete(next)) next++
  const isLast = next >= total
  return {
    ...before,
    status: isLast ? 'Completed' : 'Running',
    next,
    ended: [...rest].sort((one, other) => one - other),
    failed: before.failed + (run.failed ? 1 : 0),
    verdicts: before.verdicts + run.verdicts,
    failedVerdicts: before.failedVerdicts + run.failedVerdicts,
    // The sentence of a limit is over when the experiment goes on.
    error: run.error ?? (before.waitsUntilMs === null ? before.error : null),
    waitsUntilMs: null,
    finishedMs: isLast ? nowMs : null,
  }
}

/** The experiment of a record. */
export function experimentOf(
  { id, bodyJson, createdAtMs, modifiedAtMs }: CatalogRecord,
): BackgroundExperiment {
  return { ...JSON.parse(bodyJson) as Omit<BackgroundExperiment, 'id'>, id, createdMs: createdAtMs,
    modifiedMs: modifiedAtMs }
}

/** An experiment as clients read it. */
export function experimentJson(experiment: BackgroundExperiment): ExperimentJson {
  const { asked, id, project, projectName, status, total, failed, verdicts, error, failedVerdicts,
    waitsUntilMs, createdMs, modifiedMs, finishedMs } = experiment
  const time = (ms: number) => zonedTextUs(ms * 1_000)
  return {
    ...asked,
    id,
    session_id: project,
    project_name: projectName,
    dataset_version: experiment.datasetVersion,
    status,
    total_runs: total,
    finished_runs: endedRuns(experiment),
    failed_runs: failed,
    verdicts,
    failed_verdicts: failedVerdicts,
    error,
    waits_until: waitsUntilMs === null ? null : time(waitsUntilMs),
    created_at: time(createdMs),
    updated_at: time(modifiedMs),
    finished_at: finishedMs === null ? null : time(finishedMs),
  }
}
