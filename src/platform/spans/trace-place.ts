/**
 * Places of traces of OpenTelemetry. Their spans come in several requests without the start of
 * their trace, and no span has the id of the trace.
 */

import type { SpanPlace, Uuid } from './span.ts'

const filedMinutes = 4_096

/**
 * The start under which all spans of a trace are filed, computed from the trace's id: a minute of
 * January 1970.
 */
export function filedStartUs(trace: Uuid): number {
  return (Number.parseInt(trace.slice(0, 8), 16) % filedMinutes) * 60_000_000
}

/** The place of a trace of OpenTelemetry, which may not exist, in a project. */
export function tracePlace(tenant: string, project: Uuid, trace: Uuid): SpanPlace {
  return { tenant, project, startUs: 0, id: trace, trace, traceStartUs: filedStartUs(trace) }
}
