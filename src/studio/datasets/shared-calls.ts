/** Calls that read a shared dataset by the token of its link, which anybody may use. */

import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'

import type { Dataset, Example } from '../../api/index.ts'
import { ask } from '../api/client.ts'
import { examplesAtOnce } from '../api/platform/examples.ts'
import type { Experiment } from '../api/platform/experiments.ts'

const rootOf = (token: string) => `/api/v1/public/${encodeURIComponent(token)}`

/** Query of the dataset that a token names. */
export const sharedDataset = (token: string) =>
  queryOptions({
    queryKey: ['shared', token, 'dataset'],
    queryFn: ({ signal }) => ask<Dataset>(`${rootOf(token)}/datasets`, { signal }),
    retry: false,
  })

/** Its examples, a page at a time. */
export const sharedExamples = (token: string) =>
  infiniteQueryOptions({
    queryKey: ['shared', token, 'examples'],
    queryFn: ({ pageParam, signal }) =>
      ask<readonly Example[]>(
        `${rootOf(token)}/examples?limit=${examplesAtOnce}&offset=${pageParam}`,
        { signal },
      ),
    initialPageParam: 0,
    getNextPageParam: (last, all) =>
      last.length < examplesAtOnce ? undefined : all.length * examplesAtOnce,
  })

/** Query of the newest 100 experiments of a shared dataset, with statistics. */
export const sharedExperiments = (token: string) =>
  queryOptions({
    queryKey: ['shared', token, 'experiments'],
    queryFn: ({ signal }) =>
      ask<readonly Experiment[]>(`${rootOf(token)}/datasets/sessions?include_stats=true`, {
        signal,
      }),
  })
