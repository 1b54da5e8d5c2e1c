/** Calls about rules. */

import { queryOptions } from '@tanstack/react-query'

import type { RuleBody, RuleEvaluator, RunStats } from '../../api/index.ts'
import { ask } from '../api/ask.ts'
import { pollEvery } from '../api/poll.ts'

/** All rules with their states: asked again while somebody looks. */
export const ruleList = queryOptions({
  queryKey: ['rules'],
  queryFn: ({ signal }) =>
    ask('GET /api/v1/runs/rules', { query: { include_state: true }, signal }),
  refetchInterval: pollEvery(5_000),
})

/** Query of one rule by its id. */
export const ruleQuery = (id: string) =>
  queryOptions({
    queryKey: ['rules', id],
    queryFn: ({ signal }) => ask('GET /api/v1/runs/rules/:id', { params: { id }, signal }),
  })

/** Query of the progress of a rule; each second while it goes over the past, else every three. */
export const ruleState = (id: string) =>
  queryOptions({
    queryKey: ['rules', id, 'state'],
    queryFn: ({ signal }) =>
      ask('GET /api/v1/runs/rules/:id/last_applied', { params: { id }, signal }),
    // Somebody who began to go over the past waits for it.
    refetchInterval: (query) => pollEvery(query.state.data?.backfill ? 1_000 : 3_000)(query),
  })

/** Lines of a page of the log. */
export const linesAtOnce = 100

/** A page of the log, newest first. */
export const ruleLines = (id: string, before: number | null, signal: AbortSignal) =>
  ask('GET /api/v1/runs/rules/:id/logs', { params: { id },
    query: { limit: linesAtOnce, before: before ?? undefined }, signal })

/** Makes a rule from what its editor wrote. */
export const createRule = (body: RuleBody) => ask('POST /api/v1/runs/rules', { body })

/** Changes a rule: what is absent stays. */
export const changeRule = (id: string, body: RuleBody) =>
  ask('PATCH /api/v1/runs/rules/:id', { params: { id }, body })

/** Deletes a rule and its log. */
export const deleteRule = (id: string) => ask('DELETE /api/v1/runs/rules/:id', { params: { id } })

/** Goes over the runs that began from then on. */
export const triggerRule = (id: string, fromMs: number) =>
  ask('POST /api/v1/runs/rules/:id/trigger', { params: { id }, body: { start_time: fromMs } })

/** Asks a judge about one run and keeps nothing of what it says. */
export const tryJudge = (evaluator: RuleEvaluator, run: string) =>
  ask('POST /api/v1/runs/rules/judge', { body: { evaluator, run_id: run } })

/** Resolves with the number of runs of a project that began from then on and meet a filter. */
export async function countRuns(project: string, filter: string, fromMs: number): Promise<number> {
  const stats = await ask('POST /api/v1/runs/stats', {
    body: { session: [project], start_time: fromMs, select: ['run_count'],
      ...filter !== '' && { filter } },
  })
  return (stats as Pick<RunStats, 'run_count'>).run_count
}

/** The newest run of a project that meets a filter. */
export async function newestRun(project: string, filter: string): Promise<string | undefined> {
  const { items } = await ask('POST /api/v2/runs/query', {
    body: { project_ids: [project], page_size: 1, selects: ['ID'], min_start_time: 0,
      ...filter !== '' && { filter } },
  })
  return items[0]?.id
}

/** Query of the ids and names of 100 annotation queues at most. */
export const queueNames = queryOptions({
  queryKey: ['queues', 'names'],
  queryFn: ({ signal }) => ask('GET /api/v1/annotation-queues', { query: { limit: 100 }, signal }),
  retry: false,
})
