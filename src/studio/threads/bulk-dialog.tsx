/** Asks before something is done to many threads, shows how far it is, and stops it. */

import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'

import { bulkCount } from '../api/bulk.ts'
import type { BulkAct, BulkTarget } from '../api/bulk.ts'
import { queries } from '../api/query.ts'
import { count, counted } from '../parts/amounts.ts'
import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Field } from '../parts/field.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { bulkWork } from './bulk-work.ts'
import type { BulkProgress } from './bulk-work.ts'
import css from '../rows/dialogs.module.css'
import { filterWords } from './thread-filter.ts'

/** More than these are confirmed by typing their number. */
const typedAbove = 100

/** Act that the dialog asks about. It stays the same when the address changes below it. */
export interface BulkRequest {
  readonly act: BulkAct
  readonly target: BulkTarget
}

type State =
  | { readonly kind: 'asking' }
  | { readonly kind: 'working' | 'stopped' | 'finished'; readonly progress: BulkProgress }
  | { readonly kind: 'failed'; readonly error: unknown; readonly progress: BulkProgress }

const none: BulkProgress = { done: 0, left: 0 }

/** The dialog. `close` hears whether anything was done. */
export function BulkDialog({ request, close }: {
  readonly request: BulkRequest
  readonly close: (changed: boolean) => void
}) {
  const { act, target } = request
  const [state, setState] = useState<State>({ kind: 'asking' })
  const work = useRef<AbortController>(null)
  useEffect(() => () => work.current?.abort(), [])
  const start = async () => {
    const own = work.current = new AbortController()
    let progress = none
    setState({ kind: 'working', progress })
    try {
      for await (progress of bulkWork(act, target, own.signal)) {
        if (own.signal.aborted) break
        setState({ kind: 'working', progress })
      }
      setState({ kind: own.signal.aborted ? 'stopped' : 'finished', progress })
    } catch (error) {
      setState(own.signal.aborted
        ? { kind: 'stopped', progress }
        : { kind: 'failed', error, progress })
    }
    void queries.invalidateQueries({ queryKey: ['threads'] })
  }
  const title = act === 'delete' ? 'Delete threads' : 'Cancel runs'
  return (
    <Dialog open close={() => close(state.kind !== 'asking')} title={title}>
      {state.kind === 'asking'
        ? <Question request={request} start={() => void start()} close={() => close(false)} />
        : (
          <Progress act={act} state={state} stop={() => work.current?.abort()}
            again={() => void start()} close={() => close(true)} />
        )}
    </Dialog>
  )
}

function Question({ request: { act, target }, start, close }: {
  readonly request: BulkRequest
  readonly start: () => void
  readonly close: () => void
}) {
  const [typed, setTyped] = useState('')
  const counting = useQuery({
    queryKey: ['bulk', act, target],
    queryFn: ({ signal }) =>
      target.kind === 'chosen' ? target.ids.length : bulkCount(act, target.filter, signal),
    staleTime: 0,
    gcTime: 0,
  })
  const { data: amount, error } = counting
  if (error !== null) return <ErrorNotice error={error} retry={() => void counting.refetch()} />
  const noun = act === 'cancel' && target.kind === 'matching' ? 'run' : 'thread'
  const isMany = amount !== undefined && amount > typedAbove
  const isConfirmed = amount !== undefined && amount > 0 &&
    (!isMany || typed.replaceAll(/[,.\s]/gu, '') === String(amount))
  const words = act === 'delete' ? 'Delete' : 'Cancel'
  const things = amount === undefined ? '' : counted(amount, noun)
  const phrase = act === 'cancel' && target.kind === 'chosen' ? `the runs of ${things}` : things
  return (
    <>
      {target.kind === 'matching' && (
        <p className={css['filter']} dir="auto">{filterWords(target.filter)}</p>
      )}
      {amount === undefined
        ? <Skeleton width={220} height={16} />
        : <p role="status">{sentences[act](phrase)}</p>}
      {isMany && (
        <Field label={`Type ${count(amount)} to confirm`}>
          {(ids) => (
            <input {...ids} inputMode="numeric" autoComplete="off" autoFocus value={typed}
              onChange={({ target: { value } }) => setTyped(value)} />
          )}
        </Field>
      )}
      <div className={css['acts']}>
        <Button onClick={close}>Keep them</Button>
        <Button kind="danger" disabled={!isConfirmed} onClick={start}>{words} {phrase}</Button>
      </div>
    </>
  )
}

const sentences = {
  delete: (things: string) =>
    `${things} with all steps and runs. Threads that are running stay. This cannot be undone.`,
  cancel: (things: string) => `${things}: what is queued or running ends. Finished steps are kept.`,
}

function Progress({ act, state, stop, again, close }: {
  readonly act: BulkAct
  readonly state: Exclude<State, { kind: 'asking' }>
  readonly stop: () => void
  readonly again: () => void
  readonly close: () => void
}) {
  const { progress: { done, left } } = state
  const did = act === 'delete' ? 'deleted' : 'cancelled'
  const things = Number.isFinite(done)
    ? counted(done, act === 'delete' ? 'thread' : 'run')
    : 'All runs'
  return (
    <>
      {state.kind === 'working' && (
        <progress className={css['progress']} aria-label="Progress"
          {...left > 0 && { value: done, max: done + left }} />
      )}
      <p role="status">
        {state.kind === 'stopped' && 'Stopped. '}
        {things} {did}
        {left === 0 ? '.' : `, ${count(left)} left.`}
      </p>
      {state.kind === 'failed' && <ErrorNotice error={state.error} retry={again} />}
      <div className={css['acts']}>
        {state.kind === 'working'
          ? <Button onClick={stop}>Stop</Button>
          : <Button kind="primary" onClick={close}>Close</Button>}
      </div>
    </>
  )
}
