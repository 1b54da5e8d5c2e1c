/** Finds the answers of people to questions, and after which message each stands. */

import { useQueries, useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'

import { runsOf } from '../api/runs.ts'
import { stateAt } from '../api/states.ts'
import type { ChatMessage } from '../live/message-merge.ts'
import type { Screen } from '../thread/screen/use-screen.ts'
import { answeredOn, answersIn } from './answered.ts'
import type { PlacedAnswers } from './messages.ts'

/** Draws nothing: what it finds is a part of the conversation. */
export function HumanAnswers({ id, screen, found }: {
  readonly id: string
  readonly screen: Screen
  readonly found: (answers: readonly PlacedAnswers[]) => void
}) {
  const { steps, search, headId } = screen
  const answered = answeredOn(steps, search.at ?? headId)
  const runs = useQuery({ queryKey: ['answers', id, answered.at(-1)?.runId],
    enabled: answered.length > 0, staleTime: Infinity,
    queryFn: ({ signal }) => runsOf(id, 100, 0, signal) })
  const ends = useQueries({ queries: answered.map(({ checkpointId }) => ({
    queryKey: ['last message', id, checkpointId],
    staleTime: Infinity,
    queryFn: async ({ signal }: { readonly signal: AbortSignal }) => {
      const { values } = await stateAt(id, checkpointId, ['values.messages[-1:]'], signal)
      const [last] = (values?.['messages'] ?? []) as unknown as readonly ChatMessage[]
      return last?.id ?? null
    },
  })) })
  const answers = answered.flatMap((each, at): PlacedAnswers[] => {
    const after = ends[at]?.data
    const messages = after === undefined ? [] : answersIn(runs.data ?? [], each)
    return messages.length === 0 ? [] : [{ after: after ?? null, messages }]
  })
  const text = JSON.stringify(answers)
  useEffect(() => found(JSON.parse(text) as readonly PlacedAnswers[]), [found, text])
  return null
}
