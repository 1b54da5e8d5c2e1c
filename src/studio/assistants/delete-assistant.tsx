/** Asks before an assistant is deleted, and says what goes with it. */

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'

import type { Assistant } from '../../api/index.ts'
import { deleteAssistant } from '../api/assistant-versions.ts'
import { counted } from '../parts/amounts.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import css from './assistants.module.css'

/** Dialog that deletes an assistant, and on request the threads that were made with it. */
export function DeleteAssistant({ assistant, versions, close, deleted }: {
  readonly assistant: Assistant
  /** Number of versions of the assistant; undefined until that is known. */
  readonly versions: number | undefined
  readonly close: () => void
  readonly deleted: () => void
}) {
  const [withThreads, setWithThreads] = useState(false)
  const client = useQueryClient()
  const remove = useMutation({
    mutationFn: () => deleteAssistant(assistant.assistant_id, withThreads),
    onSuccess: () => {
      deleted()
      return client.invalidateQueries({ queryKey: ['assistants'] })
    },
  })
  return (
    <Dialog open close={close} title="Delete this assistant?">
      <p className={css['words']}>
        <b dir="auto">{assistant.name}</b> goes with{' '}
        {versions === undefined ? 'all its versions' : counted(versions, 'version')}, and with its
        crons. This cannot be undone.
      </p>
      <label className={css['tick']}>
        <input type="checkbox" checked={withThreads}
          onChange={({ target }) => setWithThreads(target.checked)} />
        Delete the threads that were made with it as well
      </label>
      {remove.isError && <ErrorNotice error={remove.error} retry={() => remove.mutate()} />}
      <div className={css['acts']}>
        <Button kind="danger" disabled={remove.isPending} onClick={() => remove.mutate()}>
          Delete
        </Button>
        <Button kind="quiet" onClick={close}>Cancel</Button>
      </div>
    </Dialog>
  )
}
