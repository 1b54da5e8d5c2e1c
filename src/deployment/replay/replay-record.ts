/** A replay of recorded runs, as a record of a catalog. Pure. */

import type { DifferenceGroup, Judgement, Verdict } from '../../graph/index.ts'
import { isOneOf } from '../../json/index.ts'
import type { CatalogRecord, NewRecord } from '../../platform/index.ts'
import { StoredFields } from '../records/stored-fields.ts'
import type { ReplayUsage } from './replay-usage.ts'

/**
 * running    a member executes it
 * done       all its runs have a verdict
 * failed     it could not go on, with a reason
 * cancelled  somebody ended it
 */
export type ReplayPhase = 'running' | 'done' | 'failed' | 'cancelled'

/** Request for a replay. */
export interface ReplayRequest {
  /** The revision to try, as `r13`. */
  readonly revision: string
  /** Runs at most. */
  readonly sample: number
  /** Only runs of this graph; null for all. */
  readonly graphId: string | null
  /** Only runs created later than this, in milliseconds since 1970; null for all. */
  readonly sinceMs: number | null
  /** True to replay the recorded revision first. */
  readonly controls: boolean
  /** Milliseconds that one run may take. */
  readonly limitMs: number
}

/** A replay. Times are milliseconds since 1970. */
export interface Replay {
  readonly id: string
  readonly deploymentId: string
  readonly deployment: string
  readonly by: string
  readonly request: ReplayRequest
  readonly phase: ReplayPhase
  /** A sentence if it is `failed`. */
  readonly reason: string | null
  readonly startedAtMs: number
  readonly endedAtMs: number | null
  /** The process that executes it; null before. */
  readonly runner: string | null
  /** The chosen runs as `thread/run`; null before they are chosen. */
  readonly chosen: readonly string[] | null
  /** Runs that were looked at and have no recording, or no thread any more. */
  readonly passed: number
  /** Id of the experiment that keeps it; null for none. */
  readonly experiment: string | null
}

/** The verdict on one run. */
export interface RunVerdict extends Judgement {
  readonly threadId: string
  readonly runId: string
  readonly graphId: string
  /** The revision that was recorded. */
  readonly recordedRevision: string
  /** Recorded calls, and those that the revision has made. */
  readonly recordedCalls: number
  readonly calls: number
  readonly ms: number
  /**
   * The superstep from which on it was replayed: where it had gone on after its process ended. Null
   * or missing for all others.
   */
  readonly firstStep?: number | null
  /** Missing in one of an earlier version. */
  readonly usage?: ReplayUsage
}

/** A replay with its verdicts so far. */
export interface ReplayView {
  readonly replay: Replay
  readonly done: number
  readonly counts: Readonly<Record<Verdict, number>>
  readonly groups: readonly DifferenceGroup[]
  readonly usage: ReplayUsage
}

/** The record of a new replay. Its name is one that only one replay of its deployment can have. */
export function replayRecord({ id, ...body }: Replay): NewRecord {
  return { id, name: `running ${body.deploymentId}`, orderMs: body.startedAtMs,
    parentId: body.deploymentId, metadataJson: '{}', bodyJson: JSON.stringify(body) }
}

const phases: readonly ReplayPhase[] = ['running', 'done', 'failed', 'cancelled']

/** The replay of a record. */
export function replayOf({ id, bodyJson }: CatalogRecord): Replay {
  const body = new StoredFields(bodyJson)
  const phase = body.text('phase', '')
  const hasChosen = body.flag('hasChosen')
  return {
    id,
    deploymentId: body.text('deploymentId', ''),
    deployment: body.text('deployment', ''),
    by: body.text('by', ''),
    request: body.object<ReplayRequest>('request', ['revision', 'sample', 'limitMs'])
      ?? { revision: '', sample: 0, graphId: null, sinceMs: null, controls: true, limitMs: 1 },
    phase: isOneOf(phases, phase) ? phase : 'failed',
    reason: body.text('reason', null),
    startedAtMs: body.number('startedAtMs', 0),
    endedAtMs: body.number('endedAtMs', null),
    runner: body.text('runner', null),
    chosen: hasChosen ? body.texts('chosen') : null,
    passed: body.number('passed', 0),
    experiment: body.text('experiment', null),
  }
}
