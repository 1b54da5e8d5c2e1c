/** The dialog that makes an example of a span: what came in, and what went out. */

import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'

import type { JsonObject } from '../api/client.ts'
import { createExample } from '../api/platform/examples.ts'
import { queries } from '../api/query.ts'
import { useRefusal } from '../api/refusal.ts'
import { spanQuery } from '../api/platform/traces.ts'
import type { Span, SpanPlace } from '../api/platform/traces.ts'
import { Button, buttonClass } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { TextField } from '../parts/field.tsx'
import { JsonTree } from '../json/json-tree.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import css from './datasets.module.css'
import { DatasetFields, useDatasetTarget } from './dataset-target.tsx'
import { exampleOf } from './example-of.ts'

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
  /** Resolves with the id of the dataset, which may be made first. */
  readonly make: () => Promise<string>
  readonly split: string
  readonly source: Pick<Span, 'inputs' | 'outputs'>
}

/** Adds the example; results in the id of its dataset. */
function useAdd({ spanId }: SpanPlace) {
  return useMutation({
    mutationFn: async ({ make, split, source }: Addition) => {
      const id = await make()
      await createExample(id, exampleOf(id, { ...source, id: spanId }, split.trim() || 'base'))
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
  const target = useDatasetTarget(chosen)
  const [split, setSplit] = useState('')
  return (
    <form className={css['form']} onSubmit={(event) => {
      event.preventDefault()
      add.mutate({ make: target.make, split, source: source! })
    }}>
      <DatasetFields target={target} />
      <TextField label="Split" hint="A name such as train; base without one." value={split}
        maxLength={100} change={setSplit} />
      {source
        ? (
          <JsonTree name="example" open={2} height={10}
            value={{ inputs: source.inputs, outputs: source.outputs }} />
        )
        : !span.isError && <Skeleton width="60%" />}
      {[span.error, add.error].filter((error) => error !== null)
        .map((error, at) => <ErrorNotice key={at} error={error} />)}
      <footer>
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" kind="primary" title={refusal}
          disabled={refusal !== undefined || !source || add.isPending || !target.isReady}
        >
          Add
        </Button>
      </footer>
    </form>
  )
}
