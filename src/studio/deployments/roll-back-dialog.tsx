/** Asks before a deployment goes back to an earlier revision, and says what that is not. */

import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'

import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field, TextField } from '../parts/field.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { deploymentQuery, revisionList, rollBack } from '../api/control/control.ts'
import type { Deployment } from '../api/control/deployment.ts'
import css from './parts/deployments.module.css'

/** Dialog that makes an earlier revision active again. */
export function RollBackDialog(
  { deployment: { name, active, previous, env_version: version }, close }: {
    readonly deployment: Deployment
    readonly close: () => void
  },
) {
  const { data } = useInfiniteQuery(revisionList(name))
  const cache = useQueryClient()
  const [to, setTo] = useState(previous ?? '')
  const [message, setMessage] = useState('')
  const ready = (data?.pages.flat() ?? []).filter((revision) =>
    revision.state === 'ready' && revision.name !== active
  ).map((revision) => revision.name)
  const choices = previous === null || ready.includes(previous) ? ready : [previous, ...ready]
  const work = useMutation({
    mutationFn: () => rollBack(name, to, message.trim()),
    onSuccess: async () => {
      await cache.invalidateQueries({ queryKey: deploymentQuery(name).queryKey })
      close()
    },
  })
  return (
    <Dialog open close={close} title={`Roll ${name} back?`}>
      <form className={css['form']} onSubmit={(event) => {
        event.preventDefault()
        work.mutate()
      }}>
        <p>
          New runs take the code of <b>{to}</b> again. Only the code goes back:{' '}
          <b>secrets and data stay as they are now</b> (version {version}{' '}
          of the secrets). Runs that go on end on the revision that they began with.
        </p>
        <Field label="Back to">
          {(ids) => (
            <select {...ids} value={to} onChange={({ target }) => setTo(target.value)}>
              {choices.map((each) => (
                <option key={each} value={each}>
                  {each === previous ? `${each}, active before` : each}
                </option>
              ))}
            </select>
          )}
        </Field>
        <TextField label="Why" hint="Shown in the events." value={message} maxLength={500}
          autoComplete="off" change={setMessage} />
        {work.isError && <ErrorNotice error={work.error} retry={() => work.mutate()} />}
        <footer>
          <Button onClick={close}>Stay with {active}</Button>
          <Button type="submit" kind="primary" disabled={to === '' || work.isPending}>
            Roll back to {to}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
