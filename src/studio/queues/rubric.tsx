/** Rubric of a queue for a run: instructions, and a score and a comment of each key. */

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { FormEvent } from 'react'

import type { Queue, RubricItem } from '../../api/index.ts'
import { giveFeedback, thumbKey } from '../api/platform/feedback.ts'
import { Button } from '../parts/button.tsx'
import { Field, TextField } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import type { RunItem } from './queue-calls.ts'
import css from './queues.module.css'

/** Asked of queues that name no keys. */
const usual: readonly RubricItem[] = [{ feedback_key: thumbKey, description: null }]

/** Form with the questions of a rubric about one run. */
export function Rubric({ queue, item, refusal }: {
  readonly queue: Queue
  readonly item: RunItem
  readonly refusal: string | undefined
}) {
  const { rubric_items: items, rubric_instructions: words } = queue
  const asked = items === null || items.length === 0 ? usual : items
  return (
    <div className={css['questions']}>
      {words !== null && <p className={css['instructions']} dir="auto">{words}</p>}
      {asked.map((each) => (
        <Question key={each.feedback_key} rubric={each} runId={item.run_id} refusal={refusal} />
      ))}
    </div>
  )
}

function Question({ rubric, runId, refusal }: {
  readonly rubric: RubricItem
  readonly runId: string
  readonly refusal: string | undefined
}) {
  const { feedback_key: key, description } = rubric
  const queries = useQueryClient()
  const [number, setNumber] = useState('')
  const [comment, setComment] = useState('')
  const give = useMutation({
    mutationFn: (score: number | null) =>
      giveFeedback({ runId, key, score, ...comment.trim() !== '' && { comment: comment.trim() } }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['feedback', runId] }),
  })
  const isOff = refusal !== undefined || give.isPending
  const submit = (event: FormEvent) => {
    event.preventDefault()
    give.mutate(number === '' ? null : Number(number))
  }
  return (
    <form className={css['question']} onSubmit={submit} aria-label={key}>
      <header>
        <h3 dir="auto">{key}</h3>
        <Button kind="quiet" small label={`${key}: good`} disabled={isOff}
          aria-pressed={give.data?.score === 1} icon={<Icon name="like" size={14} />}
          onClick={() => give.mutate(1)} />
        <Button kind="quiet" small label={`${key}: bad`} disabled={isOff}
          aria-pressed={give.data?.score === 0} icon={<Icon name="dislike" size={14} />}
          onClick={() => give.mutate(0)} />
        <span role="status">{give.isSuccess && 'Given'}</span>
      </header>
      {description && <p dir="auto">{description}</p>}
      <div className={css['score']}>
        <Field label="Score">
          {(ids) => (
            <input {...ids} type="number" step="any" value={number}
              onChange={({ target }) => setNumber(target.value)} />
          )}
        </Field>
        <TextField label="Comment" value={comment} maxLength={10_000} change={setComment} />
        <Button type="submit" disabled={isOff || (number === '' && comment.trim() === '')}
          title={refusal}
        >
          Give
        </Button>
      </div>
      {give.isError && <ErrorNotice error={give.error} />}
    </form>
  )
}
