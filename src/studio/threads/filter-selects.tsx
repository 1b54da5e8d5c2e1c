/** Choices that several lists are narrowed by: graph and time. */

import { useQuery } from '@tanstack/react-query'

import { assistantList } from '../api/assistants.ts'
import { Select } from '../parts/field.tsx'
import { timeSpans } from '../addresses/threads.ts'

type Span = typeof timeSpans[number]

const spanWords: Readonly<Record<Span, string>> = { '1h': 'Last hour', '24h': 'Last 24 hours',
  '7d': 'Last 7 days', '30d': 'Last 30 days' }

/** The graphs that have assistants; a graph of the address is a choice in any case. */
export function GraphSelect({ value, change }: {
  readonly value: string | undefined
  readonly change: (graph: string | undefined) => void
}) {
  const { data = [] } = useQuery(assistantList)
  const graphs = new Set(data.map(({ graph_id: graph }) => graph))
  if (value !== undefined) graphs.add(value)
  return (
    <Select aria-label="Graph" value={value ?? ''}
      onChange={({ target }) => change(target.value === '' ? undefined : target.value)}
    >
      <option value="">All graphs</option>
      {[...graphs].sort().map((graph) => <option key={graph}>{graph}</option>)}
    </Select>
  )
}

/** Choice of the longest time since something happened; `label` names it. */
export function SpanSelect({ label, value, change }: {
  readonly label: string
  readonly value: Span | undefined
  readonly change: (span: Span | undefined) => void
}) {
  return (
    <Select aria-label={label} value={value ?? ''}
      onChange={({ target }) => change(timeSpans.find((span) => span === target.value))}
    >
      <option value="">Any time</option>
      {timeSpans.map((span) => <option key={span} value={span}>{spanWords[span]}</option>)}
    </Select>
  )
}
