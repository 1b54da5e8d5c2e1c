/** The experiments of a dataset, newest first; two to five are chosen to stand side by side. */

import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { ReactNode } from 'react'

import { experimentPage, experimentsAtOnce } from '../api/platform/experiments.ts'
import type { Experiment } from '../api/platform/experiments.ts'
import { pollEvery } from '../api/poll.ts'
import type { DatasetViewProps } from './dataset-view.ts'
import { nowMs } from '../env.ts'
import { count } from '../parts/amounts.ts'
import { Button } from '../parts/button.tsx'
import { Chip } from '../parts/chip.tsx'
import { Empty } from '../parts/empty.tsx'
import { Icon } from '../parts/icon.tsx'
import { cellClass, Table } from '../parts/table.tsx'
import type { TableColumn } from '../parts/table.tsx'
import { TimeText } from '../parts/times/time-text.tsx'
import { RowsPending } from '../rows/row-notice.tsx'
import { dollars, latency, score, share, zoned } from '../parts/trace-words.ts'
import css from './experiments.module.css'
import { ExperimentProgress } from './experiment-progress.tsx'
import { againMs, isRunning } from './progress.ts'
import { RunExperimentButton } from './run-experiment-button.tsx'

/** Experiments that have room beside each other. */
const comparedMax = 5

const columns: readonly TableColumn[] = ['Experiment', 'Scores',
  ...['Runs', 'Failed', 'p50', 'p99', 'Cost', 'Started'].map((number) => ({ number }))]

/** List of the experiments of a dataset, the newest first; two to five can be compared. */
export function ExperimentList({ dataset, set }: DatasetViewProps) {
  const pages = useExperiments(dataset.id)
  const [chosen, setChosen] = useState<readonly string[]>([])
  const rows = pages.data?.pages.flat()
  if (rows === undefined) return <RowsPending pages={pages} />
  if (rows.length === 0) return <NoExperiments dataset={dataset} />
  const toggle = (id: string) =>
    setChosen((old) => old.includes(id) ? old.filter((each) => each !== id) : [...old, id])
  // The oldest first: the others are compared with it.
  const compare = () =>
    set({ compare: rows.map(({ id }) => id).filter((id) => chosen.includes(id)).toReversed()
      .join(',') })
  return (
    <>
      <ExperimentProgress dataset={dataset.id} />
      <div className={css['bar']}>
        <span role="status">
          {chosen.length === 0
            ? 'Choose two to five to compare.'
            : `${chosen.length} chosen`}
        </span>
        <Button kind="primary" icon={<Icon name="compare" />} disabled={chosen.length < 2}
          onClick={compare}
        >
          Compare
        </Button>
      </div>
      <div className="page" role="region" aria-label="Experiments" tabIndex={0}>
        <Table caption="The newest first" columns={columns} hasActs={false} className={css['list']}>
          {rows.map((experiment) => (
            <ExperimentRow key={experiment.id} experiment={experiment} toggle={toggle}
              isChosen={chosen.includes(experiment.id)} isFull={chosen.length >= comparedMax} />
          ))}
        </Table>
        {pages.hasNextPage && (
          <Button disabled={pages.isFetching} onClick={() => void pages.fetchNextPage()}>
            Show older ones
          </Button>
        )}
      </div>
    </>
  )
}

/** Pages of experiments, read again while one of them runs. */
function useExperiments(dataset: string) {
  return useInfiniteQuery({
    queryKey: ['experiments', dataset],
    queryFn: ({ pageParam, signal }) => experimentPage(dataset, pageParam, signal),
    initialPageParam: 0,
    getNextPageParam: (last, all) =>
      last.length < experimentsAtOnce ? undefined : all.length * experimentsAtOnce,
    refetchInterval: ({ state }) =>
      pollEvery(againMs(state.data?.pages.flat() ?? [], nowMs()))({ state }),
  })
}

function NoExperiments({ dataset }: Pick<DatasetViewProps, 'dataset'>) {
  return (
    <Empty title="No experiments yet">
      <p>
        An experiment asks an assistant, a prompt or a program each example, and scores what it
        answers. Run one here, or with <code>evaluate()</code> of a LangSmith client.
      </p>
      <code>{`evaluate(target, { data: '${dataset.name}', evaluators })`}</code>
      <RunExperimentButton start={{ dataset: dataset.id }} kind="primary" />
    </Empty>
  )
}

function ExperimentRow({ experiment, isChosen, isFull, toggle }: {
  readonly experiment: Experiment
  readonly isChosen: boolean
  readonly isFull: boolean
  readonly toggle: (id: string) => void
}) {
  const { id, name, feedback_stats: own, session_feedback_stats: ofAll } = experiment
  const scores = Object.entries({ ...own, ...ofAll })
  return (
    <tr data-chosen={isChosen}>
      <th scope="row">
        <span className={css['name']}>
          <input type="checkbox" checked={isChosen} disabled={!isChosen && isFull}
            aria-label={`Choose ${name}`} onChange={() => toggle(id)} />
          <Link to="/traces/$project" params={{ project: id }} search={{}} title={name} dir="auto">
            {name}
          </Link>
          {isRunning(experiment, nowMs()) && <Chip tone="running">Running</Chip>}
        </span>
      </th>
      <td className={css['scores']}>
        {scores.slice(0, 4).map(([key, { avg, n }]) => (
          <Chip key={key} tone="accent" title={`${key}: mean of ${n}`}>{key} {score(avg)}</Chip>
        ))}
        {scores.length > 4 && (
          <Chip title={scores.slice(4).map(([key]) => key).join(', ')}>+{scores.length - 4}</Chip>
        )}
      </td>
      <Figure label="Runs">{count(experiment.run_count ?? 0)}</Figure>
      <Figure label="Failed" isBad={Boolean(experiment.error_rate)}>
        {share(experiment.error_rate)}
      </Figure>
      <Figure label="p50">{latency(experiment.latency_p50)}</Figure>
      <Figure label="p99">{latency(experiment.latency_p99)}</Figure>
      <Figure label="Cost">{dollars(experiment.total_cost)}</Figure>
      <Figure label="Started">
        <TimeText iso={zoned(experiment.start_time)} />
      </Figure>
    </tr>
  )
}

function Figure({ label, isBad = false, children }: {
  readonly label: string
  readonly isBad?: boolean
  readonly children: ReactNode
}) {
  return (
    <td data-label={label} className={`${cellClass.number} ${isBad ? css['failed'] : ''}`}>
      {children}
    </td>
  )
}
