/** Calls of the API about the models and the secrets of a workspace. */

import { queryOptions } from '@tanstack/react-query'

import type { Endpoint } from '../addresses/playground.ts'
import { ask } from '../api/ask.ts'

/** The names of its secrets. */
export const secretNames = queryOptions({
  queryKey: ['playground', 'secrets'],
  queryFn: async ({ signal }) =>
    (await ask('GET /api/v1/workspaces/current/secrets', { signal })).map(({ key }) => key),
})

/** Programs on the server's machine that serve models. They come and go, so each page asks. */
export const localPrograms = queryOptions({
  queryKey: ['playground', 'local'],
  queryFn: ({ signal }) => ask('GET /api/v1/playground-settings/local', { signal }),
})

/** Saves the settings of an endpoint under a name in the workspace. */
export const keepModel = (name: string, settings: Endpoint) =>
  ask('POST /api/v1/playground-settings', { body: { name, settings: { ...settings } } })

/** Stores a secret, or replaces it. */
export const storeSecret = (key: string, value: string) =>
  ask('POST /api/v1/workspaces/current/secrets', { body: [{ key, value }] })
