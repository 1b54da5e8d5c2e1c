/** Threads: a list of any length, narrowed by its address. */

import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useMemo, useRef, useState } from 'react'

import { useRefusal } from '../api/refusal.ts'
import { nowMs } from '../env.ts'
import { counted } from '../parts/amounts.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { useActs } from '../parts/acts.ts'
import type { ThreadListSearch } from '../addresses/threads.ts'
import { ChoiceBar } from '../rows/choice-bar.tsx'
import { ListPage } from '../rows/list-page.tsx'
import { useNewThread } from './new-thread.ts'
import { ThreadFilterBar } from './thread-filter-bar.tsx'
import { filterOf } from './thread-filter.ts'
import css from './thread-list.module.css'
import { ThreadRows } from './thread-rows.tsx'
import { useBulk } from './use-bulk.ts'
import { sortOf, useThreadRows } from './use-thread-rows.ts'
import { onlyReads } from './thread-words.ts'

const ThreadViews = lazy(async () => ({
  default: (await import('./thread-views.tsx')).ThreadViews,
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
  const bulk = useBulk(filter)
  const isOff = refusal !== undefined || bulk.choice !== 'all' && bulk.choice?.size === 0
  const [views, setViews] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  const showNewest = () => {
    box.current?.scrollTo({ top: 0 })
    void rows.refresh()
  }
  useActs([
    ...refusal === undefined ? [{ words: 'New thread', act: () => void making.begin() }] : [],
    { words: 'Choose threads', act: () => bulk.choose(new Set()) },
    { words: 'Saved views', act: () => setViews(true) },
    { words: 'Show newest threads', act: showNewest },
  ])
  return (
    <ListPage title="Threads" noun="thread" total={rows.first.data && rows.total}
      make={{ words: 'New thread', refusal, isBusy: making.state.kind === 'making',
        act: () => void making.begin() }}
      acts={<HeadActs showViews={() => setViews(true)} bulk={bulk} />}
      filters={<ThreadFilterBar search={search} filter={filter} change={change} />}
    >
      <MakingFault making={making} />
      <div className={css['body']}>
        {rows.newer > 0 && (
          <Button small className={css['newer']} icon={<Icon name="up" size={12} />}
            onClick={showNewest}
          >
            {counted(rows.newer, 'newer', 'newer')}
          </Button>
        )}
        <ThreadRows rows={rows} search={search} sort={sort} filter={filter} change={change}
          box={box} choice={bulk.choice} choose={bulk.choose}
          newThread={refusal ? undefined : making.begin} />
      </div>
      {bulk.choice !== undefined && (
        <ChoiceBar label="Chosen threads" choice={bulk.choice} total={rows.total}
          choose={bulk.choose} end={() => bulk.choose(undefined)}
        >
          <Button small disabled={isOff} title={refusal} onClick={() => bulk.ask('cancel')}>
            Cancel runs …
          </Button>
          <Button small kind="danger" disabled={isOff} title={refusal} onClick={() =>
            bulk.ask('delete')}
          >
            Delete …
          </Button>
        </ChoiceBar>
      )}
      <Suspense>
        {views && <ThreadViews search={search} close={() => setViews(false)} />}
        {bulk.request && <BulkDialog request={bulk.request} close={bulk.close} />}
        {making.state.kind === 'choosing' && (
          <ChooseAssistant assistants={making.state.assistants} close={making.close}
            choose={(assistant) => void making.make(assistant)} />
        )}
      </Suspense>
    </ListPage>
  )
}

function MakingFault({ making: { state, begin } }: {
  readonly making: ReturnType<typeof useNewThread>
}) {
  return state.kind === 'failed' && (
    <div className={css['notice']}>
      <ErrorNotice error={state.error} retry={() => void begin()} />
    </div>
  )
}

function HeadActs({ showViews, bulk }: {
  readonly showViews: () => void
  readonly bulk: ReturnType<typeof useBulk>
}) {
  return (
    <>
      <Button kind="quiet" icon={<Icon name="filter" />} onClick={showViews}>
        <span className={css['wide']}>Views</span>
      </Button>
      <Button kind="quiet" icon={<Icon name="check" />} aria-pressed={bulk.choice !== undefined}
        onClick={() => bulk.choose(bulk.choice === undefined ? new Set() : undefined)}
      >
        <span className={css['wide']}>Choose</span>
      </Button>
    </>
  )
}

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
