/** The datasets: how many examples and experiments each has. */

import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useMemo, useState } from 'react'

import type { Dataset } from '../../api/index.ts'
import { datasetPage, datasetsAtOnce } from '../api/platform/datasets.ts'
import { useRefusal } from '../api/refusal.ts'
import { count, counted } from '../parts/amounts.ts'
import { Empty } from '../parts/empty.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { TimeText } from '../parts/times/time-text.tsx'
import { ListPage, NoMatch } from '../rows/list-page.tsx'
import { RowList } from '../rows/row-list.tsx'
import css from './datasets.module.css'

const MakeDataset = lazy(async () => ({
  default: (await import('./make-dataset.tsx')).MakeDataset,
}))

/** Page of the datasets, with a search by name. */
export function DatasetList() {
  const { q = '' } = useSearch({ from: '/datasets' })
  const navigate = useNavigate()
  const refusal = useRefusal()
  const [making, setMaking] = useState(false)
  const pages = useInfiniteQuery({
    queryKey: ['datasets', 'list', q],
    queryFn: ({ pageParam, signal }) => datasetPage(q, pageParam, signal),
    initialPageParam: 0,
    getNextPageParam: ({ datasets }, all) =>
      datasets.length < datasetsAtOnce ? undefined : all.length * datasetsAtOnce,
  })
  const rows = useMemo(() => pages.data?.pages.flatMap(({ datasets }) => datasets), [pages.data])
  const total = pages.data?.pages[0]?.total ?? (pages.hasNextPage ? undefined : rows?.length)
  return (
    <ListPage title="Datasets" noun="dataset" total={total}
      make={{ words: 'New dataset', refusal, act: () => setMaking(true) }}
      search={{ q,
        filter: (q) => void navigate({ to: '/datasets', search: { q }, replace: true }) }}
    >
      <RowList pages={pages} rows={rows} label="Datasets" noun="dataset" rowHeight={52}
        row={(dataset) => <DatasetRow dataset={dataset} />} place={`datasets ${q}`}
        open={({ id }) => void navigate({ to: '/datasets/$id', params: { id }, search: {} })}
        empty={<NoDatasets isFiltered={q !== ''} />} />
      {making && (
        <Suspense>
          <MakeDataset close={() => setMaking(false)} />
        </Suspense>
      )}
    </ListPage>
  )
}

function DatasetRow({ dataset }: { readonly dataset: Dataset | undefined }) {
  if (dataset === undefined) {
    return (
      <div className={css['row']} role="gridcell">
        <Skeleton width={180} />
      </div>
    )
  }
  const { id, name, description, example_count: examples, session_count: experiments } = dataset
  return (
    <div className={css['row']} role="presentation">
      <span role="gridcell" className={css['name']}>
        <Link to="/datasets/$id" params={{ id }} search={{}} tabIndex={-1} title={name} dir="auto">
          {name}
        </Link>
        {description && <span dir="auto" title={description}>{description}</span>}
      </span>
      <span role="gridcell" className={css['number']}>{counted(examples ?? 0, 'example')}</span>
      <span role="gridcell" className={`${css['number']} ${css['experiments']}`}>
        {experiments ? counted(experiments, 'experiment') : count(0)}
      </span>
      <span role="gridcell" className={`${css['number']} ${css['quiet']} ${css['time']}`}>
        <TimeText iso={dataset.modified_at ?? dataset.created_at} />
      </span>
    </div>
  )
}

function NoDatasets({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered
    ? <NoMatch noun="dataset" />
    : (
      <Empty title="No datasets yet">
        <p>
          A dataset keeps examples that agents are tried on. Make one here, import a file, or add a
          span of a trace.
        </p>
      </Empty>
    )
}
