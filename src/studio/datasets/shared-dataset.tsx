/** A dataset that somebody shared, for anybody who has its link. It changes nothing. */

import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'

import { ApiError } from '../api/client.ts'
import type { Dataset } from '../api/platform/datasets.ts'
import type { Example } from '../api/platform/examples.ts'
import { counted } from '../parts/amounts.ts'
import { Button } from '../parts/button.tsx'
import { Empty } from '../parts/empty.tsx'
import { GoneLink } from '../parts/gone-link.tsx'
import { Mark } from '../parts/icon.tsx'
import { JsonTree } from '../parts/json-tree.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { TimeText } from '../parts/time-text.tsx'
import { NextPageNotice, RowsPending } from '../rows/row-notice.tsx'
import { zoned } from '../traces/trace-words.ts'
import { sharedDataset, sharedExamples, sharedExperiments } from './shared-calls.ts'
import css from './shared-dataset.module.css'
import { wordsOf } from './value-words.ts'

/** The page. */
export function SharedDataset() {
  const { token } = useParams({ from: '/public/$token/d' })
  const dataset = useQuery(sharedDataset(token))
  if (dataset.data !== undefined) return <Shown token={token} dataset={dataset.data} />
  if (dataset.error instanceof ApiError && dataset.error.status === 404) return <GoneLink />
  return (
    <>
      <header className={css['head']}>
        <Mark />
        <h1>Shared dataset</h1>
      </header>
      <div className={css['part']}>
        {dataset.isError
          ? <ErrorNotice error={dataset.error} retry={() => void dataset.refetch()} />
          : <Skeleton width="60%" />}
      </div>
    </>
  )
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
        {list.data.map(({ id, name, start_time: time }) => (
          <li key={id}>
            <span dir="auto">{name}</span> <TimeText iso={zoned(time)} />
          </li>
        ))}
      </ul>
    </section>
  )
}
