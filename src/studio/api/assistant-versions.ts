/** Versions of assistants, and the calls that make, change and delete them. */

import { queryOptions } from '@tanstack/react-query'

import type { Assistant } from './assistants.ts'
import { ask, post } from './client.ts'
import type { JsonObject } from './client.ts'

/** What somebody may change about an assistant. Each change is a new version. */
export interface AssistantContent {
  readonly name: string
  readonly description: string | null
  readonly config: JsonObject
  readonly context: JsonObject
  readonly metadata: JsonObject
}

/** The versions of an assistant, newest first; 1 000 at most. */
export const assistantVersions = (id: string) =>
  queryOptions({
    queryKey: ['assistants', id, 'versions'],
    queryFn: ({ signal }) =>
      post<Assistant[]>(`/assistants/${id}/versions`, { limit: 1_000 }, signal),
    staleTime: 15_000,
  })

/** Makes an assistant of a graph. */
export const createAssistant = (graphId: string, content: AssistantContent) =>
  post<Assistant>('/assistants', { graph_id: graphId, ...content })

/** Makes a new version, which becomes the active one. Metadata are merged into those it has. */
export const patchAssistant = (id: string, content: AssistantContent) =>
  ask<Assistant>(`/assistants/${id}`, { method: 'PATCH', body: content })

/** Makes a version the active one. */
export const activateVersion = (id: string, version: number) =>
  post<Assistant>(`/assistants/${id}/latest`, { version })

/** Deletes an assistant with its versions, and its threads if wished. */
export const deleteAssistant = (id: string, withThreads: boolean) =>
  ask<null>(`/assistants/${id}?delete_threads=${withThreads}`, { method: 'DELETE' })
