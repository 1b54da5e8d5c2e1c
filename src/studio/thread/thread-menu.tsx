/** Acts of a thread: rename, metadata, copy, copy as curl, delete. */

import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'

import { apiUrl } from '../api/place.ts'
import { deleteThread, patchThread } from '../api/threads.ts'
import type { Thread } from '../api/threads.ts'
import type { JsonObject } from '../api/client.ts'
import { isObject } from '../json/is-object.ts'
import { Button } from '../parts/button.tsx'
import { copyText } from '../parts/copy-button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { TextField } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { JsonEditor } from '../json/json-editor.tsx'
import { Menu } from '../parts/menu.tsx'
import { messageOf } from '../parts/error-message.ts'
import { ErrorNotice } from '../parts/notice.tsx'
import css from '../parts/form.module.css'
import { keysOf } from './screen/newest-state.ts'

interface ThreadMenuProps {
  readonly thread: Thread
  readonly title: string
  readonly refusal: string | undefined
  readonly copy: () => void
  readonly deleted: () => void
  readonly failed: (error: unknown) => void
}

/** The menu with its dialogs. */
export function ThreadMenu({ thread, title, refusal, copy, deleted, failed }: ThreadMenuProps) {
  const [open, setOpen] = useState<'rename' | 'metadata' | 'delete'>()
  const close = () => setOpen(undefined)
  const { thread_id: id } = thread
  const disabled = refusal !== undefined
  return (
    <>
      <Menu startsOpen
        trigger={<Button kind="quiet" icon={<Icon name="more" />} label="More acts" />} acts={[
        { label: 'Rename', icon: <Icon name="edit" />, disabled, act: () => setOpen('rename') },
        { label: 'Metadata', disabled, act: () => setOpen('metadata') },
        { label: 'Copy the thread', icon: <Icon name="fork" />, disabled, act: copy },
        { label: 'Copy as curl', icon: <Icon name="copy" />,
          act: () => void copyText(curlOf(id)).catch(failed) },
        { label: 'Delete', danger: true, disabled, act: () => setOpen('delete') },
      ]} />
      <Dialog open={open === 'rename'} close={close} title="Rename the thread">
        <RenameForm thread={thread} title={title} close={close} />
      </Dialog>
      <Dialog open={open === 'metadata'} close={close} title="Metadata">
        <MetadataForm thread={thread} close={close} />
      </Dialog>
      <Dialog open={open === 'delete'} close={close} title="Delete the thread?">
        <DeleteForm id={id} title={title} deleted={deleted} close={close} />
      </Dialog>
    </>
  )
}

const curlOf = (id: string) => `curl -s '${apiUrl}/threads/${id}/state' -H 'x-api-key: YOUR_KEY'`

/** State of a form in a dialog: one call, its error, and closing. */
function useCall(close: () => void) {
  const [error, setError] = useState<unknown>()
  const [isBusy, setBusy] = useState(false)
  const call = (act: () => Promise<unknown>) => {
    setBusy(true)
    setError(undefined)
    act().then(close, setError).finally(() => setBusy(false))
  }
  return { error, isBusy, call }
}

function usePatch({ thread_id: id }: Thread) {
  const client = useQueryClient()
  return async (metadata: JsonObject) => {
    await patchThread(id, metadata)
    await client.invalidateQueries({ queryKey: keysOf(id).thread })
  }
}

function RenameForm({ thread, title, close }: {
  readonly thread: Thread
  readonly title: string
  readonly close: () => void
}) {
  const [name, setName] = useState(title)
  const { error, isBusy, call } = useCall(close)
  const patch = usePatch(thread)
  return (
    <form className={css['form']} onSubmit={(event) => {
      event.preventDefault()
      call(() => patch({ title: name.trim() }))
    }}>
      <TextField label="Title" hint="It is kept in the metadata as `title`." value={name} autoFocus
        maxLength={500} change={setName} />
      {error !== undefined && <ErrorNotice error={error} />}
      <footer>
        <Button onClick={close}>Cancel</Button>
        <Button type="submit" kind="primary" disabled={isBusy || name.trim() === ''}>Rename</Button>
      </footer>
    </form>
  )
}

function MetadataForm({ thread, close }: {
  readonly thread: Thread
  readonly close: () => void
}) {
  const [text, setText] = useState(JSON.stringify(thread.metadata, null, 2))
  const { error, isBusy, call } = useCall(close)
  const patch = usePatch(thread)
  const { value, fault } = objectIn(text)
  return (
    <div className={css['form']}>
      <p>What stands here is merged into the metadata; a key that is left out stays as it is.</p>
      <JsonEditor label="Metadata" text={text} change={setText} fault={fault} />
      {error !== undefined && <ErrorNotice error={error} />}
      <footer>
        <Button onClick={close}>Cancel</Button>
        <Button kind="primary" disabled={isBusy || value === undefined}
          onClick={() => call(() => patch(value!))}
        >
          Save
        </Button>
      </footer>
    </div>
  )
}

function objectIn(text: string): { value?: JsonObject; fault?: string } {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value)
      ? { value: value as JsonObject }
      : { fault: 'Metadata are an object.' }
  } catch (error) {
    return { fault: messageOf(error) }
  }
}

function DeleteForm({ id, title, deleted, close }: {
  readonly id: string
  readonly title: string
  readonly deleted: () => void
  readonly close: () => void
}) {
  const { error, isBusy, call } = useCall(deleted)
  return (
    <div className={css['form']}>
      <p>
        <b dir="auto">{title}</b> goes with all its steps and runs. Nothing brings it back.
      </p>
      {error !== undefined && <ErrorNotice error={error} />}
      <footer>
        <Button onClick={close}>Cancel</Button>
        <Button kind="danger" disabled={isBusy} onClick={() => call(() => deleteThread(id))}>
          Delete
        </Button>
      </footer>
    </div>
  )
}
