/** The dataset that something is added to: one that is there, or a new one. */

import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { createDataset, datasetChoice } from '../api/platform/datasets.ts'
import { Field, Select, TextField } from '../parts/field.tsx'
import { ErrorNotice } from '../parts/notice.tsx'

/** Value of the choice for a dataset that is made first. */
const newDataset = 'new'

/** The chosen dataset, and `make`, which resolves with its id when it is there. */
export function useDatasetTarget(chosen?: string) {
  const list = useQuery(datasetChoice(chosen))
  const [picked, pick] = useState(chosen)
  const [name, setName] = useState('')
  const id = picked ?? list.data?.[0]?.id ?? newDataset
  const isNew = id === newDataset
  return { list, id, isNew, pick, name, setName,
    isReady: !list.isPending && (!isNew || name.trim() !== ''),
    make: async () => isNew ? (await createDataset(name.trim(), '')).id : id }
}

/** Fields that choose a dataset. */
export function DatasetFields({ target: { list, id, isNew, pick, name, setName } }: {
  readonly target: ReturnType<typeof useDatasetTarget>
}) {
  return (
    <>
      <Field label="Dataset">
        {(ids) => (
          <Select {...ids} value={id} disabled={list.isPending}
            onChange={({ target: { value } }) => pick(value)}
          >
            {list.data?.map(({ id: each, name: words }) => (
              <option key={each} value={each}>{words}</option>
            ))}
            <option value={newDataset}>New dataset …</option>
          </Select>
        )}
      </Field>
      {isNew && <TextField label="Name" required value={name} maxLength={255} change={setName} />}
      {list.isError && <ErrorNotice error={list.error} />}
    </>
  )
}
