/** The drawer that begins an experiment, which the server carries out. */

import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'

import { assistantList } from '../api/assistants.ts'
import { beginExperiment, firstExample } from '../api/platform/background-experiments.ts'
import { queries } from '../api/query.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field, TextField } from '../parts/field.tsx'
import form from '../parts/form.module.css'
import { ErrorNotice } from '../parts/notice.tsx'
import { savedModels } from '../api/platform/models.ts'
import { datasetNames } from '../api/platform/datasets.ts'
import { bodyOf, draftOf, missingIn, suggested } from './experiment-draft.ts'
import type { DraftStart, ExperimentDraft } from './experiment-draft.ts'
import { EvaluatorFields } from './evaluator-fields.tsx'
import { TargetFields } from './target-fields.tsx'

/** Drawer with the form of an experiment. What it is opened with is chosen already. */
export function RunExperiment({ start, close }: {
  readonly start: DraftStart
  readonly close: () => void
}) {
  const [typed, setTyped] = useState(() => draftOf(start))
  const set = (change: Partial<ExperimentDraft>) => setTyped((old) => ({ ...old, ...change }))
  const { data: assistants } = useQuery(assistantList)
  const { data: models } = useQuery(savedModels)
  const { data: example } = useQuery({ ...firstExample(typed.dataset),
    enabled: typed.dataset !== '' })
  // One that nobody chose yet.
  const draft = { ...typed, assistant: typed.assistant || (assistants?.[0]?.assistant_id ?? '') }
  const suggestion = suggested(example)
  const begin = useBegin(close)
  const missing = missingIn(draft)
  const submit = () =>
    begin.mutate(
      bodyOf(draft, suggestion, (name) => models?.find((each) => each.name === name)?.settings),
    )
  return (
    <Dialog open close={close} title="Run an experiment" side>
      <form className={form['form']} onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}>
        {start.dataset === undefined && <DatasetField draft={draft} set={set} />}
        <TargetFields draft={draft} set={set} suggestion={suggestion} example={example} />
        <EvaluatorFields draft={draft} set={set} />
        <TextField label="Repetitions" type="number" min={1} max={20} required
          hint="Each example is asked so often." value={draft.repetitions}
          change={(repetitions) => set({ repetitions })} />
        <TextField label="At the same time" type="number" min={1} max={8} required
          value={draft.atOnce} change={(atOnce) => set({ atOnce })} />
        <TextField label="Name" placeholder="Of what is asked" value={draft.name} maxLength={200}
          autoComplete="off" change={(name) => set({ name })} />
        {begin.isError && <ErrorNotice error={begin.error} retry={submit} />}
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="primary" title={missing}
            disabled={missing !== undefined || begin.isPending}
          >
            Run
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

/** Begins it, and goes to where its progress is. */
function useBegin(close: () => void) {
  const navigate = useNavigate()
  return useMutation({
    mutationFn: beginExperiment,
    onSuccess: async ({ dataset_id: id }) => {
      void queries.invalidateQueries({ queryKey: ['experiments'] })
      close()
      await navigate({ to: '/datasets/$id', params: { id }, search: { view: 'experiments' } })
    },
  })
}

function DatasetField({ draft, set }: {
  readonly draft: ExperimentDraft
  readonly set: (change: Partial<ExperimentDraft>) => void
}) {
  const { data } = useQuery(datasetNames)
  return (
    <Field label="Dataset" required>
      {(ids) => (
        <select {...ids} required value={draft.dataset}
          onChange={({ target }) => set({ dataset: target.value })}
        >
          <option value="">Choose …</option>
          {data?.map(({ id, name }) => <option key={id} value={id}>{name}</option>)}
        </select>
      )}
    </Field>
  )
}
