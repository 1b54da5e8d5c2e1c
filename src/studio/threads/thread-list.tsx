/** Threads: a list of any length, narrowed by its address. */

import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useMemo, useRef, useState } from 'react'

import { useRefusal } from '../api/refusal.ts'
import type { BulkAct } from '../api/bulk.ts'
import { nowMs } from '../env.ts'
import { counted } from '../parts/amounts.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { useActs } from '../parts/acts.ts'
import type { ThreadListSearch } from '../addresses/threads.ts'
import type { BulkRequest } from './bulk-dialog.tsx'
import { ChoiceBar } from './choice-bar.tsx'
import type { Choice } from './choice-bar.tsx'
import { useNewThread } from './new-thread.ts'
import { ThreadFilterBar } from './thread-filter-bar.tsx'
import { filterOf } from './thread-filter.ts'
import css from './thread-list.module.css'
import { ThreadRows } from './thread-rows.tsx'
import { sortOf, useThreadRows } from './use-thread-rows.ts'
import { onlyReads } from './thread-words.ts'

const ViewsDialog = lazy(async () => ({
  default: (await import('./views-dialog.tsx')).ViewsDialog,
}))
const BulkDialog = lazy(async () => ({
  default: (await import('./bulk-dialog.tsx')).BulkDialog,
}))
const ChooseAssistant = lazy(async () => ({
  default: (await import('./choose-assistant.tsx')).ChooseAssistant,
}))

/** Page of the threads, with filters, saved views and bulk actions. */
export function ThreadList() {
  const search = useSearch({ from: '/threads' })
  const filter = useMemo(() => filterOf(search, nowMs()), [search])
  const sort = useMemo(() => sortOf(search.sort), [search.sort])
  const rows = useThreadRows(filter, sort)
  const change = useChange()
  const making = useNewThread()
  const refusal = useRefusal(onlyReads)
  const [choice, setChoice] = useState<Choice>()
  const [views, setViews] = useState(false)
  const [bulk, setBulk] = useState<BulkRequest>()
  const box = useRef<HTMLDivElement>(null)
  useActs([
    ...refusal === undefined ? [{ words: 'New thread', act: () => void making.begin() }] : [],
    { words: 'Choose threads', act: () => setChoice(new Set()) },
    { words: 'Saved views', act: () => setViews(true) },
    { words: 'Show newest threads', act: () => showNewest() },
  ])
  const showNewest = () => {
    box.current?.scrollTo({ top: 0 })
    void rows.refresh()
  }
  const ask = (act: BulkAct) => {
    if (choice === undefined) return
    const { ids, ...rest } = filter
    const chosen = choice === 'all' ? ids : [...choice]
    // A request must name a condition: all threads are those that were updated before now.
    const all = Object.keys(rest).length > 0 ? rest : { updated_before: iso(nowMs()) }
    setBulk({ act, target: chosen === undefined
      ? { kind: 'matching', filter: all }
      : { kind: 'chosen', ids: chosen } })
  }
  return (
    <>
      <PageHead title="Threads"
        aside={rows.first.data && <span aria-live="polite">{counted(rows.total, 'thread')}</span>}
        acts={
          <>
            <Button kind="quiet" icon={<Icon name="filter" />} onClick={() => setViews(true)}>
              <span className={css['wide']}>Views</span>
            </Button>
            <Button kind="quiet" icon={<Icon name="check" />} aria-pressed={choice !== undefined}
              onClick={() => setChoice(choice === undefined ? new Set() : undefined)}
            >
              <span className={css['wide']}>Choose</span>
            </Button>
            <Button kind="primary" icon={<Icon name="plus" />} title={refusal}
              disabled={refusal !== undefined || making.state.kind === 'making'}
              onClick={() => void making.begin()}
            >
              New thread
            </Button>
          </>
        }
      >
        <ThreadFilterBar search={search} filter={filter} change={change} />
        {making.state.kind === 'failed' && (
          <ErrorNotice error={making.state.error} retry={() => void making.begin()} />
        )}
      </PageHead>
      <div className={css['body']}>
        {rows.newer > 0 && (
          <Button small className={css['newer']} icon={<Icon name="up" size={12} />}
            onClick={showNewest}
          >
            {counted(rows.newer, 'newer', 'newer')}
          </Button>
        )}
        <ThreadRows rows={rows} search={search} sort={sort} filter={filter} change={change}
          box={box} choice={choice} choose={setChoice}
          newThread={refusal ? undefined : making.begin} />
      </div>
      {choice !== undefined && (
        <ChoiceBar choice={choice} total={rows.total} refusal={refusal} choose={setChoice}
          cancel={() => ask('cancel')} remove={() => ask('delete')} end={() =>
          setChoice(undefined)} />
      )}
      <Suspense>
        {views && <ViewsDialog search={search} close={() => setViews(false)} />}
        {bulk && (
          <BulkDialog request={bulk} close={(changed) => {
            setBulk(undefined)
            if (changed) setChoice(undefined)
          }} />
        )}
        {making.state.kind === 'choosing' && (
          <ChooseAssistant assistants={making.state.assistants} close={making.close}
            choose={(assistant) => void making.make(assistant)} />
        )}
      </Suspense>
    </>
  )
}

const iso = (ms: number): string => new Date(ms).toISOString()

/** Puts what differs into the address. */
function useChange() {
  const navigate = useNavigate()
  return useCallback(
    (part: Partial<ThreadListSearch>) =>
      void navigate({ to: '/threads', replace: true,
        search: (before) => ({ ...before as ThreadListSearch, ...part }) }),
    [navigate],
  )
}
