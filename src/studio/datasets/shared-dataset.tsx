/** A dataset that somebody shared, for anybody who has its link. It changes nothing. */

import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'

import type { Dataset, Example } from '../../api/index.ts'
import type { Experiment } from '../api/platform/experiments.ts'
import { counted } from '../parts/amounts.ts'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { Mark } from '../parts/icon.tsx'
import { JsonTree } from '../json/json-tree.tsx'
import { SharedPending } from '../parts/shared-pending.tsx'
import { TimeText } from '../parts/times/time-text.tsx'
import { NextPageNotice, RowsPending } from '../rows/row-notice.tsx'
import { score, zoned } from '../parts/trace-words.ts'
import { sharedDataset, sharedExamples, sharedExperiments } from './shared-calls.ts'
import css from './shared-dataset.module.css'
import { wordsOf } from '../json/value-words.ts'

/** Page of a shared dataset for everybody who has its link. */
export function SharedDataset() {
  const { token } = useParams({ from: '/public/$token/d' })
  const dataset = useQuery(sharedDataset(token))
  if (dataset.data !== undefined) return <Shown token={token} dataset={dataset.data} />
  return <SharedPending title="Shared dataset" query={dataset} />
}

function Shown({ token, dataset }: { readonly token: string; readonly dataset: Dataset }) {
  const { name, description, example_count: examples, session_count: experiments } = dataset
  return (
    <>
      <header className={css['head']}>
        <Mark />
        <h1 dir="auto" title={name}>{name}</h1>
        <span className={css['quiet']}>
          {counted(examples, 'example')}, {counted(experiments, 'experiment')}
        </span>
      </header>
      <div className={css['scroll']} role="region" aria-label="Dataset" tabIndex={0}>
        {description !== null && description !== '' && (
          <p className={css['part']} dir="auto">{description}</p>
        )}
        <Examples token={token} />
        {experiments > 0 && <Experiments token={token} />}
      </div>
    </>
  )
}

function Examples({ token }: { readonly token: string }) {
  const pages = useInfiniteQuery(sharedExamples(token))
  const [open, setOpen] = useState<string>()
  const rows = pages.data?.pages.flat()
  if (rows === undefined) return <RowsPending pages={pages} />
  if (rows.length === 0) return <Empty title="No examples yet" />
  return (
    <section className={css['part']} aria-label="Examples">
      <h2>Examples</h2>
      <ul className={css['examples']}>
        {rows.map((example) => (
          <ExampleRow key={example.id} example={example} isOpen={open === example.id} toggle={() =>
            setOpen(open === example.id ? undefined : example.id)} />
        ))}
      </ul>
      <NextPageNotice pages={pages} />
      {pages.hasNextPage && (
        <Button disabled={pages.isFetching} onClick={() => void pages.fetchNextPage()}>
          Show more
        </Button>
      )}
    </section>
  )
}

function ExampleRow({ example: { inputs, outputs, metadata }, isOpen, toggle }: {
  readonly example: Example
  readonly isOpen: boolean
  readonly toggle: () => void
}) {
  return (
    <li>
      <button type="button" aria-expanded={isOpen} onClick={toggle}>
        <span dir="auto">{wordsOf(inputs)}</span>
        <span dir="auto">{wordsOf(outputs)}</span>
      </button>
      {isOpen && (
        <div className={css['values']}>
          <JsonTree name="Inputs" value={inputs} />
          <JsonTree name="Outputs" value={outputs} />
          <JsonTree name="Metadata" value={metadata} open={0} />
        </div>
      )}
    </li>
  )
}

function Experiments({ token }: { readonly token: string }) {
  const list = useQuery(sharedExperiments(token))
  if (list.data === undefined) return <RowsPending pages={list} />
  return (
    <section className={css['part']} aria-label="Experiments">
      <h2>Experiments</h2>
      <ul className={css['experiments']}>
        {list.data.map((experiment) => (
          <li key={experiment.id}>
            <span dir="auto">{experiment.name}</span>{' '}
            <TimeText iso={zoned(experiment.start_time)} />
            <Numbers experiment={experiment} />
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Runs and mean scores; nothing where they take too long to count. */
function Numbers({ experiment: { run_count: runs, feedback_stats: stats } }: {
  readonly experiment: Experiment
}) {
  if (runs == null) return null
  const scores = Object.entries(stats ?? {})
    .flatMap(([key, { avg }]) => avg === null ? [] : [`${key} ${score(avg)}`])
  return (
    <span className={css['quiet']} dir="auto">{[counted(runs, 'run'), ...scores].join(', ')}</span>
  )
}
