/** Runs of all threads, newest first. */

import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'

import { nowMs } from '../env.ts'
import { useActs } from '../parts/acts.ts'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { ListPage } from '../rows/list-page.tsx'
import { RowList } from '../rows/row-list.tsx'
import { RunFilterBar } from './run-filter-bar.tsx'
import { RunRow } from './run-row.tsx'
import { runFilterOf, useRuns } from './use-runs.ts'

/** Page of the runs of all threads, the newest first. */
export function RunList() {
  const search = useSearch({ from: '/runs' })
  const filter = useMemo(() => runFilterOf(search, nowMs()), [search])
  const { query, rows } = useRuns(filter)
  const navigate = useNavigate()
  const change = useCallback(
    (part: Partial<typeof search>) =>
      void navigate({ to: '/runs', search: { ...search, ...part }, replace: true }),
    [navigate, search],
  )
  useActs([{ words: 'Show newest runs', act: () => void query.refetch() }])
  return (
    <ListPage title="Runs" noun="run" total={rows?.length} isMore={query.hasNextPage}
      filters={<RunFilterBar search={search} change={change} />}
    >
      <RowList pages={query} rows={rows} label="Runs" noun="run" rowHeight={44}
        row={(run) => <RunRow run={run} />} place={`runs ${JSON.stringify(search)}`}
        open={({ thread_id: id, run_id: run }) =>
          void navigate({ to: '/threads/$id', params: { id }, search: { view: 'runs', run } })}
        empty={<NoRuns isFiltered={Object.keys(filter).length > 0} />} />
    </ListPage>
  )
}

function NoRuns({ isFiltered }: { readonly isFiltered: boolean }) {
  const navigate = useNavigate()
  return isFiltered
    ? (
      <Empty title="No run matches">
        <Button onClick={() => void navigate({ to: '/runs', search: {} })}>Show all runs</Button>
      </Empty>
    )
    : (
      <Empty title="No runs yet">
        <p>Each message that a thread is sent starts a run.</p>
      </Empty>
    )
}
