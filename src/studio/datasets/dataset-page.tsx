/** A dataset: its examples in their versions, and the experiments that ran over them. */

import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useCallback, useState } from 'react'

import type { Dataset } from '../../api/index.ts'
import { ApiError } from '../api/client.ts'
import { datasetQuery } from '../api/platform/datasets.ts'
import { useRefusal } from '../api/refusal.ts'
import { counted } from '../parts/amounts.ts'
import { Button, buttonClass } from '../parts/button.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Icon } from '../parts/icon.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { Tabs } from '../parts/tabs.tsx'
import css from './datasets.module.css'
import type { SetSearch } from '../experiments/dataset-view.ts'
import { RunExperimentButton } from '../experiments/run-experiment-button.tsx'
import { ExampleTable } from './example-table.tsx'

const Experiments = lazy(async () => ({
  default: (await import('../experiments/experiments.tsx')).Experiments,
}))
const ChangeDataset = lazy(async () => ({
  default: (await import('./change-dataset.tsx')).ChangeDataset,
}))
const DownloadMenu = lazy(async () => ({
  default: (await import('./download-menu.tsx')).DownloadMenu,
}))
const DeleteDataset = lazy(async () => ({
  default: (await import('./delete-dataset.tsx')).DeleteDataset,
}))

/** Page of one dataset: its examples or its experiments. */
export function DatasetPage() {
  const { id } = useParams({ from: '/datasets/$id' })
  const dataset = useQuery(datasetQuery(id))
  if (dataset.data !== undefined) return <DatasetShown dataset={dataset.data} />
  if (!dataset.isError) {
    return (
      <div className={css['notice']} aria-busy="true">
        <h1 aria-label="Dataset">
          <Skeleton width={180} height={18} />
        </h1>
      </div>
    )
  }
  return dataset.error instanceof ApiError && dataset.error.status === 404
    ? (
      <Empty isPage title="There is no such dataset">
        <p>{dataset.error.message}</p>
        <Link to="/datasets" search={{}} className={buttonClass()}>All datasets</Link>
      </Empty>
    )
    : (
      <Empty isPage title="This dataset cannot be shown">
        <ErrorNotice error={dataset.error} retry={() => void dataset.refetch()} />
      </Empty>
    )
}

function DatasetShown({ dataset }: { readonly dataset: Dataset }) {
  const { id, name } = dataset
  const search = useSearch({ from: '/datasets/$id' })
  const navigate = useNavigate({ from: '/datasets/$id' })
  const refusal = useRefusal()
  const [error, setError] = useState<unknown>()
  const [open, setOpen] = useState<'change' | 'delete'>()
  const close = () => setOpen(undefined)
  const set = useCallback<SetSearch>(
    (change) => void navigate({ replace: true, search: (old) => ({ ...old, ...change }) }),
    [navigate],
  )
  const { view = 'examples' } = search
  const tabs = [{ id: 'examples', label: 'Examples' }, { id: 'experiments',
    label: 'Experiments' }] as const
  return (
    <>
      <header className={css['head']}>
        <div className={css['line']}>
          <Link to="/datasets" search={{}} className={buttonClass('quiet', true, true)}
            aria-label="All datasets" title="All datasets"
          >
            <Icon name="back" />
          </Link>
          <h1 dir="auto" title={dataset.description ?? name}>{name}</h1>
          <CopyButton text={id} label="Copy the id of the dataset" />
          <span className={css['quiet']}>
            {counted(dataset.example_count, 'example')},{' '}
            {counted(dataset.session_count, 'experiment')}
          </span>
          <div className={css['end']}>
            <Tabs name="dataset" label="Dataset" tabs={tabs} chosen={view} choose={(next) =>
              set({ view: next === 'examples' ? undefined : next, compare: undefined })} />
            <RunExperimentButton start={{ dataset: id }} words="Run" />
            <Download dataset={dataset} asOf={search.as_of} failed={setError} />
            <Button kind="quiet" small icon={<Icon name="edit" />} aria-label="Change the dataset"
              title={refusal ?? 'Change the dataset'} disabled={refusal !== undefined}
              onClick={() => setOpen('change')} />
            <Button kind="quiet" small icon={<Icon name="trash" />} aria-label="Delete the dataset"
              title={refusal ?? 'Delete the dataset'} disabled={refusal !== undefined}
              onClick={() => setOpen('delete')} />
          </div>
        </div>
      </header>
      {error !== undefined && (
        <div className={css['notice']}>
          <ErrorNotice error={error} />
        </div>
      )}
      <div id="dataset-panel" role="tabpanel" aria-label={view} className={css['panel']}>
        {view === 'examples'
          ? <ExampleTable dataset={dataset} search={search} set={set} />
          : (
            <Suspense>
              <Experiments dataset={dataset} search={search} set={set} />
            </Suspense>
          )}
      </div>
      {open !== undefined && (
        <Suspense>
          {open === 'change'
            ? <ChangeDataset dataset={dataset} close={close} />
            : <DeleteDataset dataset={dataset} close={close} />}
        </Suspense>
      )}
    </>
  )
}

/** The button of the menu, which is large and loaded when it is pressed. */
function Download(props: {
  readonly dataset: Dataset
  readonly asOf: string | undefined
  readonly failed: (error: unknown) => void
}) {
  const [isWanted, want] = useState(false)
  const button = (
    <Button kind="quiet" small icon={<Icon name="download" />} label="Download" aria-haspopup="menu"
      onClick={() => want(true)} />
  )
  return isWanted
    ? (
      <Suspense fallback={button}>
        <DownloadMenu {...props} />
      </Suspense>
    )
    : button
}
