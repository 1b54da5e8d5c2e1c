/** Experiments that the server carries out now: how far they are, and why one waits or failed. */

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'

import { backgroundExperiments, cancelExperiment,
  isGoingOn } from '../api/platform/background-experiments.ts'
import type { BackgroundExperiment } from '../api/platform/background-experiments.ts'
import { useRefusal } from '../api/refusal.ts'
import { nowMs } from '../env.ts'
import { count } from '../parts/amounts.ts'
import { Button } from '../parts/button.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { TimeText } from '../parts/times/time-text.tsx'
import css from './experiments.module.css'

/** Time for which one that stopped says why. */
const shownMs = 3_600_000

/** The experiments of a dataset that go on, and those that failed lately. */
export function ExperimentProgress({ dataset }: { readonly dataset: string }) {
  const { data } = useQuery(backgroundExperiments(dataset))
  const shown = data?.filter(isShown) ?? []
  const going = data?.filter(isGoingOn).length ?? 0
  useFreshNumbers(data === undefined ? undefined : going)
  if (shown.length === 0) return null
  return (
    <ul className={css['going']} aria-label="Experiments that go on">
      {shown.map((each) => <Going key={each.id} experiment={each} />)}
    </ul>
  )
}

function isShown(experiment: BackgroundExperiment): boolean {
  const { status, finished_at: end } = experiment
  return isGoingOn(experiment) ||
    (status === 'Failed' && end !== null && nowMs() - Date.parse(end) < shownMs)
}

/** The numbers of experiments are read again when one has ended. */
function useFreshNumbers(going: number | undefined): void {
  const client = useQueryClient()
  const before = useRef(going)
  useEffect(() => {
    if (before.current !== undefined && going !== undefined && going < before.current) {
      void client.invalidateQueries({ queryKey: ['experiments'] })
    }
    before.current = going
  }, [client, going])
}

function Going({ experiment }: { readonly experiment: BackgroundExperiment }) {
  const { id, project_name: name, total_runs: total, finished_runs: finished, failed_runs: failed,
    error, waits_until: until } = experiment
  const client = useQueryClient()
  const refusal = useRefusal()
  const cancel = useMutation({ mutationFn: () => cancelExperiment(id),
    onSuccess: () => client.invalidateQueries({ queryKey: ['experiments'] }) })
  return (
    <li aria-label={name}>
      <b dir="auto">{name}</b>
      <progress max={total} value={finished} aria-label={`Progress of ${name}`} />
      <span>
        {count(finished)} of {count(total)}
        {failed > 0 && <span className={css['failed']}>· {count(failed)} failed</span>}
      </span>
      {isGoingOn(experiment) && (
        <Button small disabled={cancel.isPending || refusal !== undefined} title={refusal}
          aria-label={`Cancel ${name}`} onClick={() => cancel.mutate()}
        >
          Cancel
        </Button>
      )}
      {error !== null && (
        <p dir="auto" role="status">
          {until !== null && (
            <>
              Waits until <TimeText iso={until} />:{' '}
            </>
          )}
          {error}
        </p>
      )}
      {cancel.isError && <ErrorNotice error={cancel.error} />}
    </li>
  )
}
