/** Data that a page has of its thread: asked once, and again when the thread has changed. */

import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { QueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useRef, useState } from 'react'

import { ApiError } from '../../api/client.ts'
import { runsOf } from '../../api/runs.ts'
import type { Run } from '../../api/runs.ts'
import { historyPage } from '../../api/states.ts'
import type { ThreadState } from '../../api/states.ts'
import { threadOf } from '../../api/threads.ts'
import { after } from '../../env.ts'
import { EventLog } from '../../live/event-log.ts'
import { LiveStore, useLive } from '../../live/live-store.ts'
import { ThreadWatch } from '../../live/thread-watch.ts'
import { keysOf, newestState } from './newest-state.ts'
import { withNewest, withOlder } from './history.ts'
import type { History } from './history.ts'

const pageLength = 100
/** As many as one answer has at most. */
const olderMax = 1_000

/** The runs that this page follows, as long as the page is shown. */
export interface Following {
  readonly store: LiveStore
  readonly log: EventLog
  /** The watch; undefined before the first effect, and after the thread was deleted. */
  readonly watch: ThreadWatch | undefined
  readonly isGone: boolean
}

/** Follows a thread while the component is shown. */
export function useFollowing(id: string): Following {
  const [{ store, log }] = useState(() => ({ store: new LiveStore(), log: new EventLog() }))
  const [watch, setWatch] = useState<ThreadWatch>()
  const [isGone, setGone] = useState(false)
  useEffect(() => {
    const made = new ThreadWatch({ threadId: id, store, log, gone: () => setGone(true) })
    setWatch(made)
    return () => made.stop()
  }, [id, store, log])
  return { store, log, watch, isGone }
}

/** Follows the run that goes on already when the page is opened. The thread names only new ones. */
export function useRunUnderWay(watch: ThreadWatch | undefined,
  runs: readonly Run[] | undefined): void {
  const running = runs?.find(({ status }) => status === 'running')?.run_id
  useEffect(() => {
    if (running !== undefined) watch?.joinRun(running)
  }, [watch, running])
}

/** Asks again what changed, at most three times a second. */
export function useFreshness(id: string, store: LiveStore): void {
  const client = useQueryClient()
  const version = useLive(store, (state) => state.version)
  useEffect(() => {
    if (version === 0) return
    return after(version === 1 ? 0 : 300, () => {
      void client.invalidateQueries({ queryKey: keysOf(id).thread })
    })
  }, [client, id, version])
}

/** The thread, its newest state, its steps and its runs. */
export function useThread(id: string) {
  const keys = keysOf(id)
  const client = useQueryClient()
  const thread = useQuery({ queryKey: [...keys.thread, 'row'],
    queryFn: ({ signal }) => threadOf(id, signal) })
  const head = useQuery({ queryKey: keys.head, queryFn: ({ signal }) => newestState(id, signal) })
  const history = useQuery({ queryKey: keys.history, queryFn: async ({ signal }) => {
    const newest = await historyPage(id, undefined, pageLength, signal)
    return withNewest(client.getQueryData<History>(keys.history), newest, pageLength)
  } })
  const isBusy = thread.data?.status === 'busy'
  // What is queued while a run goes on is seen with the next step.
  const runs = useQuery({ queryKey: keys.runs, queryFn: ({ signal }) => runsOf(id, 50, 0, signal),
    enabled: isBusy })
  const more = useOlderSteps(id)
  return { thread, head, history, more,
    runs: { data: isBusy ? runs.data : undefined, refetch: runs.refetch } }
}

/** Reads older steps; again and again, for more of them each time. */
function useOlderSteps(id: string): () => Promise<void> {
  const client = useQueryClient()
  const reading = useRef<Promise<void>>(undefined)
  return useCallback(() => {
    reading.current ??= readOlderSteps(client, id).finally(() => {
      reading.current = undefined
    })
    return reading.current
  }, [client, id])
}

async function readOlderSteps(client: QueryClient, id: string): Promise<void> {
  const key = keysOf(id).history
  const { steps = [] } = client.getQueryData<History>(key) ?? {}
  const last = steps.at(-1)?.checkpoint_id
  if (last == null) return
  const length = Math.min(olderMax, Math.max(pageLength, steps.length))
  const older = await client.fetchQuery({ queryKey: ['steps-before', id, last], retry: 2, gcTime: 0,
    queryFn: ({ signal }) => historyPage(id, last, length, signal) }).catch(() => undefined)
  if (older === undefined) return
  client.setQueryData<History>(key, (known) => known && withOlder(known, older, length))
}

/** All queries of a thread, as `useThread` returns them. */
export type ThreadAnswers = ReturnType<typeof useThread>

/** True if there is no such thread, or not for this caller. */
export const isMissing = (error: unknown): boolean =>
  error instanceof ApiError && (error.status === 404 || error.status === 422)

/** The parent of a step among those that were read. */
export function parentIn(steps: readonly ThreadState[], step: ThreadState | undefined) {
  const parent = step?.parent_checkpoint_id
  return parent == null ? undefined : steps.find(({ checkpoint_id: id }) => id === parent)
}
