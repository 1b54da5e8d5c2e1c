/** Runs across threads. */

import { askPage } from './client.ts'
import type { Run, RunStatus } from './runs.ts'

/** Conditions that runs must meet. */
export interface RunFilter {
  readonly status?: RunStatus
  readonly graph_id?: string
  readonly created_after?: string
}

/** A page of runs, the newest first. */
export interface RunPage {
  readonly rows: readonly Run[]
  /** Cursor that asks for the next page; undefined for the last one. */
  readonly cursor: string | undefined
}

const pageRuns = 100

/** A page of runs. It may be short, or empty, while there is a cursor. */
export async function searchRuns(filter: RunFilter, cursor: string | undefined,
  signal: AbortSignal): Promise<RunPage> {
  const { data, headers } = await askPage<Run[]>('/runs/search', { method: 'POST', signal,
    body: { ...filter, limit: pageRuns, ...cursor !== undefined && { cursor } } })
  return { rows: data, cursor: headers.get('x-pagination-cursor') ?? undefined }
}
