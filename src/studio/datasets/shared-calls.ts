/** Calls that read a shared dataset by the token of its link, which anybody may use. */

import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'

import { ask } from '../api/ask.ts'
import { examplesAtOnce } from '../api/platform/examples.ts'

/** Query of the dataset that a token names. */
export const sharedDataset = (token: string) =>
  queryOptions({
    queryKey: ['shared', token, 'dataset'],
    queryFn: ({ signal }) =>
      ask('GET /api/v1/public/:token/datasets', { params: { token }, signal }),
    retry: false,
  })

/** Its examples, a page at a time. */
export const sharedExamples = (token: string) =>
  infiniteQueryOptions({
    queryKey: ['shared', token, 'examples'],
    queryFn: ({ pageParam, signal }) =>
      ask('GET /api/v1/public/:token/examples', { params: { token }, signal,
        query: { limit: examplesAtOnce, offset: pageParam } }),
    initialPageParam: 0,
    getNextPageParam: (last, all) =>
      last.length < examplesAtOnce ? undefined : all.length * examplesAtOnce,
  })

/** Query of the newest 100 experiments of a shared dataset, with statistics. */
export const sharedExperiments = (token: string) =>
  queryOptions({
    queryKey: ['shared', token, 'experiments'],
    queryFn: ({ signal }) =>
      ask('GET /api/v1/public/:token/datasets/sessions', { params: { token }, signal,
        query: { include_stats: true } }),
  })
