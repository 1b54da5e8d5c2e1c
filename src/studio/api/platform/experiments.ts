/** Experiments: what a program answered to each example of a dataset, and how good it was. */

import type { Example, Project as ProjectJson } from '../../../api/index.ts'
import { ask } from '../ask.ts'
import { post } from '../client.ts'
import type { Json } from '../client.ts'
import type { Project } from './projects.ts'
import type { FeedbackStat, SpanPage, SpanStatus } from './traces.ts'

/** An experiment: a project of traces that answers the examples of a dataset. */
export type Experiment =
  & Project
  & Pick<ProjectJson, 'reference_dataset_id' | 'end_time' | 'session_feedback_stats'>
  & Partial<Pick<ProjectJson, 'extra'>>

/** Run of a program on an example, with its answer and its scores. */
export interface ExperimentRun {
  readonly id: string
  readonly project_id: string
  readonly trace_id: string
  readonly name: string
  readonly status: SpanStatus
  readonly error: string | null
  readonly outputs: Json
  readonly latency_seconds: number | null
  readonly total_tokens: number | null
  readonly total_cost: number | null
  readonly feedback_stats: Readonly<Record<string, FeedbackStat>> | null
  readonly reference_example_id: string | null
}

/** An example with the runs of the experiments that were asked for. */
export interface ComparedExample
  extends Pick<Example, 'id' | 'inputs' | 'outputs' | 'metadata' | 'created_at'> {
  readonly runs: readonly ExperimentRun[]
}

/** Number of experiments on a page. */
export const experimentsAtOnce = 100

/** A page of the experiments of a dataset, newest first, with their numbers. */
export const experimentPage = (datasetId: string, offset: number,
  signal?: AbortSignal): Promise<readonly Experiment[]> =>
  ask('GET /api/v1/sessions', { signal,
    query: { reference_dataset: [datasetId], include_stats: true, sort_by: 'start_time',
      sort_by_desc: true, limit: experimentsAtOnce, offset } })

/** An experiment with its numbers. */
export const experimentOf = (id: string, signal?: AbortSignal): Promise<Experiment> =>
  ask('GET /api/v1/sessions/:id', { params: { id }, query: { include_stats: true }, signal })

const runFields = ['ID', 'PROJECT_ID', 'TRACE_ID', 'NAME', 'STATUS', 'ERROR', 'OUTPUTS',
  'LATENCY_SECONDS', 'TOTAL_TOKENS', 'TOTAL_COST', 'FEEDBACK_STATS', 'REFERENCE_EXAMPLE_ID']

/** A page of the examples of a dataset, with what experiments answered to them. */
export const comparedPage = (datasetId: string, experimentIds: readonly string[],
  cursor: string | null, signal?: AbortSignal) =>
  post<SpanPage<ComparedExample>>(`/api/v2/datasets/${datasetId}/experiment-runs`, {
    experiment_ids: experimentIds,
    page_size: 100,
    selects: runFields,
    ...cursor !== null && { cursor },
  }, signal)
