/** The drawer that makes a dataset: an empty one, or one of a file after a look at its rows. */

import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'

import { createDataset, uploadDataset } from '../api/platform/datasets.ts'
import { queries } from '../api/query.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { messageOf } from '../parts/error-message.ts'
import { ErrorNotice } from '../parts/notice.tsx'
import { chosenFile, columnsOf } from './chosen-file.ts'
import type { ChosenFile } from './chosen-file.ts'
import { DatasetWords } from './dataset-words.tsx'
import css from './datasets.module.css'
import { FileColumns } from './file-columns.tsx'

/** Drawer that makes a dataset, empty or from a file. */
export function MakeDataset({ close }: { readonly close: () => void }) {
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const [chosen, setChosen] = useState<ChosenFile>()
  const [fault, setFault] = useState<string>()
  const make = useMake()
  const choose = async (file: File | undefined) => {
    setFault(undefined)
    setChosen(undefined)
    if (file === undefined) return
    try {
      setChosen(await chosenFile(file))
      if (name === '') setName(file.name.replace(/\.\w+$/, ''))
    } catch (error) {
      setFault(messageOf(error))
    }
  }
  const submit = () => make.mutate({ name: name.trim(), description, chosen })
  return (
    <Dialog open close={close} title="New dataset" side>
      <form className={css['form']} onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}>
        <DatasetWords name={{ value: name, change: setName }}
          description={{ value: description, change: setDescription }} />
        <Field label="Import a file" error={fault}
          hint={'CSV with a line of names, or JSON objects, one a line (.jsonl). ' +
            'Without a file the dataset is empty.'}
        >
          {(ids) => (
            <input {...ids} className="" type="file" accept=".csv,.jsonl,.ndjson"
              onChange={({ target }) => void choose(target.files?.[0])} />
          )}
        </Field>
        {chosen !== undefined && <FileColumns chosen={chosen} set={setChosen} />}
        {make.isError && <ErrorNotice error={make.error} retry={submit} />}
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={name.trim() === '' || make.isPending}>
            {chosen === undefined ? 'Make it' : 'Import'}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

/** Makes the dataset, and goes to its page. */
function useMake() {
  const navigate = useNavigate()
  return useMutation({
    mutationFn: ({ name, description, chosen }: {
      readonly name: string
      readonly description: string
      /** The file with its examples; none for an empty dataset. */
      readonly chosen: ChosenFile | undefined
    }) =>
      chosen === undefined ? createDataset(name, description) : uploadDataset({
        name,
        description,
        file: chosen.file,
        inputKeys: columnsOf(chosen, 'input'),
        outputKeys: columnsOf(chosen, 'output'),
      }),
    onSuccess: ({ id }) => {
      void queries.invalidateQueries({ queryKey: ['datasets', 'list'] })
      return navigate({ to: '/datasets/$id', params: { id }, search: {} })
    },
  })
}
