/** The statistics of the traces that the filter finds, in one line. */

import { keepPreviousData, useQuery } from '@tanstack/react-query'

import { ApiError } from '../api/client.ts'
import { traceStats } from '../api/platform/projects.ts'
import type { Project, TraceStats } from '../api/platform/projects.ts'
import type { TraceQuestion } from '../api/platform/traces.ts'
import { count } from '../parts/amounts.ts'
import { messageOf } from '../parts/error-message.ts'
import { Skeleton } from '../parts/skeleton.tsx'
import css from './statistics-line.module.css'
import { dollars, latency, score, share } from '../parts/trace-words.ts'

/** The line. Without a filter the project has its numbers already. */
export function StatisticsLine({ question, project }: {
  readonly question: TraceQuestion
  readonly project: Project | undefined
}) {
  const isWhole = question.filter === undefined && question.fromMs === 0
  const asked = useQuery({
    queryKey: ['projects', question.projectId, 'stats', question.filter, question.fromMs],
    queryFn: ({ signal }) => traceStats(question, signal),
    enabled: !isWhole,
    placeholderData: keepPreviousData,
    retry: false,
    // Some regions let a key ask this once in ten seconds.
    refetchOnWindowFocus: false,
    staleTime: 30_000,
  })
  const stats: Partial<TraceStats> | undefined = isWhole ? project : asked.data
  if (!isWhole && asked.isError) {
    // The list below says what is wrong with the filter.
    if (asked.error instanceof ApiError && asked.error.code === 'malformed') return null
    return (
      <div className={css['line']} role="status">
        <span>Statistics: {messageOf(asked.error)}</span>
        <button type="button" onClick={() => void asked.refetch()}>Try again</button>
      </div>
    )
  }
  return (
    <dl tabIndex={0} className={css['line']} aria-label="Statistics"
      aria-busy={stats === undefined}
    >
      {numbers.map(([words, of]) => (
        <div key={words}>
          <dt>{words}</dt>
          <dd>{stats === undefined ? <Skeleton width={34} height={10} /> : of(stats)}</dd>
        </div>
      ))}
      {kinds.map(([words, of]) => {
        const tokens = stats === undefined ? 0 : of(stats) ?? 0
        return tokens > 0 && (
          <div key={words}>
            <dt>{words}</dt>
            <dd>{count(tokens)}</dd>
          </div>
        )
      })}
      {Object.entries(stats?.feedback_stats ?? {}).slice(0, 3).map(([key, { n, avg }]) => (
        <div key={key}>
          <dt title={key}>{key}</dt>
          <dd>
            {score(avg)} <small>({count(n)})</small>
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** Kinds of tokens that are shown where there are some. */
const kinds: readonly (readonly [string, (stats: Partial<TraceStats>) => number | undefined])[] = [
  ['Cached', ({ prompt_token_details: prompt }) => prompt?.['cache_read']],
  ['Reasoning', ({ completion_token_details: completion }) => completion?.['reasoning']],
]

const numbers: readonly (readonly [string, (stats: Partial<TraceStats>) => string])[] = [
  ['Traces', ({ run_count: traces = 0 }) => count(traces)],
  ['Failed', ({ error_rate: rate }) => share(rate)],
  ['p50', ({ latency_p50: p50 }) => latency(p50)],
  ['p99', ({ latency_p99: p99 }) => latency(p99)],
  ['Tokens', ({ total_tokens: tokens }) => tokens ? count(tokens) : '–'],
  ['Cost', ({ total_cost: cost }) => dollars(cost)],
]
