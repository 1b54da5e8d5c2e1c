/** Start of the playground: a version of a prompt, a call of a model, or an empty message. */

import { useQuery } from '@tanstack/react-query'

import { spanQuery } from '../api/platform/traces.ts'
import type { Model, PlaygroundSearch } from '../addresses/playground.ts'
import type { Message } from '../prompts/manifest.ts'
import { manifestQuery } from '../prompts/prompt-calls.ts'
import { savedModels } from '../api/platform/models.ts'
import { promptOfSpan } from './span-prompt.ts'

/** Prompt and model that the playground starts with. */
export interface Beginning {
  readonly manifest: unknown
  /** The version that it is, if it was the newest. */
  readonly parent: string | undefined
  /** Messages without a manifest. */
  readonly messages: readonly Message[] | undefined
  readonly leftOut: number
  /** The model that was asked; undefined if nobody knows. */
  readonly model: Model | undefined
}

const empty: Beginning = { manifest: undefined, parent: undefined,
  messages: [{ role: 'user', content: '' }], leftOut: 0, model: undefined }

/** It, once it is known. */
export function useBeginning({ prompt, at = 'latest', span, project, trace }: PlaygroundSearch) {
  const given = useQuery({ ...manifestQuery(prompt ?? '', at), enabled: prompt !== undefined,
    ...at.length < 64 && { staleTime: 0, gcTime: 0 } })
  const isOfSpan = prompt === undefined && span !== undefined && project !== undefined
  const call = useQuery({
    ...spanQuery({ projectId: project ?? '', spanId: span ?? '', traceId: trace }),
    enabled: isOfSpan,
  })
  const saved = useQuery({ ...savedModels, enabled: isOfSpan })
  const again = () => void (isOfSpan ? call : given).refetch()
  if (prompt !== undefined) {
    const beginning = given.data === undefined
      ? undefined
      : { ...empty, manifest: given.data.manifest, messages: undefined,
        parent: at === 'latest' ? given.data.commit_hash : undefined }
    return { beginning, error: given.error, again }
  }
  if (!isOfSpan) return { beginning: empty, error: null, again }
  if (call.data === undefined || saved.isPending) {
    return { beginning: undefined, error: call.error, again }
  }
  const found = call.data === null ? undefined : promptOfSpan(call.data)
  if (found === undefined) {
    return { beginning: undefined, again, error: new Error('This call is not there any more, or ' +
      'it asked something else than messages.') }
  }
  // A model that the workspace keeps is known in whole: its endpoint and its key.
  const kept = saved.data?.find(({ settings }) => settings['model'] === found.model?.model)
  return { error: null, again,
    beginning: { ...empty, messages: found.messages, leftOut: found.leftOut,
      model: kept === undefined ? found.model : { saved: kept.name } } }
}
