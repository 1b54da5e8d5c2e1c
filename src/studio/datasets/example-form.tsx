/** The form of an example: its JSON, its splits, and the buttons that save and delete it. */

import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'

import type { Example } from '../../api/index.ts'
import { createExample, deleteExample, patchExample } from '../api/platform/examples.ts'
import { queries } from '../api/query.ts'
import { JsonEditor } from '../json/json-editor.tsx'
import { Button } from '../parts/button.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { TextField } from '../parts/field.tsx'
import css from './datasets.module.css'
import { bodyOf, draftOf, faultsOf, jsonParts } from './example-draft.ts'
import type { ExampleDraft } from './example-draft.ts'
import { ExampleOrigin } from './example-origin.tsx'

/** An example, and the way out of its drawer. */
export interface ExampleFormProps {
  readonly datasetId: string
  /** Undefined for a new one. */
  readonly example: Example | undefined
  /** The reason why this caller may change nothing. */
  readonly refusal: string | undefined
  readonly close: () => void
}

const labels = { inputs: 'Inputs', outputs: 'Outputs', metadata: 'Metadata' }

/** Form for an example. */
export function ExampleForm({ datasetId, example, refusal, close }: ExampleFormProps) {
  const [draft, setDraft] = useState(() => draftOf(example))
  const [faults, setFaults] = useState<Partial<ExampleDraft>>({})
  const set = (part: Partial<ExampleDraft>) => setDraft((old) => ({ ...old, ...part }))
  const { save, remove } = useExampleCalls(datasetId, example, close)
  const failed = save.error ?? remove.error
  return (
    <form className={css['form']} onSubmit={(event) => {
      event.preventDefault()
      const found = faultsOf(draft)
      setFaults(found)
      if (Object.keys(found).length === 0) save.mutate(draft)
    }}>
      {jsonParts.map((name) => (
        <section key={name}>
          <h3>{labels[name]}</h3>
          <JsonEditor label={labels[name]} text={draft[name]} fault={faults[name]}
            change={(text) => set({ [name]: text })} />
        </section>
      ))}
      <TextField label="Splits" hint="Names with commas between them, such as train, hard."
        value={draft.splits} maxLength={1_000} change={(splits) => set({ splits })} />
      {example !== undefined && <ExampleOrigin example={example} />}
      {failed !== null && <ErrorNotice error={failed} />}
      <footer>
        {example !== undefined && (
          <Button kind="danger" disabled={refusal !== undefined || remove.isPending}
            title={refusal ?? 'Older versions still have it.'} onClick={() => remove.mutate()}
          >
            Delete
          </Button>
        )}
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" kind="primary" title={refusal}
          disabled={refusal !== undefined || save.isPending}
        >
          Save
        </Button>
      </footer>
    </form>
  )
}

/** The calls that save and delete an example; both close its drawer when they succeed. */
function useExampleCalls(datasetId: string, example: Example | undefined, close: () => void) {
  const onSuccess = () => {
    close()
    return queries.invalidateQueries({ queryKey: ['datasets'] })
  }
  const save = useMutation({ onSuccess, mutationFn: async (draft: ExampleDraft) => {
    const body = bodyOf(draft)
    await (example === undefined
      ? createExample(datasetId, body)
      : patchExample(example.id, body))
  } })
  const remove = useMutation({ onSuccess, mutationFn: () => deleteExample(example!.id) })
  return { save, remove }
}
