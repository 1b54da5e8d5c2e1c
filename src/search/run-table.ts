/** The port of the runs of a thread. The newest page costs the same however many runs there are. */

import type { RunRow } from '../../proto/gen/storage/v1/row.ts'
import { textAt, valueIn } from '../json/index.ts'
import type { MetadataFilter } from './metadata-filter.ts'

/**
 * Status of a run.
 *
 * pending      waiting in the thread's queue
 * running      a worker executes it
 * success      ended, or waits for a human (the thread is `interrupted` then)
 * error        the graph threw, or its attempts are used up
 * interrupted  cancelled by somebody
 * timeout      ended by its time limit
 */
export type RunStatus = 'pending' | 'running' | 'success' | 'error' | 'interrupted' | 'timeout'

/** Fields of a run whose texts may be long: what a client sent, and what its graph made. */
export type RunText = 'metadataJson' | 'kwargsJson' | 'planJson' | 'errorJson' | 'interruptsJson'

/** A page of a thread's runs. */
export interface RunQuery {
  readonly tenant: string
  readonly threadId: string
  readonly status?: RunStatus
  /** 1 to 1 000. */
  readonly limit: number
  readonly offset: number
  /** The long texts that are wanted, by default all. Others may be left empty. */
  readonly texts?: readonly RunText[]
  /**
   * Bytes that the rows may have. A longer page throws `too_large`, with `bytes` in its details.
   */
  readonly bytes?: number
}

/** Bytes that reading a page of rows takes at first. */
export const pageBytes = 4 * 1024 * 1024

/** Conditions on the runs of a tenant. Every one must hold. */
export interface RunFilter {
  readonly tenant: string
  readonly status?: RunStatus | undefined
  readonly threadId?: string | undefined
  readonly assistantId?: string | undefined
  readonly graphId?: string | undefined
  /** Only the run with this id. */
  readonly runId?: string | undefined
  /** Created later than this. */
  readonly createdAfterMs?: number | undefined
  /** Created earlier than this. */
  readonly createdBeforeMs?: number | undefined
  /** Only runs of threads that the caller may see; of all threads by default. */
  readonly allowed?: MetadataFilter | undefined
}

/** The place of a run among those of its tenant. An empty id is before all of that time. */
export interface RunPlace {
  readonly createdAtMs: number
  readonly runId: string
}

/** A page of a search of runs. */
export interface RunSearchQuery extends RunFilter, Pick<RunQuery, 'texts' | 'bytes'> {
  /** 1 to 1 000. */
  readonly limit: number
  /** Only runs behind this place. */
  readonly after?: RunPlace | undefined
}

/** Runs that were found, the newest first. */
export interface FoundRuns {
  readonly rows: RunRow[]
  /**
   * Place from which the next search continues; undefined if there are no more runs. A page may be
   * short, or empty, as the number of rows that one search looks at is bounded.
   */
  readonly next: RunPlace | undefined
}

/** Searches the runs of a tenant, also those of stateless runs. */
export interface RunSearch {
  search(query: RunSearchQuery, cancelled?: AbortSignal): Promise<FoundRuns>
}

/** True if the run has what the filter asks for, apart from its time and its thread's metadata. */
export function isMeant({ status, threadId, assistantId, graphId, runId }: RunFilter,
  run: RunRow): boolean {
  return (status === undefined || run.status === status)
    && (runId === undefined || run.runId === runId)
    && (threadId === undefined || run.threadId === threadId)
    && (assistantId === undefined || run.assistantId === assistantId)
    && (graphId === undefined || graphIdOf(run) === graphId)
}

/** The graph that the run is one of; empty if its plan was not read. */
export function graphIdOf({ planJson }: Pick<RunRow, 'planJson'>): string {
  if (planJson === '') return ''
  return textAt(valueIn(planJson), 'graphId') ?? ''
}

/** Finds runs of a thread. Rows are written by the log port, with the log. */
export interface RunTable extends RunSearch {
  /** The newest row of a run; undefined if there is none. */
  get(tenant: string, threadId: string, runId: string): Promise<RunRow | undefined>
  /** Newest first. Runs made in the same millisecond are in the reverse order of their creation. */
  list(query: RunQuery): Promise<RunRow[]>
}
