/** The experiments of a dataset: a list with their numbers, or some of them side by side. */

import { lazy, Suspense } from 'react'

import type { DatasetViewProps } from './dataset-view.ts'
import { ExperimentList } from './experiment-list.tsx'

const Comparison = lazy(async () => ({
  default: (await import('./comparison.tsx')).Comparison,
}))

/** Experiments of a dataset: their list, or a comparison of those that the address names. */
export function Experiments(props: DatasetViewProps) {
  const ids = props.search.compare?.split(',').filter((id) => id !== '') ?? []
  return ids.length === 0
    ? <ExperimentList {...props} />
    : (
      <Suspense>
        <Comparison {...props} ids={ids} />
      </Suspense>
    )
}
