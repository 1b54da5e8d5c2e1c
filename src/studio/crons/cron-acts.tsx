/** Acts on a cron in its row: pause or resume, run now, edit. */

import { useMutation, useQueryClient } from '@tanstack/react-query'

import { Button } from '../parts/button.tsx'
import { messageOf } from '../parts/error-message.ts'
import { changeCron, triggerCron } from './cron-calls.ts'
import type { Cron } from './cron-calls.ts'
import css from './crons.module.css'

/** The buttons; a refusal stands below them in the server's words. */
export function CronActs({ cron: { cron_id: id, enabled }, name, refusal, edit }: {
  readonly cron: Cron
  /** Words that tell this cron from others, for screen readers. */
  readonly name: string
  /** Why the caller may change nothing; undefined if it may. */
  readonly refusal: string | undefined
  readonly edit: () => void
}) {
  const cache = useQueryClient()
  const onSettled = () => cache.invalidateQueries({ queryKey: ['crons'] })
  const pause = useMutation({ mutationFn: () => changeCron(id, { enabled: !enabled }), onSettled })
  const run = useMutation({ mutationFn: () => triggerCron(id), onSettled })
  const error = pause.error ?? run.error
  const may = { disabled: refusal !== undefined, title: refusal }
  return (
    <>
      <Button kind="quiet" small {...may} disabled={may.disabled || pause.isPending}
        onClick={() => pause.mutate()}
      >
        {enabled ? 'Pause' : 'Resume'}
        <span className="unseen">{name}</span>
      </Button>
      <Button kind="quiet" small {...may} disabled={may.disabled || run.isPending}
        onClick={() => run.mutate()}
      >
        {run.isPending ? 'Starting …' : 'Run now'}
        <span className="unseen">{name}</span>
      </Button>
      <Button kind="quiet" small {...may} onClick={edit}>
        Edit<span className="unseen">{name}</span>
      </Button>
      {error !== null && <p role="alert" className={css['fault']}>{messageOf(error)}</p>}
    </>
  )
}
