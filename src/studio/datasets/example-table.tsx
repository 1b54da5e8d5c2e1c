/** The examples of a dataset as a table of any length, with a filter, splits and versions. */

import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useMemo, useRef, useState } from 'react'

import type { Example } from '../../api/index.ts'
import { splitsQuery } from '../api/platform/datasets.ts'
import { splitsOf } from '../api/platform/examples.ts'
import { useRefusal } from '../api/refusal.ts'
import { counted } from '../parts/amounts.ts'
import { Button } from '../parts/button.tsx'
import { Chip } from '../parts/chip.tsx'
import { Empty } from '../parts/empty.tsx'
import { Icon } from '../parts/icon.tsx'
import { ErrorNotice } from '../parts/notice.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { TimeText } from '../parts/times/time-text.tsx'
import { RowGrid } from '../rows/row-grid.tsx'
import { useRowKeys } from '../rows/row-keys.ts'
import { SearchBox } from '../rows/search-box.tsx'
import type { DatasetViewProps } from '../experiments/dataset-view.ts'
import css from './datasets.module.css'
import { useExamples } from './use-examples.ts'
import { VersionBar } from './version-bar.tsx'
import { wordsOf } from '../json/value-words.ts'

const ExampleDrawer = lazy(async () => ({
  default: (await import('./example-drawer.tsx')).ExampleDrawer,
}))
const VersionChanges = lazy(async () => ({
  default: (await import('./version-changes.tsx')).VersionChanges,
}))

const rowHeight = 52

/** Value in the address for an example that is still to be added. */
const newExample = 'new'

/** Table of the examples of a dataset, in the version that is shown. */
export function ExampleTable({ dataset, search, set }: DatasetViewProps) {
  const refusal = useRefusal()
  const old = search.as_of === undefined
    ? refusal
    : 'An older version never changes. Show the newest one.'
  return (
    <>
      <div className={css['head']}>
        <div className={css['line']}>
          <SearchBox label="Filter examples" hint="Words of inputs and outputs …"
            value={search.q ?? ''} change={(q) => set({ q: q || undefined })} />
          <Splits dataset={dataset} search={search} set={set} />
          <div className={css['end']}>
            <VersionBar dataset={dataset} search={search} set={set} />
            <Button kind="primary" icon={<Icon name="plus" />} disabled={old !== undefined}
              title={old} onClick={() => set({ example: newExample })}
            >
              Add example
            </Button>
          </div>
        </div>
      </div>
      {search.vs === undefined
        ? <Examples dataset={dataset} search={search} set={set} />
        : (
          <Suspense>
            <VersionChanges datasetId={dataset.id} from={search.vs} to={search.as_of ?? 'latest'} />
          </Suspense>
        )}
      {search.example !== undefined && (
        <Suspense>
          <ExampleDrawer key={search.example} datasetId={dataset.id} asOf={search.as_of}
            id={search.example === newExample ? undefined : search.example} refusal={old}
            close={() => set({ example: undefined })} />
        </Suspense>
      )}
    </>
  )
}

function Splits({ dataset, search, set }: DatasetViewProps) {
  const { data: splits = [] } = useQuery(splitsQuery(dataset.id, search.as_of))
  if (splits.length < 2 && search.split === undefined) return null
  return (
    <div className={css['chips']} role="group" aria-label="Splits">
      {splits.map((split) => (
        <button key={split} type="button" aria-pressed={search.split === split} dir="auto"
          onClick={() => set({ split: search.split === split ? undefined : split })}
        >
          {split}
        </button>
      ))}
    </div>
  )
}

function Examples({ dataset, search, set }: DatasetViewProps) {
  const { q = '', split, as_of: asOf } = search
  const question = useMemo(() => ({ datasetId: dataset.id, asOf, split, q }), [dataset.id, asOf,
    split, q])
  const { total, see, rowAt, failed } = useExamples(question)
  const box = useRef<HTMLDivElement>(null)
  const [active, setActive] = useState(0)
  const isFiltered = q !== '' || split !== undefined
  // Without a filter, the dataset itself has said how many there are.
  const count = total.data ??
    (isFiltered || asOf !== undefined ? undefined : dataset.example_count)
  useRowKeys({ title: 'Examples', noun: 'example', count: count ?? 1, active, activate: setActive,
    box })
  const wrong = total.error === null ? failed : total
  if (wrong !== undefined) {
    return (
      <div className={css['notice']}>
        <ErrorNotice error={wrong.error} retry={() => void wrong.refetch()} />
      </div>
    )
  }
  if (count === 0) return <NoExamples isFiltered={isFiltered} />
  return (
    <>
      <div className={css['titles']}>
        <span>Input</span>
        <span>Output</span>
        <span>Splits</span>
        <span aria-live="polite">{count !== undefined && counted(count, 'example')}</span>
      </div>
      <RowGrid label="Examples" name="example" total={count ?? 12} rowHeight={rowHeight}
        active={active} activate={setActive} seen={see} box={box} place={JSON.stringify(question)}
        open={(index) => set({ example: rowAt(index)?.id })}
        row={(index) => (
          <ExampleRow example={rowAt(index)} index={index} open={(id) => {
            setActive(index)
            set({ example: id })
          }} />
        )} />
    </>
  )
}

function ExampleRow({ example, index, open }: {
  readonly example: Example | undefined
  readonly index: number
  readonly open: (id: string) => void
}) {
  if (example === undefined) {
    return (
      <div className={css['example']} role="gridcell">
        <Skeleton width={140 + index * 37 % 160} />
      </div>
    )
  }
  const splits = splitsOf(example).filter((split) => split !== 'base')
  return (
    <div className={css['example']} role="presentation" onClick={() => open(example.id)}>
      <span role="gridcell" className={css['texts']} dir="auto">{wordsOf(example.inputs)}</span>
      <span role="gridcell" className={css['texts']} dir="auto">
        {example.outputs === null ? '–' : wordsOf(example.outputs)}
      </span>
      <span role="gridcell" className={css['splits']}>
        {splits.slice(0, 2).map((split) => <Chip key={split} title={split}>{split}</Chip>)}
        {splits.length > 2 && <Chip title={splits.slice(2).join(', ')}>+{splits.length - 2}</Chip>}
      </span>
      <span role="gridcell" className={`${css['number']} ${css['quiet']} ${css['time']}`}>
        <TimeText iso={example.modified_at} />
      </span>
    </div>
  )
}

function NoExamples({ isFiltered }: { readonly isFiltered: boolean }) {
  return isFiltered
    ? (
      <Empty title="No example matches">
        <p>All words that are looked for have to be in the inputs or outputs.</p>
      </Empty>
    )
    : (
      <Empty title="No examples yet">
        <p>Add one here, or open a trace and add one of its spans.</p>
      </Empty>
    )
}
