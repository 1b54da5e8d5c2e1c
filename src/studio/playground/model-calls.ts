/** Calls of the API about the models and the secrets of a workspace. */

import { queryOptions } from '@tanstack/react-query'

import type { Endpoint } from '../addresses/playground.ts'
import { ask, post } from '../api/client.ts'
import type { SavedModel } from './models.ts'

/** The names of its secrets. */
export const secretNames = queryOptions({
  queryKey: ['playground', 'secrets'],
  queryFn: async ({ signal }) => {
    const path = '/api/v1/workspaces/current/secrets'
    return (await ask<readonly { key: string }[]>(path, { signal })).map(({ key }) => key)
  },
})

/** The models that it has kept. */
export const savedModels = queryOptions({
  queryKey: ['playground', 'models'],
  queryFn: ({ signal }) => ask<readonly SavedModel[]>('/api/v1/playground-settings', { signal }),
})

/** Keeps a model. */
export const keepModel = (name: string, settings: Endpoint) =>
  post<SavedModel>('/api/v1/playground-settings', { name, settings })

/** Stores a secret, or replaces it. */
export const storeSecret = (key: string, value: string) =>
  post('/api/v1/workspaces/current/secrets', [{ key, value }])
