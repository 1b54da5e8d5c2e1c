/** Runs across threads. */

import type { SearchRuns } from '../../api/index.ts'
import { askSelected } from './ask.ts'
import { runColumns } from './runs.ts'
import type { Run } from './runs.ts'

/** Conditions that runs must meet. */
export type RunFilter = {
  readonly [Name in 'status' | 'graph_id' | 'created_after']?: NonNullable<SearchRuns[Name]>
}

/** A run of any thread. */
export interface FoundRun extends Run {
  readonly graph_id: string
}

/** A page of runs, the newest first. */
export interface RunPage {
  readonly rows: readonly FoundRun[]
  /** Cursor that asks for the next page; undefined for the last one. */
  readonly cursor: string | undefined
}

const pageRuns = 100

/** A page of runs. It may be short, or empty, while there is a cursor. */
export async function searchRuns(filter: RunFilter, cursor: string | undefined,
  signal: AbortSignal): Promise<RunPage> {
  const { data, headers } = await askSelected('POST /runs/search', [...runColumns, 'graph_id'], {
    body: { ...filter, limit: pageRuns, ...cursor !== undefined && { cursor } },
    signal,
  })
  return { rows: data, cursor: headers.get('x-pagination-cursor') ?? undefined }
}
