/** A project in the list, with its numbers as soon as they are known. */

import { Link } from '@tanstack/react-router'
import { memo } from 'react'

import type { Project } from '../api/platform/projects.ts'
import { count } from '../parts/amounts.ts'
import { Chip } from '../parts/chip.tsx'
import { Skeleton } from '../parts/skeleton.tsx'
import { TimeText } from '../parts/times/time-text.tsx'
import css from './project-list.module.css'
import { dollars, latency, share, zoned } from '../parts/trace-words.ts'

/** A row; without a project it is one that is still being read. */
export const ProjectRow = memo(({ index, top, height, project, stats, isOwn, isActive }: {
  readonly index: number
  readonly top: number
  readonly height: number
  readonly project: Project | undefined
  readonly stats: Project | undefined
  readonly isOwn: boolean
  readonly isActive: boolean
}) => (
  <div role="row" id={`project-${index}`} aria-rowindex={index + 2} aria-selected={isActive}
    className={css['row']} style={{ height, transform: `translateY(${top}px)` }}
  >
    <span role="gridcell" className={css['name']}>
      {project === undefined
        ? <Skeleton width={120 + index * 37 % 110} />
        : (
          <>
            <Link to="/traces/$project" params={{ project: project.id }} search={{}} tabIndex={-1}
              title={project.name} dir="auto"
            >
              {project.name}
            </Link>
            {isOwn && <Chip title="Runs of this server">own runs</Chip>}
          </>
        )}
    </span>
    {numbers.map(({ words, of, className }, at) => (
      <span role="gridcell" key={at} className={`${css['number']} ${className ?? ''}`}>
        {stats === undefined
          ? project !== undefined && <Skeleton width={36} height={10} />
          : (
            <>
              {of(stats)}
              <small>{words?.(stats)}</small>
            </>
          )}
      </span>
    ))}
    <span role="gridcell" className={css['time']}>
      {stats?.last_run_start_time && <TimeText iso={zoned(stats.last_run_start_time)} />}
    </span>
  </div>
))

/** Narrow windows show a few of the numbers, in words. */
const numbers: readonly {
  readonly words?: (stats: Project) => string
  readonly of: (stats: Project) => string | React.ReactNode
  readonly className?: string | undefined
}[] = [
  { words: ({ run_count: traces }) => traces === 1 ? ' trace' : ' traces',
    of: ({ run_count: traces = 0 }) => count(traces) },
  { words: () => ' failed',
    of: ({ error_rate: rate }) =>
      rate ? <b className={css['failed']}>{share(rate)}</b> : share(rate) },
  { words: () => ' p50', of: ({ latency_p50: p50 }) => latency(p50) },
  { of: ({ latency_p99: p99 }) => latency(p99), className: css['wide'] },
  { of: ({ total_tokens: tokens }) => tokens ? count(tokens) : '–', className: css['wide'] },
  { of: ({ total_cost: cost }) => dollars(cost), className: css['wide'] },
]
