/** Makes a revision the one that new runs take, or gives it a share of them. */

import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'

import { ApiError } from '../api/client.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field, TextField } from '../parts/field.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { activate, checkRevision, deploymentQuery } from '../api/control/control.ts'
import type { Deployment } from '../api/control/deployment.ts'
import css from './parts/deployments.module.css'
import { GraphFailures } from './graph-failures.tsx'
import { reportWords } from './report-words.ts'

const shares = [100, 50, 25, 10, 5, 1] as const

/** Dialog that makes a revision active for a share of the new runs. */
export function ActivateDialog({ deployment, revision, close }: {
  readonly deployment: Deployment
  readonly revision: string
  readonly close: () => void
}) {
  const { active, next } = deployment
  const [percent, setPercent] = useState(100)
  const [message, setMessage] = useState('')
  const { work, check } = useRolloutCalls(deployment, revision, close)
  return (
    <Dialog open close={close} title={`Roll out ${revision}?`}>
      <form className={css['form']} onSubmit={(event) => {
        event.preventDefault()
        work.mutate({ percent, message: message.trim() })
      }}>
        <p>
          Every member loads {revision} first; if one cannot,{' '}
          {active === null ? 'nothing becomes active' : `${active} stays active`}. Runs that go on
          end on the revision that they began with.
        </p>
        <Field label="New runs that take it"
          hint={percent < 100 ? 'A thread stays with the revision that it was given.' : undefined}
        >
          {(ids) => (
            <select {...ids} value={percent}
              onChange={({ target }) => setPercent(Number(target.value))}
            >
              {sharesFor(active, revision).map((each) => (
                <option key={each} value={each}>{each === 100 ? 'all' : `${each} %`}</option>
              ))}
            </select>
          )}
        </Field>
        {next !== null && next.revision !== revision && (
          <p>{next.revision} gives back its {next.percent} %.</p>
        )}
        <TextField label="Why" hint="Shown in the events." value={message} maxLength={500}
          autoComplete="off" change={setMessage} />
        <div aria-live="polite" className={css['report']}>
          {check.data !== undefined && (
            <ul>
              {reportWords(check.data.report).map((words) => <li key={words}>{words}</li>)}
            </ul>
          )}
        </div>
        <Refusal error={check.error} />
        <Refusal error={work.error} />
        <footer>
          {active !== null && (
            <Button className={css['aside']} disabled={check.isPending || work.isPending}
              onClick={() => check.mutate()}
            >
              {check.isPending ? 'Checks …' : 'What changes?'}
            </Button>
          )}
          <Button onClick={close}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={work.isPending}>Roll out</Button>
        </footer>
      </form>
    </Dialog>
  )
}

/** Shares to choose from. Only an active revision other than this one can keep the rest. */
const sharesFor = (active: string | null, revision: string): readonly number[] =>
  active === null || active === revision ? [100] : shares

/** The call that rolls a revision out, which closes the dialog, and the one that checks it. */
function useRolloutCalls({ name, active }: Deployment, revision: string, close: () => void) {
  const cache = useQueryClient()
  const work = useMutation({
    mutationFn: (options: { readonly percent: number; readonly message: string }) =>
      activate(name, revision, { ...options, expect: active }),
    onSuccess: async () => {
      await cache.invalidateQueries({ queryKey: deploymentQuery(name).queryKey })
      close()
    },
  })
  const check = useMutation({
    mutationFn: () => checkRevision(name, revision),
    onSettled: () => cache.invalidateQueries({ queryKey: ['deployments', name] }),
  })
  return { work, check }
}

function Refusal({ error }: { readonly error: Error | null }) {
  if (error === null) return null
  return (
    <>
      <ErrorNotice error={error} />
      {error instanceof ApiError && <GraphFailures failures={error.graphs} />}
    </>
  )
}
