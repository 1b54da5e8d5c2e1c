/** Makes a queue, or changes one, in a drawer. */

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { FormEvent } from 'react'

import type { Queue } from '../../api/index.ts'
import { datasetChoice } from '../api/platform/datasets.ts'
import { saveQueue } from './queue-calls.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field, Select, TextArea, TextField } from '../parts/field.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { bodyOf, draftOf } from './queue-draft.ts'
import type { QueueDraft } from './queue-draft.ts'
import { RubricFields } from './rubric-fields.tsx'
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
  const [draft, setDraft] = useState(() => draftOf(queue))
  const set = (part: Partial<QueueDraft>) => setDraft((old) => ({ ...old, ...part }))
  const save = useMutation({
    mutationFn: () => saveQueue(queue?.id, bodyOf(draft)),
    onSuccess: async (made) => {
      await queries.invalidateQueries({ queryKey: ['queues'] })
      saved(made)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  return (
    <form className={css['form']} onSubmit={submit}>
      <TextField label="Name" required value={draft.name} change={(name) => set({ name })}
        maxLength={1_000} autoComplete="off" autoFocus />
      <TextArea label="Description" value={draft.description} rows={2} maxLength={10_000}
        change={(description) => set({ description })} />
      <TextArea label="Instructions" hint="What reviewers see beside each run." rows={4}
        value={draft.instructions} maxLength={20_000}
        change={(instructions) => set({ instructions })} />
      <RubricFields rubric={draft.rubric} set={(rubric) => set({ rubric })} />
      <ReviewFields draft={draft} set={set} dataset={queue?.default_dataset} />
      {save.isError && <ErrorNotice error={save.error} />}
      <div className={css['end']}>
        <Button type="submit" kind="primary" disabled={save.isPending}>
          {queue === undefined ? 'Make queue' : 'Save'}
        </Button>
      </div>
    </form>
  )
}

/** Number of reviewers, reservations, and the dataset for examples. */
function ReviewFields({ draft, set, dataset }: {
  readonly draft: QueueDraft
  readonly set: (part: Partial<QueueDraft>) => void
  /** The dataset of the saved queue. */
  readonly dataset: Queue['default_dataset'] | undefined
}) {
  const { data: datasets = [] } = useQuery(datasetChoice(dataset))
  return (
    <>
      <Field label="Reviewers of each run">
        {(ids) => (
          <input {...ids} type="number" min={1} max={100} required value={draft.reviewers}
            onChange={({ target }) => set({ reviewers: Number(target.value) })} />
        )}
      </Field>
      <Field label="Minutes for which a run is kept"
        hint="While somebody looks at it, others are not asked about it. 0 for never."
      >
        {(ids) => (
          <input {...ids} type="number" min={0} max={10_080} required value={draft.minutes}
            onChange={({ target }) => set({ minutes: Number(target.value) })} />
        )}
      </Field>
      <Field label="Dataset" hint="Where examples go that reviewers make of runs.">
        {(ids) => (
          <Select {...ids} value={draft.dataset}
            onChange={({ target }) => set({ dataset: target.value })}
          >
            <option value="">None</option>
            {datasets.map(({ id, name }) => <option key={id} value={id}>{name}</option>)}
          </Select>
        )}
      </Field>
    </>
  )
}
