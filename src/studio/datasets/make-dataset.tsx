/** The drawer that makes a dataset: an empty one, or one of a file after a look at its rows. */

import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'

import { createDataset, uploadDataset } from '../api/platform/datasets.ts'
import { queries } from '../api/query.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field, Select } from '../parts/field.tsx'
import { ErrorNotice, messageOf } from '../parts/notice.tsx'
import { DatasetWords } from './dataset-words.tsx'
import css from './datasets.module.css'
import { lookAt } from './file-look.ts'
import type { FileLook } from './file-look.ts'

/** Bytes of a file that are read for the look at its first rows. */
const lookedBytes = 256 * 1024

/** Role of a column of the file in each example. */
type Use = 'input' | 'output' | 'none'

interface ChosenFile {
  readonly file: File
  readonly isJsonLines: boolean
  readonly look: FileLook
}

/** Columns with these names hold what should come out. */
const outputNames = /^(outputs?|answers?|expected|reference|labels?|targets?)(_|$)/i

/** Drawer that makes a dataset, empty or from a file. */
export function MakeDataset({ close }: { readonly close: () => void }) {
  const navigate = useNavigate()
  const [name, setName] = useState('')
  const [description, setDescription] = useState('')
  const [chosen, setChosen] = useState<ChosenFile>()
  const [fault, setFault] = useState<string>()
  const [uses, setUses] = useState<Readonly<Record<string, Use>>>({})
  const work = useMutation({
    mutationFn: () =>
      chosen === undefined ? createDataset(name.trim(), description) : uploadDataset({
        name: name.trim(),
        description,
        file: chosen.file,
        inputKeys: columnsOf(chosen.look, uses, 'input'),
        outputKeys: columnsOf(chosen.look, uses, 'output'),
      }),
    onSuccess: ({ id }) => {
      void queries.invalidateQueries({ queryKey: ['datasets', 'list'] })
      return navigate({ to: '/datasets/$id', params: { id }, search: {} })
    },
  })
  const choose = async (file: File | undefined) => {
    setFault(undefined)
    setChosen(undefined)
    if (file === undefined) return
    try {
      const isJsonLines = /\.(jsonl|ndjson)$/i.test(file.name)
      const text = await file.slice(0, lookedBytes).text()
      const look = lookAt(text, file.size <= lookedBytes, isJsonLines)
      setChosen({ file, isJsonLines, look })
      setUses(
        Object.fromEntries(
          look.columns.map((column) => [column, outputNames.test(column) ? 'output' : 'input']),
        ),
      )
      if (name === '') setName(file.name.replace(/\.\w+$/, ''))
    } catch (error) {
      setFault(messageOf(error))
    }
  }
  return (
    <Dialog open close={close} title="New dataset" side>
      <form className={css['form']} onSubmit={(event) => {
        event.preventDefault()
        work.mutate()
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
        {chosen !== undefined && (
          <>
            <FirstRows look={chosen.look} />
            {!isOfExamples(chosen) && <Columns look={chosen.look} uses={uses} set={setUses} />}
          </>
        )}
        {work.isError && <ErrorNotice error={work.error} retry={() => work.mutate()} />}
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={name.trim() === '' || work.isPending}>
            {chosen === undefined ? 'Make it' : 'Import'}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}

/** Lines that have inputs already need nobody to say what their columns are. */
const isOfExamples = ({ isJsonLines, look }: ChosenFile): boolean =>
  isJsonLines && look.columns.includes('inputs')

const columnsOf = ({ columns }: FileLook, uses: Readonly<Record<string, Use>>, use: Use) =>
  columns.filter((column) => uses[column] === use)

function FirstRows({ look: { columns, rows } }: { readonly look: FileLook }) {
  return (
    <div className={css['look']} role="region" aria-label="First rows" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map((column, at) => <th key={at} scope="col" dir="auto">{column}</th>)}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {columns.map((_, place) => (
                <td key={place} dir="auto" title={row[place]?.slice(0, 400)}>
                  {row[place]?.slice(0, 200)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Columns({ look, uses, set }: {
  readonly look: FileLook
  readonly uses: Readonly<Record<string, Use>>
  readonly set: (uses: Readonly<Record<string, Use>>) => void
}) {
  return (
    <div className={css['columns']} role="group" aria-label="What the columns are">
      {look.columns.map((column) => (
        <label key={column}>
          <span dir="auto" title={column}>{column}</span>
          <Select value={uses[column]}
            onChange={({ target }) => set({ ...uses, [column]: target.value as Use })}
          >
            <option value="input">comes in</option>
            <option value="output">should come out</option>
            <option value="none">is left out</option>
          </Select>
        </label>
      ))}
    </div>
  )
}
