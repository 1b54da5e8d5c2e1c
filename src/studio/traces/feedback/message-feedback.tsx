/** Thumbs below a message of a chat: feedback on the run that made it. */

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'

import { deleteFeedback, giveFeedback, thumbKey, thumbQuery } from '../../api/platform/feedback.ts'
import { serverInfo } from '../../api/server.ts'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { messageOf } from '../../parts/error-message.ts'
import { useFeedbackRefusal } from './feedback-list.tsx'
import css from './feedback.module.css'

const thumbs = [{ score: 1, icon: 'like', words: 'Good answer' }, { score: 0, icon: 'dislike',
  words: 'Bad answer' }] as const

/** Two thumbs; the pressed one again takes it back. Nothing on a server without traces. */
export function MessageFeedback({ runId, traceId }: {
  readonly runId: string
  readonly traceId?: string | undefined
}) {
  const { data: info } = useQuery(serverInfo)
  const isThere = info !== undefined && info.features?.traces !== false
  const queries = useQueryClient()
  const refusal = useFeedbackRefusal()
  const { data: given } = useQuery({ ...thumbQuery(runId), enabled: isThere })
  const change = useMutation({
    mutationFn: async (score: 0 | 1) => {
      if (given) await deleteFeedback(given.id)
      if (given && Number(given.score) === score) return null
      return giveFeedback({ runId, traceId, key: thumbKey, score })
    },
    onSuccess: (next) => {
      queries.setQueryData(thumbQuery(runId).queryKey, next)
      void queries.invalidateQueries({ queryKey: ['feedback', runId] })
    },
  })
  if (!isThere) return null
  return (
    <span className={css['thumbs']} role="group" aria-label="Feedback">
      {thumbs.map(({ score, icon, words }) => {
        const isOn = given !== null && given !== undefined && Number(given.score) === score
        return (
          <Button key={icon} kind="quiet" small label={words} title={refusal ?? words}
            aria-pressed={isOn} disabled={refusal !== undefined || change.isPending}
            icon={<Icon name={icon} size={14} />} onClick={() => change.mutate(score)} />
        )
      })}
      {change.isError && <span role="alert">{messageOf(change.error)}</span>}
    </span>
  )
}
