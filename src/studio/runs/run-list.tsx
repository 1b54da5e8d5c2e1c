/** Runs of all threads, newest first. */

import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo, useRef, useState } from 'react'

import type { Run } from '../api/runs.ts'
import { nowMs } from '../env.ts'
import { counted } from '../parts/amounts.ts'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { PageHead } from '../parts/page-head.tsx'
import { RowGrid } from '../rows/row-grid.tsx'
import { useRowKeys } from '../rows/row-keys.ts'
import { NextPageNotice, RowsPending } from '../rows/row-notice.tsx'
import { useActs } from '../parts/acts.ts'
import { RunFilterBar } from './run-filter-bar.tsx'
import { RunRow } from './run-row.tsx'
import { runFilterOf, useRuns } from './use-runs.ts'

const rowHeight = 44

/** The page. */
export function RunList() {
  const search = useSearch({ from: '/runs' })
  const filter = useMemo(() => runFilterOf(search, nowMs()), [search])
  const runs = useRuns(filter)
  const navigate = useNavigate()
  const change = useCallback(
    (part: Partial<typeof search>) =>
      void navigate({ to: '/runs', search: { ...search, ...part }, replace: true }),
    [navigate, search],
  )
  useActs([{ words: 'Show newest runs', act: () => void runs.query.refetch() }])
  const { rows, query } = runs
  return (
    <>
      <PageHead title="Runs" aside={query.data && (
        <span aria-live="polite">
          {counted(rows.length, 'run')}
          {query.hasNextPage && ' and more'}
        </span>
      )}>
        <RunFilterBar search={search} change={change} />
      </PageHead>
      {query.data === undefined
        ? <RowsPending pages={query} />
        : rows.length === 0 && !query.hasNextPage
        ? (
          <Empty title={Object.keys(filter).length > 0 ? 'No run matches' : 'No runs yet'}>
            {Object.keys(filter).length > 0
              ? (
                <Button onClick={() => void navigate({ to: '/runs', search: {} })}>
                  Show all runs
                </Button>
              )
              : <p>Each message that a thread is sent starts a run.</p>}
          </Empty>
        )
        : <Rows runs={runs} place={JSON.stringify(search)} />}
    </>
  )
}

function Rows({ runs, place }: {
  readonly runs: ReturnType<typeof useRuns>
  readonly place: string
}) {
  const { rows, query, see } = runs
  const box = useRef<HTMLDivElement>(null)
  const navigate = useNavigate()
  const [active, setActive] = useState(0)
  const open = (index: number) => {
    const run: Run | undefined = rows[index]
    if (run === undefined) return
    void navigate({ to: '/threads/$id', params: { id: run.thread_id },
      search: { view: 'runs', run: run.run_id } })
  }
  useRowKeys({ title: 'Runs', noun: 'run', count: rows.length, active, activate: setActive, box })
  return (
    <>
      <RowGrid label="Runs" name="run" total={rows.length + (query.hasNextPage ? 1 : 0)}
        isWhole={!query.hasNextPage} rowHeight={rowHeight} active={active} activate={setActive}
        open={open} seen={see} place={`runs ${place}`} box={box}
        row={(index) => <RunRow run={rows[index]} />} />
      <NextPageNotice pages={query} />
    </>
  )
}
