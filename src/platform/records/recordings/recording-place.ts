/**
 * The place of recorded calls among the spans: a project that no catalog has, so that no list, no
 * question and no roll-up of a tenant shows it. Spans have all that a recording needs in both
 * stores: bounded room, days to live, tenants that are apart, and removals that are noted first. A
 * run is a trace there, an execution is a span of it, and blocks are the span's files, which no
 * index of words reads. Each deployment has a project of its own, so that a deployment with the
 * name of a removed deployment does not find its recordings. Pure.
 */

import { namedId } from '../catalog/named-id.ts'
import type { SpanPlace, Uuid } from '../../spans/span.ts'
import { filedStartUs, tracePlace } from '../../spans/trace-place.ts'

/** The deployment whose runs are recorded. */
export interface RecordedDeployment {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly createdAtMs: number
}

/** Recordings of one project from a time on. */
export interface RecordingScope {
  readonly project: Uuid
  /** Milliseconds since 1970; `-Infinity` for all. */
  readonly fromMs: number
}

/** Project of the server's own recordings, and of all that versions before 2026-12 wrote. */
const ownProject: Uuid = namedId('recording', 'project')

/** Id of the project of the recordings of a deployment, or of the server's own project. */
export function recordingsProject(deployment?: string): Uuid {
  return deployment === undefined ? ownProject : namedId('recording', `deployment\n${deployment}`)
}

/**
 * Returns where recordings of a deployment are stored. Earlier versions stored recordings by name:
 * a recording from before the creation belongs to a removed deployment.
 */
export function recordingScopes(deployment?: RecordedDeployment): readonly RecordingScope[] {
  if (deployment === undefined) return [{ project: ownProject, fromMs: -Infinity }]
  return [{ project: recordingsProject(deployment.id), fromMs: -Infinity }, { project: ownProject,
    fromMs: deployment.createdAtMs }]
}

/** The place of a run's recording, which may not exist. */
export function recordingPlace(tenant: string, project: Uuid, runId: string): SpanPlace {
  return tracePlace(tenant, project, namedId('recording', runId))
}

/** The place of one execution of a run. */
export function executionPlace(tenant: string, project: Uuid, runId: string,
  startedAtMs: number): SpanPlace {
  const { trace } = recordingPlace(tenant, project, runId)
  return { tenant, project, trace, traceStartUs: filedStartUs(trace), startUs: startedAtMs * 1_000,
    id: namedId('recording', `${runId}\n${startedAtMs}`) }
}
