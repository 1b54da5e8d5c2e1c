/** Experiments: what a program answered to each example of a dataset, and how good it was. */

import type { ComparedExampleV2, Project as ProjectJson } from '../../../api/index.ts'
import { ask } from '../ask.ts'
import type { Json } from '../client.ts'
import type { Project } from './projects.ts'
import type { SpanField, SpanPage, SpanWith } from './traces.ts'

/** An experiment: a project of traces that answers the examples of a dataset. */
export type Experiment =
  & Project
  & Pick<ProjectJson, 'reference_dataset_id' | 'end_time' | 'session_feedback_stats'>
  & Partial<Pick<ProjectJson, 'extra'>>

/** Run of a program on an example, with its answer and its scores. */
export type ExperimentRun = SpanWith<typeof runFields[number]> & { readonly outputs: Json }

/** An example with the runs of the experiments that were asked for. */
export interface ComparedExample
  extends Pick<ComparedExampleV2, 'id' | 'inputs' | 'outputs' | 'metadata' | 'created_at'> {
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
  'LATENCY_SECONDS', 'TOTAL_TOKENS', 'TOTAL_COST', 'FEEDBACK_STATS',
  'REFERENCE_EXAMPLE_ID'] as const satisfies readonly SpanField[]

/** A page of the examples of a dataset, with what experiments answered to them. */
export const comparedPage = async (datasetId: string, experimentIds: readonly string[],
  cursor: string | null, signal?: AbortSignal) =>
  await ask('POST /api/v2/datasets/:id/experiment-runs', { params: { id: datasetId }, signal,
    body: { experiment_ids: experimentIds, page_size: 100, selects: runFields,
      ...cursor !== null && { cursor } } }) as SpanPage<ComparedExample>
