/** The drawer that changes the name and the words of a dataset, and what its examples must fit. */

import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'

import type { Dataset } from '../../api/index.ts'
import type { JsonObject } from '../api/client.ts'
import { patchDataset } from '../api/platform/datasets.ts'
import { queries } from '../api/query.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { JsonEditor } from '../json/json-editor.tsx'
import { messageOf } from '../parts/error-message.ts'
import { ErrorNotice } from '../parts/notice.tsx'
import { DatasetWords } from './dataset-words.tsx'
import css from './datasets.module.css'

const schemas = [{ name: 'inputs', label: 'Schema of inputs' }, { name: 'outputs',
  label: 'Schema of outputs' }] as const

type Texts = Readonly<Record<typeof schemas[number]['name'], string>>

/** Drawer that changes the name, the description and the schemas of a dataset. */
export function ChangeDataset({ dataset, close }: {
  readonly dataset: Dataset
  readonly close: () => void
}) {
  const [name, setName] = useState(dataset.name)
  const [description, setDescription] = useState(dataset.description ?? '')
  const [texts, setTexts] = useState<Texts>({ inputs: textOf(dataset.inputs_schema_definition),
    outputs: textOf(dataset.outputs_schema_definition) })
  const [faults, setFaults] = useState<Partial<Texts>>({})
  const work = useMutation({
    mutationFn: () =>
      patchDataset(dataset.id, { name: name.trim(), description,
        inputs_schema_definition: schemaIn(texts.inputs, dataset.inputs_schema_definition),
        outputs_schema_definition: schemaIn(texts.outputs, dataset.outputs_schema_definition) }),
    onSuccess: () => {
      close()
      return queries.invalidateQueries({ queryKey: ['datasets'] })
    },
  })
  const submit = () => {
    const wrong = Object.fromEntries(schemas.flatMap(({ name: part }) => {
      try {
        schemaIn(texts[part], null)
        return []
      } catch (error) {
        return [[part, messageOf(error)]]
      }
    }))
    setFaults(wrong)
    if (Object.keys(wrong).length === 0) work.mutate()
  }
  return (
    <Dialog open close={close} title="Change the dataset" side>
      <form className={css['form']} onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}>
        <DatasetWords name={{ value: name, change: setName }}
          description={{ value: description, change: setDescription }} />
        {schemas.map(({ name: part, label }) => (
          <section key={part}>
            <h3>{label}</h3>
            <JsonEditor label={label} text={texts[part]} fault={faults[part]}
              change={(text) => setTexts((old) => ({ ...old, [part]: text }))} />
          </section>
        ))}
        <p className={css['quiet']}>
          JSON schemas: examples that are written from now on have to fit them. Without one,
          everything fits.
        </p>
        {work.isError && <ErrorNotice error={work.error} />}
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={name.trim() === '' || work.isPending}>
            Save
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

const textOf = (schema: Dataset['inputs_schema_definition']): string =>
  schema ? JSON.stringify(schema, null, 2) : ''

/** The server keeps a schema that is not sent; an empty one, which everything fits, ends it. */
function schemaIn(text: string, before: Dataset['inputs_schema_definition']):
  | JsonObject
  | undefined {
  return text.trim() === '' ? before ? {} : undefined : JSON.parse(text) as JsonObject
}
