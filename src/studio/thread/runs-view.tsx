/** All runs of a thread. */

import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'

import { runsOf } from '../api/runs.ts'
import { Empty } from '../parts/empty.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { RunDetail } from './runs/run-detail.tsx'
import { RunRows } from './runs/run-rows.tsx'
import css from './runs/runs.module.css'

const pageLength = 100

/** The view; `version` changes when a run began or ended. */
export function RunsView({ threadId, version }: {
  readonly threadId: string
  readonly version: string
}) {
  const { run: chosenId }: { run?: string | undefined } = useSearch({ strict: false })
  const navigate = useNavigate()
  const pages = useInfiniteQuery({
    queryKey: ['threads', threadId, 'runs', version],
    queryFn: ({ pageParam, signal }) => runsOf(threadId, pageLength, pageParam, signal),
    initialPageParam: 0,
    getNextPageParam: (last, all) => last.length < pageLength ? undefined : all.length * pageLength,
    placeholderData: keepPreviousData,
  })
  const choose = (run: string | undefined) =>
    void navigate({ to: '.', replace: true, search: (old) => ({ ...old, run }) })
  if (pages.error !== null) {
    return (
      <div className={css['aside']}>
        <ErrorNotice error={pages.error} retry={() => void pages.refetch()} />
      </div>
    )
  }
  if (pages.data === undefined) {
    return (
      <div className={css['loading']} aria-busy="true">
        <span className="unseen">The runs are being read.</span>
        {[62, 48, 55, 70].map((width) => <Skeleton key={width} width={`${width}%`} height={20} />)}
      </div>
    )
  }
  const runs = pages.data.pages.flat()
  if (runs.length === 0) {
    return (
      <Empty title="No runs yet">
        <p>What is sent to this thread starts one.</p>
      </Empty>
    )
  }
  const chosen = runs.find(({ run_id: id }) => id === chosenId)
  return (
    <section className={css['runs']} aria-label="Runs">
      <RunRows runs={runs} chosen={chosenId} choose={choose}
        more={pages.hasNextPage && !pages.isFetchingNextPage
          ? () => void pages.fetchNextPage()
          : undefined} />
      {chosen !== undefined && (
        <RunDetail key={chosen.run_id} threadId={threadId} run={chosen} version={version}
          close={() => choose(undefined)} changed={() => void pages.refetch()} />
      )}
    </section>
  )
}
