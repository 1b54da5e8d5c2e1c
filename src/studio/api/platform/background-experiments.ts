/** Calls about the experiments that the server carries out. */

import { queryOptions } from '@tanstack/react-query'

import type { Experiment, NewExperiment } from '../../../api/index.ts'
import { ask } from '../ask.ts'
import { pollEvery } from '../poll.ts'

/** An experiment that the server carries out. */
export type BackgroundExperiment = Experiment

/** True until it is completed, cancelled or has failed. */
export const isGoingOn = ({ status }: Pick<BackgroundExperiment, 'status'>): boolean =>
  status === 'Created' || status === 'Running'

/** Experiments of a dataset that are asked for: more do not go on at once. */
const shownMax = 20

/** Those of a dataset, the newest first: each second while one goes on. */
export const backgroundExperiments = (dataset: string) =>
  queryOptions({
    queryKey: ['experiments', 'background', dataset],
    queryFn: ({ signal }) =>
      ask('GET /api/v1/experiments', { query: { dataset, limit: shownMax }, signal }),
    refetchInterval: (query) =>
      pollEvery(query.state.data?.some(isGoingOn) === true ? 1_000 : 15_000)(query),
  })

/** Begins an experiment. */
export const beginExperiment = (body: NewExperiment) => ask('POST /api/v1/experiments', { body })

/** Cancels an experiment: its runs stay. */
export const cancelExperiment = (id: string) =>
  ask('PATCH /api/v1/experiments/:id', { params: { id }, body: { status: 'Cancelled' } })

/** Query of the evaluators that the workspace keeps. */
export const keptEvaluators = queryOptions({
  queryKey: ['evaluators'],
  queryFn: async ({ signal }) =>
    (await ask('GET /api/v1/platform/evaluators', { query: { limit: 100 }, signal })).evaluators,
  retry: false,
})

/** Query of the first example of a dataset, by which the fields of an experiment are filled in. */
export const firstExample = (dataset: string) =>
  queryOptions({
    queryKey: ['datasets', dataset, 'first'],
    queryFn: async ({ signal }) =>
      (await ask('GET /api/v1/examples', { query: { dataset, limit: 1 }, signal }))[0] ?? null,
  })
