/** Makes a thread for an assistant, and asks for the assistant only if there are several. */

import { useNavigate } from '@tanstack/react-router'
import { useCallback, useState } from 'react'

import type { Assistant } from '../../api/index.ts'
import { assistantList } from '../api/assistants.ts'
import { queries } from '../api/query.ts'
import { createThread } from '../api/threads.ts'

/** Progress of making a thread. */
export type NewThreadState =
  | { readonly kind: 'rest' }
  | { readonly kind: 'choosing'; readonly assistants: readonly Assistant[] }
  | { readonly kind: 'making' }
  | { readonly kind: 'failed'; readonly error: unknown }

/** Making a thread. It is opened when it is there. */
export function useNewThread() {
  const [state, setState] = useState<NewThreadState>({ kind: 'rest' })
  const navigate = useNavigate()
  const make = useCallback(async (assistant: Assistant | undefined) => {
    setState({ kind: 'making' })
    try {
      const { thread_id: id } = await createThread(assistant === undefined ? {} : {
        assistant_id: assistant.assistant_id,
        graph_id: assistant.graph_id,
      })
      void queries.invalidateQueries({ queryKey: ['threads'] })
      await navigate({ to: '/threads/$id', params: { id }, search: {} })
      setState({ kind: 'rest' })
    } catch (error) {
      setState({ kind: 'failed', error })
    }
  }, [navigate])
  const begin = useCallback(async () => {
    setState({ kind: 'making' })
    const assistants = await queries.fetchQuery(assistantList).catch(() => [])
    if (assistants.length > 1) setState({ kind: 'choosing', assistants })
    else await make(assistants[0])
  }, [make])
  const close = useCallback(() => setState({ kind: 'rest' }), [])
  return { state, begin, make, close }
}
