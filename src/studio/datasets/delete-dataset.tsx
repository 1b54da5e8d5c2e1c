/** Asks before a dataset is deleted: its name is typed, because nothing brings it back. */

import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'

import type { Dataset } from '../../api/index.ts'
import { deleteDataset } from '../api/platform/datasets.ts'
import { queries } from '../api/query.ts'
import { counted } from '../parts/amounts.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { TextField } from '../parts/field.tsx'
import css from './datasets.module.css'

/** Dialog that deletes a dataset once its name was typed. */
export function DeleteDataset({ dataset, close }: {
  readonly dataset: Dataset
  readonly close: () => void
}) {
  const navigate = useNavigate()
  const [typed, setTyped] = useState('')
  const work = useMutation({
    mutationFn: () => deleteDataset(dataset.id),
    onSuccess: async () => {
      await navigate({ to: '/datasets', search: {} })
      queries.removeQueries({ queryKey: ['datasets', dataset.id] })
      return queries.invalidateQueries({ queryKey: ['datasets', 'list'] })
    },
  })
  return (
    <Dialog open close={close} title="Delete this dataset?">
      <form className={css['form']} onSubmit={(event) => {
        event.preventDefault()
        work.mutate()
      }}>
        <p>
          <b dir="auto">{dataset.name}</b> goes with {counted(dataset.example_count, 'example')}
          {' '}
          in all versions. This cannot be undone.
        </p>
        <TextField label="Type the name of the dataset" value={typed} autoComplete="off"
          change={setTyped} />
        {work.isError && <ErrorNotice error={work.error} retry={() => work.mutate()} />}
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="danger" disabled={typed !== dataset.name || work.isPending}>
            Delete
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
