/** Versions of assistants, and the calls that make, change and delete them. */

import { queryOptions } from '@tanstack/react-query'

import type { Assistant } from '../../api/index.ts'
import { ask } from './ask.ts'
import type { JsonObject } from './client.ts'

/** Parts of an assistant that people may change. Each change is a new version. */
export interface AssistantContent {
  readonly name: string
  readonly description: string | null
  readonly config: JsonObject
  readonly context: JsonObject
  readonly metadata: JsonObject
}

/** The content of a version. Forms are for contexts that are objects, as nearly all are. */
export const contentIn = (
  { name, description, config, context, metadata }: Assistant,
): AssistantContent => ({ name, description, config, context, metadata }) as AssistantContent

/** The versions of an assistant, newest first; 1 000 at most. */
export const assistantVersions = (id: string) =>
  queryOptions({
    queryKey: ['assistants', id, 'versions'],
    queryFn: ({ signal }) =>
      ask('POST /assistants/:assistant_id/versions', { signal, params: { assistant_id: id },
        body: { limit: 1_000 } }),
    staleTime: 15_000,
  })

/** Makes an assistant of a graph. */
export const createAssistant = (graphId: string, content: AssistantContent) =>
  ask('POST /assistants', { body: { graph_id: graphId, ...content } })

/** Makes a new version, which becomes the active one. Metadata are merged into those it has. */
export const patchAssistant = (id: string, content: AssistantContent) =>
  ask('PATCH /assistants/:assistant_id', { params: { assistant_id: id }, body: content })

/** Makes a version the active one. */
export const activateVersion = (id: string, version: number) =>
  ask('POST /assistants/:assistant_id/latest', { params: { assistant_id: id }, body: { version } })

/** Deletes an assistant with its versions, and its threads if wished. */
export const deleteAssistant = (id: string, withThreads: boolean) =>
  ask('DELETE /assistants/:assistant_id', { params: { assistant_id: id },
    query: { delete_threads: withThreads } })
