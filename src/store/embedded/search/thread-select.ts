/** Statements that search threads: where they start, and which conditions they check. */

import type { ThreadFilter, ThreadSort, ThreadStatus } from '../../../search/index.ts'
import type { NamedValues } from '../file/database.ts'
import { clausesOf } from './metadata-tokens.ts'
import type { Clause } from './metadata-tokens.ts'
import { matchOf } from './word-index.ts'

/** Orders that have an index. Threads of one status are sorted by id. */
export type Order = Exclude<ThreadSort, 'status'>

/** A filter as statements take it, without the part that only documents can answer. */
export interface Search {
  readonly tenant: string
  readonly status: ThreadStatus | undefined
  readonly ids: readonly string[] | undefined
  readonly clauses: readonly Clause[]
  /** True if documents must be checked as well. */
  readonly isPartial: boolean
  readonly hidden: boolean
  /** Expression for the full-text index; undefined for anything. */
  readonly match: string | undefined
  /** Times between which the last update is, both exclusive; undefined for any. */
  readonly updated: readonly [after: number, before: number] | undefined
  /** Set if threads are to be left out whose time had ended by then. */
  readonly expiredBy?: number | undefined
}

/** Start of a statement: rows `d` of a table. */
export interface Start {
  readonly from: string
  readonly where: string
  /** Number of rows, as far as it was counted. */
  readonly size: number
  /** The part of the filter that the start answers. A number is the index of a clause. */
  readonly answers: 'nothing' | 'hidden' | 'ids' | 'status' | 'updated' | 'words' | number
  /** The order in which the rows come. */
  readonly order?: Order
}

/**
 * Sort order of a page. If `edged`, it ends before the value `:edge`. If `placed`, it begins behind
 * the value `:afterValue` and the id `:afterId`.
 */
export interface Sorting {
  readonly order: Order
  readonly descending: boolean
  readonly edged: boolean
  readonly placed: boolean
}

/** The search of a filter. Ids are made unique. */
export function searchOf(filter: ThreadFilter): Search {
  const { tenant, status, ids, hidden = false, words, updatedAfterMs, updatedBeforeMs } = filter
  const { clauses, exact } = clausesOf(filter)
  const updated = updatedAfterMs === undefined && updatedBeforeMs === undefined
    ? undefined
    : [updatedAfterMs ?? -1, updatedBeforeMs ?? Number.MAX_SAFE_INTEGER] as const
  return { tenant, status, ids: ids && [...new Set(ids)], clauses, isPartial: !exact, hidden,
    updated, match: words && matchOf(tenant, words) }
}

/** The values of a search's parameters. */
export function valuesOf(
  { tenant, status, ids, clauses, expiredBy, updated, match }: Search,
): NamedValues {
  const values: NamedValues = { tenant }
  if (match !== undefined) values['match'] = match
  if (updated) [values['updatedAfter'], values['updatedBefore']] = updated
  if (expiredBy !== undefined) values['now'] = expiredBy
  if (status !== undefined) values['status'] = status
  if (ids) values['ids'] = JSON.stringify(ids)
  clauses.forEach((clause, index) => {
    values[`clause${index}`] = isChoice(clause) ? JSON.stringify(clause) : clause[0]!
  })
  return values
}

/** Starts with all threads in an order. */
export function walk(order: Order): Start {
  return { from: `thread d INDEXED BY thread_${order}`, size: Number.MAX_SAFE_INTEGER, order,
    answers: 'nothing', where: 'd.tenant = :tenant AND d.hidden = 0' }
}

/** Starts with hidden threads, which are few and in no other index. */
export const ofHidden: Start = { from: 'thread d INDEXED BY thread_hidden', size: 0,
  answers: 'hidden', where: 'd.hidden = 1 AND d.tenant = :tenant' }

/** Starts with the threads that must not be found any more at `:now`. */
export const ofExpired: Start = { from: 'expiring e CROSS JOIN thread d ON d.no = e.no', size: 0,
  answers: 'hidden', where: 'e.at <= :now AND e.hides = 1 AND d.tenant = :tenant AND d.hidden = 0' }

/** Starts with the threads of one status. Idle ones have no index. */
export function ofStatus(size: number): Start {
  return { from: 'thread d INDEXED BY thread_status', size, order: 'created_at', answers: 'status',
    where: `d.tenant = :tenant AND d.hidden = 0 AND d.status <> 'idle' AND
      d.status = :status` }
}

/** Starts with the threads that were updated between two times. `size` is their number. */
export function ofUpdated(size: number): Start {
  const { from, where } = walk('updated_at')
  return { from, size, order: 'updated_at', answers: 'updated',
    where: `${where} AND ${isUpdated('d')}` }
}

function isUpdated(row: 't' | 'd'): string {
  return `${row}.updated_at > :updatedAfter AND ${row}.updated_at < :updatedBefore`
}

/** SQL condition for rows behind a place. The bare comparison lets SQLite begin there. */
export function isBehind({ order, descending }: Pick<Sorting, 'order' | 'descending'>,
  column: string, id: string): string {
  const sign = descending ? '<' : '>'
  if (order === 'thread_id') return `${id} ${sign} :afterId`
  return `${column} ${sign}= :afterValue AND
    (${column} ${sign} :afterValue OR ${id} ${sign} :afterId)`
}

/** Starts with the threads that have the words. `size` is their number. */
export function ofWords(size: number): Start {
  return { from: 'thread_words w CROSS JOIN thread d ON d.no = w.rowid', size, answers: 'words',
    where: 'w.thread_words MATCH :match AND d.tenant = :tenant AND d.hidden = 0' }
}

/** Starts with the given ids. `size` is their number. */
export function ofIds(size: number): Start {
  return { from: `json_each(:ids) each CROSS JOIN thread d
    ON d.tenant = :tenant AND d.thread_id = each.value`, size, answers: 'ids',
    where: 'd.hidden = 0' }
}

/**
 * Starts with the threads that have a token of a clause. `index` is its place in the search, `size`
 * the number of threads, or more if some have several of the tokens.
 */
export function ofClause({ clauses }: Pick<Search, 'clauses'>, index: number, size: number): Start {
  const clause = clauses[index]!
  const ofTenant = 'd.tenant = :tenant'
  if (!isChoice(clause)) {
    return { from: 'thread_meta d', size, order: 'created_at', answers: index,
      where: `${ofTenant} AND ${isIn(clause, 'd.token', index)}` }
  }
  return { size, answers: index, where: ofTenant,
    from: `(SELECT DISTINCT tenant, created_at, no FROM thread_meta
      WHERE tenant = :tenant AND ${isIn(clause, 'token', index)}) d` }
}

/** True if one of several tokens is enough. */
export function isChoice(clause: Clause): boolean {
  return clause.length !== 1
}

function isIn(clause: Clause, column: string, index: number): string {
  return isChoice(clause)
    ? `${column} IN (SELECT value FROM json_each(:clause${index}))`
    : `${column} = :clause${index}`
}

/** Selects the numbers and places of a page's rows. Without a page it counts matches. */
export function select(search: Search, start: Start, page?: Sorting): string {
  const { status, ids, clauses, updated, match } = search
  const bare = typeof start.answers === 'number'
  const t = bare ? 't' : 'd'
  const inIndex = [start.where]
  const inRow: string[] = []
  clauses.forEach((clause, index) => {
    if (start.answers === index) return
    inIndex.push(`EXISTS (SELECT 1 FROM thread_meta x WHERE x.tenant = d.tenant AND
      ${isIn(clause, 'x.token', index)} AND x.created_at = d.created_at AND x.no = d.no)`)
  })
  if (status !== undefined && start.answers !== 'status') inRow.push(`${t}.status = :status`)
  if (ids && start.answers !== 'ids') {
    inRow.push(`${t}.thread_id IN (SELECT value FROM json_each(:ids))`)
  }
  if (match !== undefined && start.answers !== 'words') {
    inIndex.push('d.no IN (SELECT rowid FROM thread_words WHERE thread_words MATCH :match)')
  }
  if (updated && start.answers !== 'updated') inRow.push(isUpdated(t))
  const rest = bare && (page || inRow.length > 0) ? 'CROSS JOIN thread t ON t.no = d.no' : ''
  const conditions = [...inIndex, ...inRow]
  if (!page) return `SELECT count(*) FROM ${start.from} ${rest} WHERE ${conditions.join(' AND ')}`
  const direction = page.descending ? 'DESC' : 'ASC'
  const column = `${page.order === 'created_at' ? 'd' : t}.${page.order}`
  if (page.placed) conditions.push(isBehind(page, column, `${t}.thread_id`))
  if (page.edged) conditions.push(`${column} ${page.descending ? '>' : '<'} :edge`)
  return `SELECT d.no, ${column}, ${t}.thread_id FROM ${start.from} ${rest} WHERE ${
    conditions.join(' AND ')
  }
    ORDER BY ${column} ${direction}, ${t}.thread_id ${direction} LIMIT :limit OFFSET :offset`
}
