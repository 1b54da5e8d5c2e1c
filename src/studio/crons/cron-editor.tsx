/** The editor of a cron, in a drawer. */

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'

import { assistantList } from '../api/assistants.ts'
import { fieldFaults } from '../api/client.ts'
import { JsonEditor } from '../json/json-editor.tsx'
import { Button } from '../parts/button.tsx'
import { DeleteButton } from '../parts/delete-button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field, TextField } from '../parts/field.tsx'
import { ownZone } from '../parts/times/moment.ts'
import { ErrorNotice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { changeCron, createCron, deleteCron, readCron } from './cron-calls.ts'
import type { WholeCron } from './cron-calls.ts'
import { changeOf, creationOf, draftOf, emptyDraft } from './cron-draft.ts'
import type { CronDraft } from './cron-draft.ts'
import css from './crons.module.css'
import { ScheduleFields } from './schedule-fields.tsx'

/** The drawer; without an id it makes a new cron. */
export function CronEditor({ id, close }: {
  readonly id: string | undefined
  readonly close: () => void
}) {
  const { data, error } = useQuery({ queryKey: ['crons', 'one', id],
    queryFn: ({ signal }) => readCron(id!, signal), enabled: id !== undefined, staleTime: 0,
    gcTime: 0, refetchOnWindowFocus: false })
  return (
    <Dialog open side title={id === undefined ? 'New cron' : 'Edit the cron'} close={close}>
      {id === undefined || data !== undefined
        ? <CronForm before={data} close={close} />
        : error !== null
        ? <ErrorNotice error={error} />
        : <Skeleton width="100%" height={200} />}
    </Dialog>
  )
}

function CronForm({ before, close }: {
  readonly before: WholeCron | undefined
  readonly close: () => void
}) {
  const [draft, setDraft] = useState(() =>
    before === undefined ? emptyDraft(ownZone()) : draftOf(before)
  )
  const set = (change: Partial<CronDraft>) => setDraft((now) => ({ ...now, ...change }))
  const { save, remove } = useSaving(draft, before, close)
  const isBusy = save.isPending || remove.isPending
  return (
    <form className={css['form']} onSubmit={(event) => {
      event.preventDefault()
      save.mutate()
    }}>
      {before === undefined && <Subject draft={draft} set={set} />}
      <ScheduleFields draft={draft} set={set} saved={fieldFaults(save.error)} />
      <TextField label={`Ends (${ownZone()})`} type="datetime-local" value={draft.ends}
        hint="Nothing runs after it. Leave it empty for no end." change={(ends) => set({ ends })} />
      {draft.thread.trim() === '' && <Completion draft={draft} set={set} />}
      <div>
        <p className={css['label']} aria-hidden="true">Input of each run</p>
        <JsonEditor label="Input of each run, as JSON" text={draft.input}
          change={(input) => set({ input })} />
      </div>
      {save.error !== null && <ErrorNotice error={save.error} />}
      {remove.error !== null && <ErrorNotice error={remove.error} />}
      <div className={css['end']}>
        {before !== undefined && <DeleteButton disabled={isBusy} act={() => remove.mutate()} />}
        <Button type="submit" kind="primary" disabled={isBusy}>
          {save.isPending ? 'Saving …' : before === undefined ? 'Create' : 'Save'}
        </Button>
      </div>
    </form>
  )
}

function useSaving(draft: CronDraft, before: WholeCron | undefined, close: () => void) {
  const cache = useQueryClient()
  const onSuccess = async () => {
    await cache.invalidateQueries({ queryKey: ['crons'] })
    close()
  }
  const save = useMutation({
    mutationFn: async () => {
      if (before === undefined) await createCron(draft.thread.trim(), creationOf(draft))
      else await changeCron(before.cron_id, changeOf(draft, before))
    },
    onSuccess,
  })
  const remove = useMutation({ mutationFn: () => deleteCron(before!.cron_id), onSuccess })
  return { save, remove }
}

interface Part {
  readonly draft: CronDraft
  readonly set: (change: Partial<CronDraft>) => void
}

function Subject({ draft, set }: Part) {
  const { data: assistants = [] } = useQuery(assistantList)
  return (
    <>
      <Field label="Assistant" required>
        {(ids) => (
          <select {...ids} required value={draft.assistant}
            onChange={({ target }) => set({ assistant: target.value })}
          >
            <option value="">Choose …</option>
            {assistants.map(({ assistant_id: id, name, graph_id: graph }) => (
              <option key={id} value={id}>
                {name === graph || name === '' ? graph : `${name} (${graph})`}
              </option>
            ))}
          </select>
        )}
      </Field>
      <TextField label="Thread" value={draft.thread} autoComplete="off" spellCheck={false}
        hint="The id of a thread. Without one, each run gets a new thread."
        change={(thread) => set({ thread })} />
    </>
  )
}

function Completion({ draft, set }: Part) {
  return (
    <Field label="After the run">
      {(ids) => (
        <select {...ids} value={draft.onRunCompleted}
          onChange={({ target }) =>
            set({ onRunCompleted: target.value === 'keep' ? 'keep' : 'delete' })}
        >
          <option value="keep">Keep its thread</option>
          <option value="delete">Delete its thread a minute later</option>
        </select>
      )}
    </Field>
  )
}
