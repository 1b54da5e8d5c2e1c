/** Calls about crons. */

import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'

import type { CreateCron, CronLastRun, PatchCron, SearchCrons, Selected } from '../../api/index.ts'
import { ask, askSelected } from '../api/ask.ts'
import { pollEvery } from '../api/poll.ts'

const columns = ['cron_id', 'assistant_id', 'thread_id', 'on_run_completed', 'end_time', 'schedule',
  'timezone', 'next_run_date', 'enabled'] as const

/** A cron in the list. What it sends is read by the editor alone. */
export type Cron = Selected<'POST /runs/crons/search', typeof columns[number]>[number]

/** A cron as a whole. */
export type WholeCron = Awaited<ReturnType<typeof readCron>>

/** Conditions that crons must meet. */
export type CronFilter = Pick<SearchCrons, 'enabled' | 'assistant_id'>

/** A page of crons, and the number of all. */
export interface CronPage {
  readonly rows: readonly Cron[]
  readonly total: number
}

const pageCrons = 50
const idleMs = 15_000
const busyMs = 2_000

/** The crons of a filter, the newest first. */
export const cronPages = (filter: CronFilter) =>
  infiniteQueryOptions({
    queryKey: ['crons', 'list', filter],
    queryFn: async ({ pageParam, signal }): Promise<CronPage> => {
      const { data, headers } = await askSelected('POST /runs/crons/search', columns, { signal,
        body: { ...filter, limit: pageCrons, offset: pageParam, sort_by: 'created_at',
          sort_order: 'desc' } })
      return { rows: data, total: Number(headers.get('x-pagination-total')) || data.length }
    },
    initialPageParam: 0,
    getNextPageParam: ({ rows, total }, pages) => {
      const read = pages.reduce((sum, page) => sum + page.rows.length, 0)
      return rows.length > 0 && read < total ? read : undefined
    },
    refetchInterval: pollEvery(idleMs),
  })

const isUnfinished = ({ status }: CronLastRun) => status === 'pending' || status === 'running'

/** The newest runs of some crons, by the cron. Asked again soon while one goes on. */
export const lastRuns = (ids: readonly string[]) =>
  queryOptions({
    queryKey: ['crons', 'last', ids],
    queryFn: ({ signal }) =>
      ask('POST /runs/crons/last-runs', { signal, body: { cron_ids: [...ids] } }),
    refetchInterval: (query) =>
      pollEvery(query.state.data?.some(isUnfinished) ? busyMs : idleMs)(query),
    enabled: ids.length > 0,
  })

/** Status of the traces of runs that are gone with their threads, by the id of the run. */
export const tracesOfRuns = (ids: readonly string[]) =>
  queryOptions({
    queryKey: ['crons', 'traces', ids],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, string>> => {
      const { runs } = await ask('POST /api/v1/runs/query', { signal,
        body: { id: [...ids], limit: ids.length, select: ['id', 'status'], start_time: 0 } })
      return new Map(runs.map(({ id, status }) => [String(id), String(status)]))
    },
    staleTime: 60_000,
    retry: false,
  })

/** A cron with what it sends. */
export const readCron = (id: string, signal?: AbortSignal) =>
  ask('GET /runs/crons/:cron_id', { params: { cron_id: id }, signal })

/** Makes a cron; without a thread each of its runs gets one. */
export const createCron = (thread: string, body: CreateCron) =>
  thread === ''
    ? ask('POST /runs/crons', { body })
    : ask('POST /threads/:thread_id/runs/crons', { params: { thread_id: thread }, body })

/** Changes a cron: what is absent stays. */
export const changeCron = (id: string, body: PatchCron) =>
  ask('PATCH /runs/crons/:cron_id', { params: { cron_id: id }, body })

/** Deletes a cron; its runs stay. */
export const deleteCron = (id: string) =>
  ask('DELETE /runs/crons/:cron_id', { params: { cron_id: id } })

/** Makes a run of a cron now. */
export const triggerCron = (id: string) =>
  ask('POST /runs/crons/:cron_id/trigger', { params: { cron_id: id } })

/** The next times of a schedule. A schedule that is not good is refused with its fault. */
export const nextTimes = (schedule: string, timezone: string) =>
  queryOptions({
    queryKey: ['crons', 'preview', schedule, timezone],
    queryFn: ({ signal }) =>
      ask('POST /runs/crons/preview', { signal,
        body: { schedule, timezone: timezone === '' ? null : timezone, count: 5 } }),
    enabled: schedule.trim() !== '',
    staleTime: 30_000,
    retry: false,
  })
