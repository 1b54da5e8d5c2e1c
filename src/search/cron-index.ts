/** The port for finding crons: by id, by assistant, thread and metadata, and those that are due. */

import type { CronRow } from '../../proto/gen/storage/v1/row.ts'
import type { MetadataFilter } from './metadata-filter.ts'

/** Column by which a search sorts; equal rows are sorted by id. */
export type CronSort = 'cron_id' | 'assistant_id' | 'thread_id' | 'next_run_date' | 'end_time'
  | 'created_at' | 'updated_at'

/** A filter. Every condition must hold. Metadata is containment. */
export interface CronFilter {
  readonly tenant: string
  readonly assistantId?: string | undefined
  readonly threadId?: string | undefined
  readonly enabled?: boolean | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /** Only crons that the caller may see; all by default. */
  readonly allowed?: MetadataFilter | undefined
}

/** A page of a search. */
export interface CronQuery extends CronFilter {
  readonly sortBy: CronSort
  readonly sortOrder: 'asc' | 'desc'
  /** 1 to 1 000. */
  readonly limit: number
  readonly offset: number
  /**
   * Bytes that the rows may have. A longer page throws `too_large`, with `bytes` in its details.
   */
  readonly bytes?: number
}

/** A cron whose owner must look at it at a time. */
export interface DueCron {
  readonly tenant: string
  readonly cronId: string
  readonly atMs: number
  /** Its place among those that are due at the same time. */
  readonly no: number
}

/**
 * Crons after the given place, at most `limit`, the one that is due first in front. Before all
 * others come those whose due times must follow the clock back from a time after `nowMs`.
 */
export type DueCrons = (after: Pick<DueCron, 'atMs' | 'no'>, limit: number,
  nowMs: number) => Promise<readonly DueCron[]>

/** While the clock shows less, the due times of a cron may have to follow it back; 0 for never. */
export function aheadUntilMs(
  { gaps, refusedSinceMs }: Pick<CronRow, 'gaps' | 'refusedSinceMs'>,
): number {
  return Math.max(refusedSinceMs, ...gaps.map(({ throughMs }) => throughMs))
}

/** Finds crons of a member or a store. */
export interface CronIndex extends CronSearch {
  /** The newest row of a cron; undefined if there is none. */
  get(tenant: string, cronId: string): Promise<CronRow | undefined>
}

/** Searches crons. A store answers for its rows, a scattered index for all members. */
export interface CronSearch {
  /** One page, and the number of all crons that match. */
  search(query: CronQuery, cancelled?: AbortSignal): Promise<{ rows: CronRow[]; total: number }>
  /** The number of crons that match. */
  count(filter: CronFilter, cancelled?: AbortSignal): Promise<number>
}
