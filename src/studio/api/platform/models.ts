/** Queries of the models and prompts that a workspace keeps. */

import { queryOptions } from '@tanstack/react-query'

import { ask } from '../ask.ts'

/** The models that the workspace has kept. */
export const savedModels = queryOptions({
  queryKey: ['playground', 'models'],
  queryFn: ({ signal }) => ask('GET /api/v1/playground-settings', { signal }),
})

/** Names of 100 of its prompts, those that changed last first. */
export const promptNames = queryOptions({
  queryKey: ['prompts', 'names'],
  queryFn: async ({ signal }) =>
    (await ask('GET /api/v1/repos', { query: { limit: 100, is_archived: false }, signal }))
      .repos.map(({ repo_handle: name }) => name),
})
