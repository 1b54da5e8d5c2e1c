/** An example and what experiments answered to it, with scores and differences. */

import { Link } from '@tanstack/react-router'
import { memo, useMemo } from 'react'
import type { CSSProperties } from 'react'

import type { DatasetSearch } from '../addresses/datasets.ts'
import { wordsOf } from '../json/value-words.ts'
import { wordParts } from '../json/word-parts.ts'
import { Chip } from '../parts/chip.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { dollars, latency, score } from '../parts/trace-words.ts'
import css from './experiments.module.css'
import { deltasOf, deltaWords } from './scores.ts'
import type { Cell, ComparedRow } from './scores.ts'

/** A row; without one it is still being read. */
export const ComparedCells = memo(({ row, columns, diff, isDense, isStacked }: {
  readonly row: ComparedRow | undefined
  readonly columns: CSSProperties
  readonly diff: DatasetSearch['diff']
  /** One line for each text, and the first score alone. */
  readonly isDense: boolean
  /** Answers stand below their example, with the numbers of their experiments. */
  readonly isStacked: boolean
}) => {
  if (row === undefined) {
    return (
      <div className={css['row']} style={columns} role="gridcell">
        <Skeleton width={120} />
      </div>
    )
  }
  const { example, cells } = row
  const first = cells[0] ?? null
  return (
    <div className={`${css['row']} ${isDense ? css['dense'] : ''}`} style={columns}
      role="presentation"
    >
      <span role="gridcell" className={css['example']}>
        <span dir="auto" className={css['texts']}>{wordsOf(example.inputs)}</span>
        {example.outputs !== null && (
          <span dir="auto" className={css['reference']}>{wordsOf(example.outputs)}</span>
        )}
      </span>
      {cells.map((cell, at) => (
        <span role="gridcell" key={at} className={css['cell']}>
          {isStacked && <b className={css['quiet']}>{at + 1}</b>}
          {cell === null
            ? <span className={css['quiet']}>Not asked</span>
            : (
              <CellShown cell={cell} isDense={isDense} mark={row.best.has(at)
                ? 'best'
                : row.worst.has(at)
                ? 'worst'
                : undefined} than={diff === 'reference'
                ? wordsOf(example.outputs)
                : diff === 'first' && at > 0 && first !== null
                ? wordsOf(first.run.outputs)
                : undefined} first={at === 0 ? undefined : first?.scores} />
            )}
        </span>
      ))}
    </div>
  )
})

function CellShown({ cell, isDense, mark, than, first }: {
  readonly cell: Cell
  readonly isDense: boolean
  readonly mark: 'best' | 'worst' | undefined
  /** The text that the output is compared with. */
  readonly than: string | undefined
  /** Scores of the first experiment, for the others. */
  readonly first: Cell['scores'] | undefined
}) {
  const { run, scores, times } = cell
  const deltas = deltasOf(scores, first)
  return (
    <>
      <Link to="/traces/$project/$trace" params={{ project: run.project_id, trace: run.trace_id }}
        search={{}} tabIndex={-1} preload={false} className={css['texts']} dir="auto"
        title="What this run did, span by span"
      >
        {run.error === null
          ? <Words text={wordsOf(run.outputs)} than={than} />
          : <span className={css['failed']}>{run.error.split('\n')[0]}</span>}
      </Link>
      <span className={css['numbers']}>
        {mark !== undefined && <Chip tone={mark === 'best' ? 'done' : 'failed'}>{mark}</Chip>}
        {Object.entries(scores).slice(0, isDense ? 1 : 3).map(([key, value]) => (
          <Chip key={key} title={`${key} ${value}`}>
            {key} {score(value)} <Delta value={deltas[key]} />
          </Chip>
        ))}
        {!isDense && (
          <small>
            {latency(cell.latencyS)}
            {cell.cost ? ` · ${dollars(cell.cost)}` : ''}
            {times > 1 ? ` · ${times} times` : ''}
          </small>
        )}
      </span>
    </>
  )
}

/** A difference from the first experiment; nothing where there is none. */
export function Delta({ value }: { readonly value: number | undefined }) {
  if (value === undefined) return null
  return (
    <b className={css[value > 0 ? 'better' : 'worse']} title="Compared with the first">
      {deltaWords(value)}
    </b>
  )
}

function Words({ text, than }: { readonly text: string; readonly than: string | undefined }) {
  const parts = useMemo(() => than === undefined ? undefined : wordParts(than, text), [text, than])
  if (parts === undefined) return text
  return parts.map(({ kind, text: words }, at) =>
    kind === 'same'
      ? <span key={at}>{words}</span>
      : kind === 'removed'
      ? <del key={at}>{words}</del>
      : <ins key={at}>{words}</ins>
  )
}
