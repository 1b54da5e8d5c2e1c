/** The dialog that chooses the columns of the list of traces. */

import { useId, useState } from 'react'
import type { FormEvent } from 'react'

import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Select, TextField } from '../../parts/field.tsx'
import { Icon } from '../../parts/icon.tsx'
import css from './columns-dialog.module.css'
import { columnId, columnsMax, fieldColumns, toggledColumn, usualColumns } from './columns.ts'
import type { Column } from './columns.ts'
import type { ColumnsInUse } from './use-columns.ts'

/** Keys that rows of the list have. */
export interface KnownKeys {
  readonly metadata: readonly string[]
  readonly feedback: readonly string[]
}

/** Dialog with a box for each field, and the keys that were added. */
export function ColumnsDialog({ inUse: { columns, isUsual, choose }, known, close }: {
  readonly inUse: ColumnsInUse
  readonly known: KnownKeys
  readonly close: () => void
}) {
  const [kind, setKind] = useState<'metadata' | 'feedback'>('metadata')
  const [key, setKey] = useState('')
  const listId = useId()
  const shown = new Set(columns.map(columnId))
  const added = columns.filter((column) => column.kind !== 'field')
  const column: Column = { kind, name: key.trim() }
  const isFull = columns.length >= columnsMax
  const add = (event: FormEvent) => {
    event.preventDefault()
    if (column.name !== '' && !shown.has(columnId(column))) choose(toggledColumn(columns, column))
    setKey('')
  }
  return (
    <Dialog open close={close} title="Columns">
      <fieldset className={css['fields']}>
        <legend className="unseen">Fields</legend>
        {fieldColumns.map(({ name, words }) => {
          const field: Column = { kind: 'field', name }
          return (
            <label key={name}>
              <input type="checkbox" checked={shown.has(columnId(field))}
                disabled={isFull && !shown.has(columnId(field))}
                onChange={() => choose(toggledColumn(columns, field))} />
              {words}
            </label>
          )
        })}
      </fieldset>
      {added.length > 0 && (
        <ul className={css['keys']} aria-label="Keys">
          {added.map((each) => (
            <li key={columnId(each)}>
              <span dir="auto">{each.name}</span>
              <small>{each.kind}</small>
              <Button kind="quiet" small icon={<Icon name="trash" size={14} />}
                label={`Remove ${each.name}`} onClick={() =>
                choose(toggledColumn(columns, each))} />
            </li>
          ))}
        </ul>
      )}
      <form className={css['line']} onSubmit={add}>
        <Select aria-label="Kind of the key" value={kind}
          onChange={({ target: { value } }) =>
            setKind(value === 'feedback' ? 'feedback' : 'metadata')}
        >
          <option value="metadata">Metadata</option>
          <option value="feedback">Feedback</option>
        </Select>
        <TextField label="Key" value={key} change={setKey} maxLength={100} list={listId}
          autoComplete="off" spellCheck={false} />
        <datalist id={listId}>
          {known[kind].map((each) => <option key={each} value={each} />)}
        </datalist>
        <Button type="submit" disabled={column.name === '' || isFull}>Add</Button>
      </form>
      <footer className={css['line']}>
        <p>Drag the left edge of a head to change its width.</p>
        <Button kind="quiet" disabled={isUsual} onClick={() => choose(usualColumns)}>
          Usual columns
        </Button>
      </footer>
    </Dialog>
  )
}
