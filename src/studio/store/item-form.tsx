/** The form of an item: a new one, or the next value of one. */

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'

import { JsonEditor } from '../json/json-editor.tsx'
import { Button } from '../parts/button.tsx'
import { Field, TextField } from '../parts/field.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { draftOfItem, emptyItem, putOf } from './item-draft.ts'
import type { ItemDraft } from './item-draft.ts'
import { putItem } from './store-calls.ts'
import type { StoredItem } from './store-calls.ts'
import css from './store.module.css'

/** The form; `saved` gets the labels and the key. */
export function ItemForm({ before, namespace, saved }: {
  readonly before?: StoredItem
  readonly namespace: readonly string[]
  readonly saved: (labels: readonly string[], key: string) => void
}) {
  const [draft, setDraft] = useState(() =>
    before === undefined ? emptyItem(namespace) : draftOfItem(before)
  )
  const set = (change: Partial<ItemDraft>) => setDraft((now) => ({ ...now, ...change }))
  const cache = useQueryClient()
  const save = useMutation({
    mutationFn: async () => {
      const body = putOf(draft)
      await putItem(body)
      return body
    },
    onSuccess: async ({ namespace: labels, key }) => {
      await cache.invalidateQueries({ queryKey: ['store'] })
      saved(labels, key)
    },
  })
  return (
    <form className={css['form']} onSubmit={(event) => {
      event.preventDefault()
      save.mutate()
    }}>
      {before === undefined && (
        <>
          <TextField label="Namespace" required value={draft.namespace} autoComplete="off"
            spellCheck={false} hint="Labels with dots between them, such as users.ada."
            change={(text) => set({ namespace: text })} />
          <TextField label="Key" required value={draft.key} autoComplete="off" spellCheck={false}
            maxLength={1_024} change={(key) => set({ key })} />
        </>
      )}
      <div>
        <p className={css['fieldName']} aria-hidden="true">Value</p>
        <JsonEditor label="Value, as JSON" text={draft.value} change={(value) => set({ value })} />
      </div>
      <Expiry draft={draft} set={set} isNew={before === undefined} />
      {save.error !== null && <ErrorNotice error={save.error} />}
      <div className={css['acts']}>
        <Button type="submit" kind="primary" disabled={save.isPending}>
          {save.isPending ? 'Saving …' : before === undefined ? 'Create' : 'Save'}
        </Button>
      </div>
    </form>
  )
}

function Expiry({ draft: { expiry, minutes }, set, isNew }: {
  readonly draft: ItemDraft
  readonly set: (change: Partial<ItemDraft>) => void
  readonly isNew: boolean
}) {
  return (
    <div className={css['pair']}>
      <Field label="Expires">
        {(ids) => (
          <select {...ids} value={expiry}
            onChange={({ target }) => set({ expiry: target.value as ItemDraft['expiry'] })}
          >
            <option value="default">As the project says</option>
            <option value="never">Never</option>
            <option value="minutes">After some minutes</option>
          </select>
        )}
      </Field>
      {expiry === 'minutes' && (
        <TextField label="Minutes" required inputMode="decimal" value={minutes}
          hint={isNew ? undefined : 'They count from when it is saved.'} change={(text) =>
          set({ minutes: text })} />
      )}
    </div>
  )
}
