/** The examples of a dataset: pages that are asked for when their rows are on the screen. */

import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query'
import { useCallback, useState } from 'react'

import type { Example } from '../../api/index.ts'
import { exampleCount, examplePage, examplesAtOnce } from '../api/platform/examples.ts'
import type { ExampleQuestion } from '../api/platform/examples.ts'
import type { RowRange } from '../rows/row-grid.tsx'
import { useSettled } from '../rows/settled.ts'

/** Positions are asked about once they are settled: a drag of the scroll bar asks once. */
const settledMs = 70

/** The examples that a question finds. `see` says which rows are on the screen. */
export function useExamples(question: ExampleQuestion) {
  const [scrolled, setScrolled] = useState<RowRange>({ first: 0, last: 0 })
  const { first, last } = useSettled(scrolled, settledMs)
  const total = useQuery({
    queryKey: ['datasets', question.datasetId, 'count', question],
    queryFn: ({ signal }) => exampleCount(question, signal),
    placeholderData: keepPreviousData,
  })
  const from = Math.floor(Math.max(0, first) / examplesAtOnce)
  const to = Math.floor(Math.max(0, last) / examplesAtOnce)
  const wanted = Array.from({ length: to - from + 1 }, (_, at) => from + at)
  const pages = useQueries({
    queries: wanted.map((page) => ({
      queryKey: ['datasets', question.datasetId, 'examples', question, page],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        examplePage(question, page * examplesAtOnce, signal),
      staleTime: 30_000,
    })),
  })
  const see = useCallback((range: RowRange) => setScrolled(range), [])
  const rowAt = (index: number): Example | undefined =>
    pages[wanted.indexOf(Math.floor(index / examplesAtOnce))]?.data?.[index % examplesAtOnce]
  return { total, see, rowAt, failed: pages.find(({ error }) => error !== null) }
}
