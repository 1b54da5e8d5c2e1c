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
import type { SpanPlace } from '../api/platform/traces.ts'
import { Button, buttonClass } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field, Select } from '../parts/field.tsx'
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

/** Dialog that adds a span, or a given example, to a dataset. */
export function AddToDataset({ place, example, chosen, close }: {
  readonly place: SpanPlace
  readonly example?: GivenExample | undefined
  /** The dataset that is chosen at first. */
  readonly chosen?: string | undefined
  readonly close: () => void
}) {
  const refusal = useRefusal()
  const span = useQuery({ ...spanQuery(place), enabled: example === undefined })
  const source = example ?? span.data
  const list = useQuery(datasetChoice(chosen))
  const [picked, setPicked] = useState(chosen)
  const [name, setName] = useState('')
  const [split, setSplit] = useState('')
  const datasets = list.data ?? []
  const target = picked ?? datasets[0]?.id ?? newDataset
  const work = useMutation({
    mutationFn: async () => {
      const id = target === newDataset ? (await createDataset(name.trim(), '')).id : target
      const { inputs, outputs } = source!
      await createExample(id, { inputs: objectOf('input', inputs),
        outputs: outputs === null ? null : objectOf('output', outputs), metadata: {},
        split: [split.trim() || 'base'], source_run_id: place.spanId })
      return id
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ['datasets'] }),
  })
  return (
    <Dialog open close={close} title="Add to dataset">
      {work.isSuccess
        ? (
          <div className={css['form']}>
            <p role="status">The example was added.</p>
            <footer>
              <Button onClick={close}>Close</Button>
              <Link to="/datasets/$id" params={{ id: work.data }} search={{}}
                className={buttonClass('primary')}
              >
                Open the dataset
              </Link>
            </footer>
          </div>
        )
        : (
          <form className={css['form']} onSubmit={(event) => {
            event.preventDefault()
            work.mutate()
          }}>
            <Field label="Dataset">
              {(ids) => (
                <Select {...ids} value={target} disabled={list.isPending}
                  onChange={({ target: { value } }) => setPicked(value)}
                >
                  {datasets.map(({ id, name: words }) => (
                    <option key={id} value={id}>{words}</option>
                  ))}
                  <option value={newDataset}>New dataset …</option>
                </Select>
              )}
            </Field>
            {target === newDataset && (
              <Field label="Name" required>
                {(ids) => (
                  <input {...ids} value={name} maxLength={255} dir="auto"
                    onChange={({ target: { value } }) => setName(value)} />
                )}
              </Field>
            )}
            <Field label="Split" hint="A name such as train; base without one.">
              {(ids) => (
                <input {...ids} value={split} maxLength={100} dir="auto"
                  onChange={({ target: { value } }) => setSplit(value)} />
              )}
            </Field>
            {source
              ? (
                <JsonTree name="example" open={2} height={10}
                  value={{ inputs: source.inputs, outputs: source.outputs }} />
              )
              : !span.isError && <Skeleton width="60%" />}
            {[span.error, list.error, work.error].filter((error) => error !== null)
              .map((error, at) => <ErrorNotice key={at} error={error} />)}
            <footer>
              <Button onClick={close}>Cancel</Button>
              <Button type="submit" kind="primary" title={refusal}
                disabled={refusal !== undefined || !source || work.isPending ||
                  target === newDataset && name.trim() === ''}
              >
                Add
              </Button>
            </footer>
          </form>
        )}
    </Dialog>
  )
}

function objectOf(name: string, value: Json): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? value as JsonObject
    : { [name]: value }
}
