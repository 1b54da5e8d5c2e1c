/** The editor of a rule, in a drawer. */

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { FormEvent } from 'react'

import type { Rule } from '../../api/index.ts'
import { projectPage } from '../api/platform/projects.ts'
import { datasetNames } from '../api/platform/datasets.ts'
import { changeRule, countRuns, createRule, deleteRule, queueNames } from './rule-calls.ts'
import { nowMs } from '../env.ts'
import { counted } from '../parts/amounts.ts'
import { Button } from '../parts/button.tsx'
import { DeleteButton } from '../parts/delete-button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field, TextField } from '../parts/field.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { AlertFields } from './alert-fields.tsx'
import { FormPart } from './form-part.tsx'
import { JudgeFields } from './judge-fields.tsx'
import { draftOf, emptyDraft, ruleOfDraft, samplingWords } from './rule-draft.ts'
import type { DraftProps, RuleDraft } from './rule-draft.ts'
import css from './rules.module.css'

/** The drawer; without a rule it makes a new one. */
export function RuleEditor({ before, close }: {
  readonly before: Rule | undefined
  readonly close: () => void
}) {
  const [draft, setDraft] = useState(before === undefined ? emptyDraft : draftOf(before))
  const set = (change: Partial<RuleDraft>) => setDraft((now) => ({ ...now, ...change }))
  const cache = useQueryClient()
  const done = async () => {
    await cache.invalidateQueries({ queryKey: ['rules'] })
    close()
  }
  const save = useMutation({
    mutationFn: async () => {
      const body = ruleOfDraft(draft, before)
      return before === undefined ? await createRule(body) : await changeRule(before.id, body)
    },
    onSuccess: done,
  })
  const remove = useMutation({ mutationFn: () => deleteRule(before!.id), onSuccess: done })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    save.mutate()
  }
  const isBusy = save.isPending || remove.isPending
  return (
    <Dialog open side title={before === undefined ? 'New rule' : 'Edit the rule'} close={close}>
      <form className={css['form']} onSubmit={submit}>
        <About draft={draft} set={set} isDataset={before?.dataset_id != null} />
        <Actions draft={draft} set={set} />
        <JudgeFields draft={draft} set={set} before={before?.evaluators?.[0]} />
        <AlertFields draft={draft} set={set}
          isBelow={['below', 'at_most'].includes(before?.alerts?.[0]?.comparison ?? '')} />
        {save.error !== null && <ErrorNotice error={save.error} />}
        {remove.error !== null && <ErrorNotice error={remove.error} />}
        <div className={css['end']}>
          {before !== undefined && (
            <DeleteButton sure="Yes, delete it with its log" disabled={isBusy} act={() =>
              remove.mutate()} />
          )}
          <Button type="submit" kind="primary" disabled={isBusy}>
            {save.isPending ? 'Saving …' : before === undefined ? 'Make the rule' : 'Save'}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

function About({ draft, set, isDataset }: DraftProps & { readonly isDataset: boolean }) {
  const { data } = useQuery({ queryKey: ['projects', 'names', ''],
    queryFn: ({ signal }) => projectPage('', 0, false, signal), staleTime: 10_000 })
  return (
    <FormPart title="Which runs">
      <TextField label="Name" required value={draft.name} maxLength={200} autoComplete="off"
        change={(name) => set({ name })} />
      {!isDataset && (
        <Field label="Project" required>
          {(ids) => (
            <select {...ids} value={draft.project} required onChange={({ target }) =>
              set({ project: target.value })}
            >
              <option value="">Choose …</option>
              {data?.projects.map(({ id, name }) => <option key={id} value={id}>{name}</option>)}
            </select>
          )}
        </Field>
      )}
      <Field label="Filter" hint="In the language of the API, such as eq(is_root, true).">
        {(ids) => (
          <input {...ids} value={draft.filter} maxLength={8_192} spellCheck={false}
            className={`${ids.className} ${css['code']}`}
            onChange={({ target }) => set({ filter: target.value })} />
        )}
      </Field>
      <Count project={draft.project} filter={draft.filter} />
      <Field label="Sample" hint={samplingWords(draft.percent)}>
        {({ className: _, ...ids }) => (
          <input {...ids} type="range" className={css['slider']} min={0} max={100} step={1}
            value={draft.percent} aria-valuetext={samplingWords(draft.percent)}
            onChange={({ target }) => set({ percent: Number(target.value) })} />
        )}
      </Field>
    </FormPart>
  )
}

/** Number of runs that a filter finds, on request: counting is charged to a narrow limit. */
function Count({ project, filter }: { readonly project: string; readonly filter: string }) {
  const { mutate, data, error, isPending, variables } = useMutation({
    mutationFn: (asked: { readonly project: string; readonly filter: string }) =>
      countRuns(asked.project, asked.filter, nowMs() - 24 * 3_600_000),
  })
  const isSame = variables?.project === project && variables.filter === filter
  return (
    <div className={css['count']}>
      <Button small disabled={project === '' || isPending}
        onClick={() => mutate({ project, filter })}
      >
        Count the runs of the last day
      </Button>
      <span role="status">
        {isSame && data !== undefined && `${counted(data, 'run')} of the last day`}
      </span>
      {isSame && error !== null && <ErrorNotice error={error} />}
    </div>
  )
}

function Actions({ draft, set }: DraftProps) {
  const { data: datasets } = useQuery(datasetNames)
  const { data: queues } = useQuery(queueNames)
  return (
    <FormPart title="What is done">
      <Choice label="Add to queue" none="In no queue" value={draft.queue} all={queues}
        change={(queue) => set({ queue })} />
      <Choice label="Keep as an example" none="In no dataset" value={draft.dataset} all={datasets}
        change={(dataset) => set({ dataset })} />
      <Field label="Call a webhook"
        hint="Each run is sent once, with an Idempotency-Key. Headers stay with the address."
      >
        {(ids) => (
          <input {...ids} type="url" value={draft.webhook} maxLength={2_048} placeholder="https://"
            onChange={({ target }) => set({ webhook: target.value })} />
        )}
      </Field>
    </FormPart>
  )
}

function Choice({ label, none, value, all, change }: {
  readonly label: string
  readonly none: string
  readonly value: string
  readonly all: readonly { readonly id: string; readonly name: string }[] | undefined
  readonly change: (id: string) => void
}) {
  const isKnown = value === '' || all?.some(({ id }) => id === value)
  return (
    <Field label={label}>
      {(ids) => (
        <select {...ids} value={value} onChange={({ target }) => change(target.value)}>
          <option value="">{none}</option>
          {!isKnown && <option value={value}>{value}</option>}
          {all?.map(({ id, name }) => <option key={id} value={id}>{name}</option>)}
        </select>
      )}
    </Field>
  )
}
