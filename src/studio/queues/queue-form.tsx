/** Makes a queue, or changes one, in a drawer. */

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { FormEvent } from 'react'

import type { Queue, RubricItem } from '../../api/index.ts'
import { datasetChoice } from '../api/platform/datasets.ts'
import { saveQueue } from './queue-calls.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field, Input, Select } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import css from './queues.module.css'

/** The drawer; without a queue, for a new one. */
export function QueueForm({ queue, close, saved }: {
  readonly queue?: Queue | undefined
  readonly close: () => void
  readonly saved: (queue: Pick<Queue, 'id'>) => void
}) {
  return (
    <Dialog open side close={close} title={queue === undefined ? 'New queue' : 'Change the queue'}>
      <Form queue={queue} saved={saved} />
    </Dialog>
  )
}

function Form({ queue, saved }: {
  readonly queue: Queue | undefined
  readonly saved: (queue: Pick<Queue, 'id'>) => void
}) {
  const queries = useQueryClient()
  const [name, setName] = useState(queue?.name ?? '')
  const [description, setDescription] = useState(queue?.description ?? '')
  const [words, setWords] = useState(queue?.rubric_instructions ?? '')
  const [rubric, setRubric] = useState<readonly RubricItem[]>(queue?.rubric_items ?? [])
  const [reviewers, setReviewers] = useState(queue?.num_reviewers_per_item ?? 1)
  const [dataset, setDataset] = useState(queue?.default_dataset ?? '')
  const [minutes, setMinutes] = useState(
    queue?.enable_reservations === false ? 0 : queue?.reservation_minutes ?? 1,
  )
  const { data: datasets = [] } = useQuery(datasetChoice(queue?.default_dataset))
  const save = useMutation({
    mutationFn: () =>
      saveQueue(queue?.id, { name: name.trim(), description: description.trim() || null,
        rubric_instructions: words.trim() || null, num_reviewers_per_item: reviewers,
        default_dataset: dataset || null, enable_reservations: minutes > 0,
        ...minutes > 0 && { reservation_minutes: minutes },
        rubric_items: rubric.filter(({ feedback_key: key }) => key.trim() !== '') }),
    onSuccess: async (made) => {
      await queries.invalidateQueries({ queryKey: ['queues'] })
      saved(made)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  const change = (at: number, item: Partial<RubricItem>) =>
    setRubric(rubric.map((each, index) => (index === at ? { ...each, ...item } : each)))
  return (
    <form className={css['form']} onSubmit={submit}>
      <Field label="Name" required>
        {(ids) => (
          <input {...ids} value={name} required maxLength={1_000} dir="auto" autoComplete="off"
            autoFocus onChange={({ target }) => setName(target.value)} />
        )}
      </Field>
      <Field label="Description">
        {(ids) => (
          <textarea {...ids} value={description} rows={2} maxLength={10_000} dir="auto"
            onChange={({ target }) => setDescription(target.value)} />
        )}
      </Field>
      <Field label="Instructions" hint="What reviewers see beside each run.">
        {(ids) => (
          <textarea {...ids} value={words} rows={4} maxLength={20_000} dir="auto"
            onChange={({ target }) => setWords(target.value)} />
        )}
      </Field>
      <fieldset className={css['rubric']}>
        <legend>What is scored</legend>
        {rubric.map((item, at) => (
          <div key={at}>
            <Input aria-label={`Key ${at + 1}`} placeholder="Key" maxLength={180} dir="auto"
              value={item.feedback_key}
              onChange={({ target }) => change(at, { feedback_key: target.value })} />
            <Input aria-label={`Meaning of key ${at + 1}`} placeholder="What it means" dir="auto"
              maxLength={1_000} value={item.description ?? ''}
              onChange={({ target }) => change(at, { description: target.value || null })} />
            <Button kind="quiet" small label={`Remove key ${at + 1}`}
              icon={<Icon name="close" size={14} />}
              onClick={() => setRubric(rubric.filter((_, index) => index !== at))} />
          </div>
        ))}
        <Button small onClick={() => setRubric([...rubric, { feedback_key: '' }])}>
          Add a key
        </Button>
      </fieldset>
      <Field label="Reviewers of each run">
        {(ids) => (
          <input {...ids} type="number" min={1} max={100} required value={reviewers}
            onChange={({ target }) => setReviewers(Number(target.value))} />
        )}
      </Field>
      <Field label="Minutes for which a run is kept"
        hint="While somebody looks at it, others are not asked about it. 0 for never."
      >
        {(ids) => (
          <input {...ids} type="number" min={0} max={10_080} required value={minutes}
            onChange={({ target }) => setMinutes(Number(target.value))} />
        )}
      </Field>
      <Field label="Dataset" hint="Where examples go that reviewers make of runs.">
        {(ids) => (
          <Select {...ids} value={dataset} onChange={({ target }) => setDataset(target.value)}>
            <option value="">None</option>
            {datasets.map(({ id, name: words }) => <option key={id} value={id}>{words}</option>)}
          </Select>
        )}
      </Field>
      {save.isError && <ErrorNotice error={save.error} />}
      <div className={css['end']}>
        <Button type="submit" kind="primary" disabled={save.isPending}>
          {queue === undefined ? 'Make queue' : 'Save'}
        </Button>
      </div>
    </form>
  )
}
