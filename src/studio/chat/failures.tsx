/** Errors at the end of a chat: each with what may be done about it. */

import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'

import { runsOf } from '../api/runs.ts'
import { useLive } from '../live/live-store.ts'
import { Button, buttonClass } from '../parts/button.tsx'
import { FailureCard } from '../failures/failure-card.tsx'
import { Icon } from '../parts/icon.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { TraceLink } from '../parts/trace-link.tsx'
import { failuresShown } from '../thread/screen/shown-failures.ts'
import type { Screen } from '../thread/screen/use-screen.ts'

/** The cards of a thread; the last one says what may be done. */
export function Failures({ id, screen }: { readonly id: string; readonly screen: Screen }) {
  const failures = useFailures(screen)
  return failures.map((failure, place) => (
    <FailureCard key={`${failure.node} ${failure.message.slice(0, 80)}`} failure={failure}>
      {place === failures.length - 1 && <FailureActs id={id} screen={screen} />}
    </FailureCard>
  ))
}

/** Failures of the step that is shown, or of the last run. */
export function useFailures({ following: { store }, search, shown, isBusy, answers }: Screen) {
  const error = useLive(store, ({ run }) => run?.error)
  const isNow = search.at === undefined
  const thread = answers.thread.data
  return useMemo(() => failuresShown({ shown, isNow, isBusy, thread, live: store.state().run }), [
    store,
    error,
    shown,
    isNow,
    isBusy,
    thread,
  ])
}

/** Acts on what failed at the step that is shown. */
export function FailureActs({ id, screen }: { readonly id: string; readonly screen: Screen }) {
  const { search: { at }, shown, refusal } = screen
  const [error, setError] = useState<unknown>()
  // A run that only tried again what had failed made no step of its own.
  const newest = useQuery({ queryKey: ['thread', id, 'newest run'], enabled: at === undefined,
    queryFn: ({ signal }) => runsOf(id, 1, 0, signal) })
  const stepRun = shown?.metadata?.run_id
  const runId = at === undefined ? newest.data?.[0]?.run_id ?? stepRun : stepRun
  const canGoOn = (shown?.next?.length ?? 0) > 0
  const again = () => {
    setError(undefined)
    const started = at === undefined ? screen.send.start({ input: null }) : screen.runAgain(at)
    started.catch(setError)
  }
  return (
    <>
      {canGoOn && (
        <Button small icon={<Icon name="play" size={14} />} onClick={again}
          disabled={refusal !== undefined || screen.isBusy}
          title={refusal ?? 'Tries again what failed, with the state that it had'}
        >
          Run again
        </Button>
      )}
      {runId !== undefined && (
        <TraceLink runId={runId} className={buttonClass('plain', true)}>
          <Icon name="traces" size={14} /> Open the trace
        </TraceLink>
      )}
      {error !== undefined && <ErrorNotice error={error} />}
    </>
  )
}
