/** Feedback of people and programs on a span, and a form for one's own. */

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { FormEvent } from 'react'

import type { Feedback } from '../../../api/index.ts'
import { deleteFeedback, feedbackQuery, giveFeedback,
  thumbKey } from '../../api/platform/feedback.ts'
import type { GivenFeedback } from '../../api/platform/feedback.ts'
import { useRefusal } from '../../api/refusal.ts'
import { Button } from '../../parts/button.tsx'
import { Field, Input, TextArea } from '../../parts/field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ErrorNotice } from '../../parts/notice.tsx'
import { TimeText } from '../../parts/times/time-text.tsx'
import css from './feedback.module.css'
import { score } from '../../parts/trace-words.ts'

/** The list, thumbs, and a form. */
export function FeedbackList({ runId, traceId }: {
  readonly runId: string
  readonly traceId: string
}) {
  const queries = useQueryClient()
  const list = useQuery(feedbackQuery(runId))
  const refusal = useFeedbackRefusal()
  const [isWriting, setWriting] = useState(false)
  const change = useMutation({
    mutationFn: async (act: () => Promise<unknown>) => act(),
    onSettled: async () => {
      await queries.invalidateQueries({ queryKey: ['feedback', runId] })
      await queries.invalidateQueries({ queryKey: ['thumbs', runId] })
    },
  })
  const give = (given: Pick<GivenFeedback, 'key' | 'score' | 'comment'>) =>
    change.mutate(() => giveFeedback({ runId, traceId, ...given }))
  const isOff = refusal !== undefined || change.isPending
  return (
    <section className={css['feedback']} aria-label="Feedback">
      <header>
        <h3>Feedback</h3>
        <Button kind="quiet" small label="Good" title={refusal ?? 'Good'} disabled={isOff}
          icon={<Icon name="like" size={14} />} onClick={() => give({ key: thumbKey, score: 1 })} />
        <Button kind="quiet" small label="Bad" title={refusal ?? 'Bad'} disabled={isOff}
          icon={<Icon name="dislike" size={14} />}
          onClick={() => give({ key: thumbKey, score: 0 })} />
        <Button kind="quiet" small aria-expanded={isWriting} disabled={refusal !== undefined}
          title={refusal} onClick={() => setWriting(!isWriting)}
        >
          Write
        </Button>
      </header>
      {isWriting && (
        <FeedbackForm give={(given) => {
          give(given)
          setWriting(false)
        }} />
      )}
      {change.isError && <ErrorNotice error={change.error} />}
      {list.isError && <ErrorNotice error={list.error} retry={() => void list.refetch()} />}
      {list.data !== undefined && list.data.length > 0 && (
        <ul>
          {list.data.map((each) => (
            <FeedbackRow key={each.id} feedback={each} refusal={refusal} remove={() =>
              change.mutate(() => deleteFeedback(each.id))} />
          ))}
        </ul>
      )}
    </section>
  )
}

/** Why the caller may not give feedback; undefined for most. */
export const useFeedbackRefusal = (): string | undefined =>
  useRefusal('Your key may read, but change nothing.')

function FeedbackRow({ feedback, refusal, remove }: {
  readonly feedback: Feedback
  readonly refusal: string | undefined
  readonly remove: () => void
}) {
  const { key, score: given, value, comment, created_at: created, feedback_source: source } =
    feedback
  const isThumb = key === thumbKey && (Number(given) === 0 || Number(given) === 1)
  return (
    <li>
      <span className={css['key']} title={key}>{key}</span>
      <span className={css['score']}>
        {isThumb && given !== null
          ? (
            <>
              <Icon name={Number(given) === 1 ? 'like' : 'dislike'} size={14} />
              <span className="unseen">{Number(given) === 1 ? 'good' : 'bad'}</span>
            </>
          )
          : given === null && value !== null
          ? String(value)
          : score(given)}
      </span>
      <span className={css['source']}>
        {source?.type ?? 'api'} · <TimeText iso={created} />
      </span>
      <Button kind="quiet" small label={`Delete ${key}`} title={refusal ?? `Delete ${key}`}
        disabled={refusal !== undefined} icon={<Icon name="trash" size={14} />} onClick={remove} />
      {comment !== null && comment !== '' && <p dir="auto">{comment}</p>}
    </li>
  )
}

function FeedbackForm({ give }: {
  readonly give: (given: Pick<GivenFeedback, 'key' | 'score' | 'comment'>) => void
}) {
  const [key, setKey] = useState(thumbKey)
  const [number, setNumber] = useState('')
  const [comment, setComment] = useState('')
  const [wrong, setWrong] = useState<string>()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const value = number.trim() === '' ? null : Number(number.replace(',', '.'))
    if (Number.isNaN(value)) return setWrong('A number, such as 0.5.')
    if (value === null && comment.trim() === '') return setWrong('A number, or a comment below.')
    give({ key: key.trim() || thumbKey, score: value,
      ...comment.trim() !== '' && { comment: comment.trim() } })
  }
  return (
    <form onSubmit={submit}>
      <Field label="Name">
        {(ids) => (
          <Input {...ids} value={key} maxLength={180}
            onChange={({ target }) => setKey(target.value)} />
        )}
      </Field>
      <Field label="Score" error={wrong}>
        {(ids) => (
          <Input {...ids} value={number} inputMode="decimal" placeholder="0 to 1"
            onChange={({ target }) => setNumber(target.value)} />
        )}
      </Field>
      <TextArea label="Comment" value={comment} rows={2} change={setComment} />
      <Button type="submit">Give feedback</Button>
    </form>
  )
}
