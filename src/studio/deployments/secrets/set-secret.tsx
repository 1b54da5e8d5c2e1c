/** Sets a secret: its value is written here, and read by no page again. */

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'

import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { ErrorNotice } from '../../parts/notice.tsx'
import { setSecret } from '../../api/control/control.ts'
import css from '../parts/deployments.module.css'

const nameOfVariable = /^[A-Za-z_][A-Za-z0-9_]*$/

/** The dialog; without a name it asks for one. */
export function SetSecret({ deployment, name, close }: {
  readonly deployment: string
  readonly name: string | undefined
  readonly close: () => void
}) {
  const cache = useQueryClient()
  const [typed, setTyped] = useState(name ?? '')
  const [value, setValue] = useState('')
  const work = useMutation({
    mutationFn: () => setSecret(deployment, typed, value),
    onSuccess: close,
    onSettled: () => cache.invalidateQueries({ queryKey: ['deployments', deployment] }),
  })
  const isName = nameOfVariable.test(typed)
  return (
    <Dialog open close={close} title={name === undefined ? 'Set a secret' : `Replace ${name}`}>
      <form className={css['form']} onSubmit={(event) => {
        event.preventDefault()
        work.mutate()
      }}>
        {name === undefined && (
          <Field label="Name" error={typed === '' || isName
            ? undefined
            : 'Letters, digits and underscores, and no digit first.'}
          >
            {(ids) => (
              <input {...ids} value={typed} autoComplete="off" autoCapitalize="none" autoFocus
                spellCheck={false} onChange={({ target }) => setTyped(target.value.trim())} />
            )}
          </Field>
        )}
        <Field label="Value" hint="It is sealed in the store, and never shown again.">
          {(ids) => (
            <textarea {...ids} className={`${ids.className} ${css['masked']}`} rows={2}
              value={value} autoComplete="off" autoCapitalize="none" spellCheck={false}
              autoFocus={name !== undefined} onChange={({ target }) => setValue(target.value)} />
          )}
        </Field>
        {work.isError && <ErrorNotice error={work.error} retry={() => work.mutate()} />}
        <footer>
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={!isName || value === '' || work.isPending}>
            Set it
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
