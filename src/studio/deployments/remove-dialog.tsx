/** Asks twice before a deployment is removed: its name is typed, because nothing brings it back. */

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'

import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { removeDeployment } from '../api/control/control.ts'
import type { Deployment } from '../api/control/deployment.ts'
import css from './parts/deployments.module.css'

/** Dialog that removes a deployment once its name was typed. */
export function RemoveDialog({ deployment: { name, url }, close }: {
  readonly deployment: Deployment
  readonly close: () => void
}) {
  const cache = useQueryClient()
  const navigate = useNavigate()
  const [typed, setTyped] = useState('')
  const work = useMutation({
    mutationFn: () => removeDeployment(name),
    onSuccess: async () => {
      await navigate({ to: '/deployments' })
      cache.removeQueries({ queryKey: ['deployments', name] })
      return cache.invalidateQueries({ queryKey: ['deployments', 'list'] })
    },
  })
  return (
    <Dialog open close={close} title="Remove this deployment?">
      <form className={css['form']} onSubmit={(event) => {
        event.preventDefault()
        work.mutate()
      }}>
        <p>
          <b>{name}</b> goes with its revisions, secrets, threads and all other data, and{' '}
          <code>{url}</code> answers nobody any more. This cannot be undone.
        </p>
        <Field label="Type the name of the deployment">
          {(ids) => (
            <input {...ids} value={typed} autoComplete="off" autoCapitalize="none"
              spellCheck={false} onChange={({ target }) => setTyped(target.value)} />
          )}
        </Field>
        {work.isError && <ErrorNotice error={work.error} retry={() => work.mutate()} />}
        <footer>
          <Button onClick={close}>Keep it</Button>
          <Button type="submit" kind="danger" disabled={typed !== name || work.isPending}>
            Remove it with its data
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
