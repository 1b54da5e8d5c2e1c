/**
 * The place of recorded calls among the spans: a project that no catalog has, so that no list, no
 * question and no roll-up of a tenant shows it. Spans have all that a recording needs in both
 * stores: bounded room, days to live, tenants that are apart, and removals that are noted first. A
 * run is a trace there, an execution is a span of it, and blocks are the span's files, which no
 * index of words reads. Pure.
 */

import { namedId } from '../catalog/named-id.ts'
import type { SpanPlace, Uuid } from '../../spans/span.ts'
import { filedStartUs, tracePlace } from '../../spans/trace-place.ts'

/** Id of the project of recordings, the same for all tenants. */
export const recordingsProject: Uuid = namedId('recording', 'project')

/** The place of a run's recording, which may not exist. */
export function recordingPlace(tenant: string, runId: string): SpanPlace {
  return tracePlace(tenant, recordingsProject, namedId('recording', runId))
}

/** The place of one execution of a run. */
export function executionPlace(tenant: string, runId: string, startedAtMs: number): SpanPlace {
  const { trace } = recordingPlace(tenant, runId)
  return { tenant, project: recordingsProject, trace, traceStartUs: filedStartUs(trace),
    startUs: startedAtMs * 1_000, id: namedId('recording', `${runId}\n${startedAtMs}`) }
}
