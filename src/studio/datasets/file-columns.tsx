/** The first rows of a chosen file, and the choice of what its columns are. */

import { Select } from '../parts/field.tsx'
import { isOfExamples } from './chosen-file.ts'
import type { ChosenFile, ColumnUse } from './chosen-file.ts'
import css from './datasets.module.css'
import type { FileLook } from './file-look.ts'

/** First rows of a file, and the use of its columns unless its lines say it. */
export function FileColumns({ chosen, set }: {
  readonly chosen: ChosenFile
  readonly set: (chosen: ChosenFile) => void
}) {
  return (
    <>
      <FirstRows look={chosen.look} />
      {!isOfExamples(chosen) && <Columns chosen={chosen} set={set} />}
    </>
  )
}

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

function Columns({ chosen, set }: Parameters<typeof FileColumns>[0]) {
  const { look, uses } = chosen
  const use = (column: string, as: ColumnUse) => set({ ...chosen, uses: { ...uses, [column]: as } })
  return (
    <div className={css['columns']} role="group" aria-label="What the columns are">
      {look.columns.map((column) => (
        <label key={column}>
          <span dir="auto" title={column}>{column}</span>
          <Select value={uses[column]}
            onChange={({ target }) => use(column, target.value as ColumnUse)}
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
