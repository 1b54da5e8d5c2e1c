/** The dialog that makes an example of a span: what came in, and what went out. */

import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'

import type { Json, JsonObject } from '../api/client.ts'
import { createDataset, datasetChoice } from '../api/platform/datasets.ts'
import { createExample } from '../api/platform/examples.ts'
import { queries } from '../api/query.ts'
import { useRefusal } from '../api/refusal.ts'
import { spanQuery } from '../api/platform/traces.ts'
import type { Span, SpanPlace } from '../api/platform/traces.ts'
import { Button, buttonClass } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field, Select, TextField } from '../parts/field.tsx'
import { JsonTree } from '../json/json-tree.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import css from './datasets.module.css'

/** Value of the choice for a dataset that is made first. */
const newDataset = 'new'

/** An example that is given, instead of what went into the span and out of it. */
export interface GivenExample {
  readonly inputs: JsonObject
  readonly outputs: JsonObject
}

/** A span, and an example that is given instead of its values. */
interface AddToDatasetProps {
  readonly place: SpanPlace
  readonly example?: GivenExample | undefined
  /** The dataset that is chosen at first. */
  readonly chosen?: string | undefined
  readonly close: () => void
}

/** Dialog that adds a span, or a given example, to a dataset. */
export function AddToDataset(props: AddToDatasetProps) {
  const add = useAdd(props.place)
  return (
    <Dialog open close={props.close} title="Add to dataset">
      {add.isSuccess
        ? <Added dataset={add.data} close={props.close} />
        : <AddForm {...props} add={add} />}
    </Dialog>
  )
}

/** The example to add, and where to. */
interface Addition {
  /** The id of a dataset, or `newDataset`. */
  readonly target: string
  /** The name of a new dataset. */
  readonly name: string
  readonly split: string
  readonly source: Pick<Span, 'inputs' | 'outputs'>
}

/** Adds the example; results in the id of its dataset. */
function useAdd({ spanId }: SpanPlace) {
  return useMutation({
    mutationFn: async ({ target, name, split, source: { inputs, outputs } }: Addition) => {
      const id = target === newDataset ? (await createDataset(name.trim(), '')).id : target
      await createExample(id, { inputs: objectOf('input', inputs),
        outputs: outputs === null ? null : objectOf('output', outputs), metadata: {},
        split: [split.trim() || 'base'], source_run_id: spanId })
      return id
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ['datasets'] }),
  })
}

function Added({ dataset, close }: { readonly dataset: string; readonly close: () => void }) {
  return (
    <div className={css['form']}>
      <p role="status">The example was added.</p>
      <footer>
        <Button onClick={close}>Close</Button>
        <Link to="/datasets/$id" params={{ id: dataset }} search={{}}
          className={buttonClass('primary')}
        >
          Open the dataset
        </Link>
      </footer>
    </div>
  )
}

function AddForm({ place, example, chosen, close, add }:
  & AddToDatasetProps
  & { readonly add: ReturnType<typeof useAdd> }) {
  const refusal = useRefusal()
  const span = useQuery({ ...spanQuery(place), enabled: example === undefined })
  const source = example ?? span.data
  const list = useQuery(datasetChoice(chosen))
  const [picked, setPicked] = useState(chosen)
  const [name, setName] = useState('')
  const [split, setSplit] = useState('')
  const target = picked ?? list.data?.[0]?.id ?? newDataset
  return (
    <form className={css['form']} onSubmit={(event) => {
      event.preventDefault()
      add.mutate({ target, name, split, source: source! })
    }}>
      <Field label="Dataset">
        {(ids) => (
          <Select {...ids} value={target} disabled={list.isPending}
            onChange={({ target: { value } }) => setPicked(value)}
          >
            {list.data?.map(({ id, name: words }) => <option key={id} value={id}>{words}</option>)}
            <option value={newDataset}>New dataset …</option>
          </Select>
        )}
      </Field>
      {target === newDataset && (
        <TextField label="Name" required value={name} maxLength={255} change={setName} />
      )}
      <TextField label="Split" hint="A name such as train; base without one." value={split}
        maxLength={100} change={setSplit} />
      {source
        ? (
          <JsonTree name="example" open={2} height={10}
            value={{ inputs: source.inputs, outputs: source.outputs }} />
        )
        : !span.isError && <Skeleton width="60%" />}
      {[span.error, list.error, add.error].filter((error) => error !== null)
        .map((error, at) => <ErrorNotice key={at} error={error} />)}
      <footer>
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" kind="primary" title={refusal}
          disabled={refusal !== undefined || !source || add.isPending ||
            target === newDataset && name.trim() === ''}
        >
          Add
        </Button>
      </footer>
    </form>
  )
}

function objectOf(name: string, value: Json): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? value as JsonObject
    : { [name]: value }
}
