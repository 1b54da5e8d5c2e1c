/** The dialog that asks which assistant a new thread is for. */

import { useState } from 'react'

import type { Assistant } from '../../api/index.ts'
import { Dialog } from '../parts/dialog.tsx'
import { Input } from '../parts/field.tsx'
import css from '../rows/dialogs.module.css'

const filterFrom = 8

/** Dialog that asks for the assistant of a new thread. */
export function ChooseAssistant({ assistants, choose, close }: {
  readonly assistants: readonly Assistant[]
  readonly choose: (assistant: Assistant) => void
  readonly close: () => void
}) {
  const [words, setWords] = useState('')
  const shown = assistants.filter(({ name, graph_id: graph }) =>
    `${name} ${graph}`.toLowerCase().includes(words.toLowerCase())
  )
  return (
    <Dialog open close={close} title="New thread: which assistant?">
      {assistants.length > filterFrom && (
        <Input type="search" aria-label="Filter assistants" placeholder="Name or graph" autoFocus
          value={words} onChange={({ target }) => setWords(target.value)} />
      )}
      {shown.length === 0 && <p>No assistant has such a name or graph.</p>}
      <ul className={css['list']}>
        {shown.map((assistant) => (
          <li key={assistant.assistant_id}>
            <button type="button" onClick={() => choose(assistant)}>
              <b dir="auto">{assistant.name}</b>
              <span>{assistant.graph_id} · v{assistant.version}</span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}
