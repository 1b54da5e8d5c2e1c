/** Experiments side by side: a row for each example, a column for each experiment. */

import { useInfiniteQuery, useQueries } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo, useRef, useState } from 'react'

import { comparedPage, experimentOf } from '../api/platform/experiments.ts'
import type { Experiment } from '../api/platform/experiments.ts'
import { pollEvery } from '../api/poll.ts'
import type { DatasetSearch } from '../addresses/datasets.ts'
import type { DatasetViewProps } from './dataset-view.ts'
import { nowMs } from '../env.ts'
import { count, counted } from '../parts/amounts.ts'
import { Button } from '../parts/button.tsx'
import { Chip } from '../parts/chip.tsx'
import { Empty } from '../parts/empty.tsx'
import { Select } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { usePhone } from '../parts/room/phone.ts'
import { Skeleton } from '../parts/skeleton.tsx'
import { RowGrid } from '../rows/row-grid.tsx'
import { useRowKeys } from '../rows/row-keys.ts'
import { NextPageNotice, RowsPending } from '../rows/row-notice.tsx'
import { isNearEnd, useRowsAhead } from '../rows/rows-ahead.ts'
import type { RowRange } from '../rows/row-grid.tsx'
import { dollars, latency, score, share } from '../parts/trace-words.ts'
import { ComparedCells, Delta } from './compared-cells.tsx'
import css from './experiments.module.css'
import { againMs, isRunning } from './progress.ts'
import { arranged, comparedRow, deltasOf, meansOf } from './scores.ts'
import type { ComparedRow } from './scores.ts'

const rowHeights = { dense: 40, tall: 124 } as const
/** On a phone the answers stand below their example: the height without them, and of each. */
const stackedHeights = { dense: [44, 26], tall: [100, 96] } as const
/** Examples that are sorted and filtered at most. */
const arrangedMax = 1_000

/** Experiments of a dataset beside each other, example by example. */
export function Comparison({ dataset, search, set, ids }: DatasetViewProps & {
  readonly ids: readonly string[]
}) {
  const heads = useQueries({
    queries: ids.map((id) => ({
      queryKey: ['experiments', 'one', id],
      queryFn: ({ signal }: { signal: AbortSignal }) => experimentOf(id, signal),
      refetchInterval: ({ state }: { state: { data: Experiment | undefined; error: unknown } }) =>
        pollEvery(againMs(state.data ? [state.data] : [], nowMs()))({ state }),
    })),
  }).map(({ data }) => data)
  const { pages, rows, see } = useCompared(dataset.id, ids, search,
    heads.some((head) => head !== undefined && isRunning(head, nowMs())))
  return (
    <>
      <Bar search={search} set={set} rows={rows} hasMore={pages.hasNextPage} />
      {rows === undefined
        ? <RowsPending pages={pages} />
        : rows.length === 0 && !pages.hasNextPage
        ? (
          <Empty title={search.only === undefined ? 'No examples' : 'Nothing became worse'}>
            <p>
              {search.only === undefined
                ? 'These experiments answered no example of this dataset.'
                : 'No experiment scored lower than the first one.'}
            </p>
          </Empty>
        )
        : (
          <Rows ids={ids} heads={heads} rows={rows} search={search} hasMore={pages.hasNextPage}
            see={see} />
        )}
      <NextPageNotice pages={pages} />
    </>
  )
}

/** The rows that were read so far. Sorting and filtering read on until the end, or a bound. */
function useCompared(datasetId: string, ids: readonly string[], search: DatasetSearch,
  isLive: boolean) {
  const pages = useInfiniteQuery({
    queryKey: ['experiments', 'compared', datasetId, ids],
    queryFn: ({ pageParam, signal }) => comparedPage(datasetId, ids, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
    refetchOnWindowFocus: false,
    // All pages are asked for again, so each of them makes that rarer.
    refetchInterval: ({ state }) =>
      isLive && pollEvery(4_000 * (state.data?.pages.length ?? 1))({ state }),
    staleTime: 60_000,
  })
  const { data } = pages
  const all = useMemo(
    () => data?.pages.flatMap(({ items }) => items.map((item) => comparedRow(item, ids))),
    [data, ids.join()],
  )
  const [by, onlyRegressions] = [search.sort, search.only !== undefined]
  const rows = useMemo(() => all && arranged(all, { by, onlyRegressions }), [all, by,
    onlyRegressions])
  const isArranged = by !== undefined || onlyRegressions
  const see = useRowsAhead(pages, (last) =>
    isArranged
      ? (all?.length ?? 0) < arrangedMax
      : rows !== undefined && isNearEnd(last, rows.length))
  return { pages, rows, see }
}

function Bar({ search, set, rows, hasMore }: Pick<DatasetViewProps, 'search' | 'set'> & {
  readonly rows: readonly ComparedRow[] | undefined
  readonly hasMore: boolean
}) {
  const worse = rows?.filter(({ isRegression }) => isRegression).length ?? 0
  return (
    <div className={css['bar']}>
      <Button kind="quiet" icon={<Icon name="back" />} onClick={() =>
        set({ compare: undefined, sort: undefined, only: undefined, diff: undefined,
          rows: undefined })}
      >
        All experiments
      </Button>
      <span role="status">
        {rows !== undefined &&
          `${counted(rows.length, 'example')}${hasMore ? ' and more' : ''}, ${count(worse)} worse`}
      </span>
      <div className={css['acts']}>
        <Button aria-pressed={search.only !== undefined} onClick={() =>
          set({ only: search.only === undefined ? 'regressions' : undefined })}
        >
          Only regressions
        </Button>
        <Select aria-label="Sort" value={search.sort ?? ''} onChange={({ target }) =>
          set({ sort: (target.value || undefined) as DatasetSearch['sort'] })}
        >
          <option value="">As in the dataset</option>
          <option value="worse">What got worse first</option>
          <option value="difference">Largest difference first</option>
        </Select>
        <Select aria-label="Show differences" value={search.diff ?? ''} onChange={({ target }) =>
          set({ diff: (target.value || undefined) as DatasetSearch['diff'] })}
        >
          <option value="">Whole outputs</option>
          <option value="reference">Differences from what was expected</option>
          <option value="first">Differences from the first</option>
        </Select>
        <Button aria-pressed={search.rows === 'tall'} onClick={() =>
          set({ rows: search.rows === 'tall' ? undefined : 'tall' })}
        >
          Tall rows
        </Button>
      </div>
    </div>
  )
}

function Rows({ ids, heads, rows, search, hasMore, see }: {
  readonly ids: readonly string[]
  readonly heads: readonly (Experiment | undefined)[]
  readonly rows: readonly ComparedRow[]
  readonly search: DatasetSearch
  readonly hasMore: boolean
  readonly see: (range: RowRange) => void
}) {
  const navigate = useNavigate()
  const box = useRef<HTMLDivElement>(null)
  const [active, setActive] = useState(0)
  const total = rows.length + (hasMore ? 1 : 0)
  useRowKeys({ title: 'Experiments', noun: 'example', count: rows.length, active,
    activate: setActive, box })
  const open = (index: number) => {
    const run = rows[index]?.cells.find((cell) => cell !== null)?.run
    if (run === undefined) return
    void navigate({ to: '/traces/$project/$trace', search: {},
      params: { project: run.project_id, trace: run.trace_id } })
  }
  const isPhone = usePhone()
  const look = search.rows ?? 'dense'
  const [alone, each] = stackedHeights[look]
  const columns = isPhone
    ? { gridTemplateColumns: 'minmax(0, 1fr)' }
    : { gridTemplateColumns: `minmax(180px, 1fr) repeat(${ids.length}, minmax(200px, 1fr))`,
      minWidth: 180 + 216 * ids.length }
  return (
    <div className={css['wide']}>
      <div className={css['titles']} style={columns}>
        {!isPhone && <span>Example</span>}
        {ids.map((id, at) => (
          <Head key={id} experiment={heads[at]} first={heads[0]}
            mark={isPhone ? at + 1 : undefined} />
        ))}
      </div>
      <div className={css['rows']} style={{ minWidth: columns.minWidth }}>
        <RowGrid label="Examples side by side" name="compared" total={total} isWhole={!hasMore}
          rowHeight={isPhone ? alone + each * ids.length : rowHeights[look]} active={active}
          activate={setActive} open={open} seen={see}
          place={`compared ${ids.join()} ${search.sort} ${search.only} ${search.rows}`} marksActive
          box={box}
          row={(index) => (
            <ComparedCells row={rows[index]} columns={columns} diff={search.diff}
              isDense={search.rows === undefined} isStacked={isPhone} />
          )} />
      </div>
    </div>
  )
}

function Head({ experiment, first, mark }: {
  readonly experiment: Experiment | undefined
  readonly first: Experiment | undefined
  /** Its number, where no column shows which answers are its own. */
  readonly mark: number | undefined
}) {
  if (experiment === undefined) {
    return (
      <span>
        <Skeleton width={120} />
      </span>
    )
  }
  const { id, name, latency_p50: p50, error_rate: failed, total_cost: cost } = experiment
  const scores = meansOf(experiment.feedback_stats)
  const deltas = deltasOf(scores, meansOf(first?.feedback_stats))
  return (
    <span className={css['head']}>
      <span className={css['name']}>
        {mark !== undefined && <b>{mark}</b>}
        <Link to="/traces/$project" params={{ project: id }} search={{}} dir="auto" title={name}>
          {name}
        </Link>
        {isRunning(experiment, nowMs()) && <Chip tone="running">Running</Chip>}
      </span>
      <small>
        {Object.entries(scores).slice(0, 2).map(([key, value]) => (
          <span key={key}>
            {key} {score(value)} <Delta value={deltas[key]} /> ·{' '}
          </span>
        ))}
        {latency(p50)}
        {Number(cost) > 0 && ` · ${dollars(cost)}`} · {share(failed)} failed
      </small>
    </span>
  )
}
