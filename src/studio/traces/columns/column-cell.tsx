/** The cell of a column: what a row has in it. */

import type { TraceRow } from '../../api/platform/traces.ts'
import { count } from '../../parts/amounts.ts'
import { Chip } from '../../parts/chip.tsx'
import { TimeText } from '../../parts/times/time-text.tsx'
import { dollars, latency, score } from '../../parts/trace-words.ts'
import type { Column } from './columns.ts'
import css from './columns.module.css'

/** Cell of a row. */
export function ColumnCell({ row, column: { kind, name } }: {
  readonly row: TraceRow
  readonly column: Column
}) {
  if (kind === 'metadata') {
    const words = wordsOf(row.metadata?.[name])
    return (
      <span role="gridcell" data-column="key" className={css['text']} title={words} dir="auto">
        {words}
      </span>
    )
  }
  if (kind === 'feedback') {
    const stat = row.feedback_stats[name]
    return (
      <span role="gridcell" data-column="key" className={css['number']}
        title={stat && `${stat.n} given`}
      >
        {stat === undefined ? '' : score(stat.avg)}
      </span>
    )
  }
  return <FieldCell row={row} name={name} />
}

function FieldCell({ row, name }: { readonly row: TraceRow; readonly name: string }) {
  switch (name) {
    case 'type':
      return (
        <span role="gridcell" data-column={name} className={css['text']}>
          {row.run_type.toLowerCase()}
        </span>
      )
    case 'thread':
      return (
        <span role="gridcell" data-column={name} className={css['text']}
          title={row.thread_id ?? undefined}
        >
          {row.thread_id}
        </span>
      )
    case 'tags':
      return (
        <span role="gridcell" data-column={name} className={css['chips']}>
          <Feedback row={row} most={1} />
          {row.tags.slice(0, 2).map((tag) => <Chip key={tag} title={tag}>{tag}</Chip>)}
          {row.tags.length > 2 && (
            <Chip title={row.tags.slice(2).join(', ')}>+{row.tags.length - 2}</Chip>
          )}
        </span>
      )
    case 'feedback':
      return (
        <span role="gridcell" data-column={name} className={css['chips']}>
          <Feedback row={row} most={3} />
        </span>
      )
    case 'tokens':
      return (
        <span role="gridcell" data-column={name} className={css['tokens']} title="Tokens">
          {row.total_tokens ? count(row.total_tokens) : ''}
        </span>
      )
    case 'cost':
      return (
        <span role="gridcell" data-column={name} className={css['number']} title="Cost">
          {row.total_cost ? dollars(row.total_cost) : ''}
        </span>
      )
    case 'latency':
      return (
        <span role="gridcell" data-column={name} className={css['latency']} title="Duration">
          {row.status === 'PENDING' ? '' : latency(row.latency_seconds)}
        </span>
      )
    default: {
      const iso = name === 'ended' ? row.end_time : row.start_time
      return (
        <span role="gridcell" data-column={name}
          className={css[name === 'ended' ? 'number' : 'time']}
        >
          {iso !== null && <TimeText iso={iso} />}
        </span>
      )
    }
  }
}

function Feedback({ row, most }: { readonly row: TraceRow; readonly most: number }) {
  return Object.entries(row.feedback_stats).slice(0, most).map(([key, { avg, n }]) => (
    <Chip key={key} tone="accent" title={`${key}, ${n} given`}>{key} {score(avg)}</Chip>
  ))
}

/** A value of the metadata as one line. */
function wordsOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'string' ? value : JSON.stringify(value) ?? ''
  return text.slice(0, 200)
}
