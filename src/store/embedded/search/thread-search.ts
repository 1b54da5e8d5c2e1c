/** Finds threads: picks the index to start from so that few rows are read. */

import type { ThreadFilter, ThreadPlace, ThreadQuery, ThreadSort,
  ThreadStatus } from '../../../search/index.ts'
import type { Database, NamedValues, Statement, Value } from '../file/database.ts'
import { unexpired } from './expiring-threads.ts'
import type { ExpiringThreads } from './expiring-threads.ts'
import { isMatch } from './metadata-tokens.ts'
import type { Clause } from './metadata-tokens.ts'
import { Slice } from './search-slice.ts'
import type { Documents } from './search-slice.ts'
import { pageOf } from './stored-row.ts'
import type { RowPage, SizedRow, StoredRow } from './stored-row.ts'
import type { ThreadCounts } from './thread-counts.ts'
import { isBehind, isChoice, ofClause, ofExpired, ofHidden, ofIds, ofStatus, ofUpdated, ofWords,
  searchOf, select, valuesOf, walk } from './thread-select.ts'
import type { Order, Search, Sorting, Start } from './thread-select.ts'
import type { TokenCounts } from './token-counts.ts'
import type { UnlistedShards } from './unlisted-shards.ts'

const statuses = ['busy', 'error', 'idle', 'interrupted'] as const satisfies ThreadStatus[]

/** The order of each sort. Threads of one status are sorted by id. */
const orderOf: Readonly<Record<ThreadSort, Order>> = {
  thread_id: 'thread_id',
  status: 'thread_id',
  created_at: 'created_at',
  updated_at: 'updated_at',
  state_updated_at: 'state_updated_at',
}

/** A part of the matching rows. The caller knows that all `limit` of them exist. */
interface Page {
  readonly order: Order
  readonly descending: boolean
  readonly offset: number
  readonly limit: number
  /** Number of all threads that match, also of those before `after`. */
  readonly total: number
  readonly after: ThreadPlace | undefined
}

/** Rows that are gathered and sorted without looking for a better way. */
const handful = 1_000

/** Searches threads by status, ids and metadata tokens. Belongs to `Tables`. */
export class ThreadSearch {
  readonly #database: Database
  readonly #counts: ThreadCounts
  readonly #tokenCounts: TokenCounts
  readonly #expiring: ExpiringThreads
  readonly #unlisted: UnlistedShards | undefined
  readonly #row: Statement<StoredRow>
  readonly #size: Statement<readonly [bytes: number]>
  readonly #metadata: Statement<readonly [metadataJson: string]>

  constructor(database: Database,
    { counts, tokenCounts, expiring }: { readonly counts: ThreadCounts;
      readonly tokenCounts: TokenCounts; readonly expiring: ExpiringThreads },
    unlisted?: UnlistedShards) {
    this.#unlisted = unlisted
    this.#database = database
    this.#counts = counts
    this.#tokenCounts = tokenCounts
    this.#expiring = expiring
    this.#metadata = database.prepare('SELECT metadata FROM thread WHERE no = ?')
    this.#size = database.prepare(
      'SELECT octet_length(metadata) + length(body) FROM thread WHERE no = ?',
    )
    this.#row = database.prepare('SELECT metadata, body FROM thread WHERE no = ?')
  }

  /**
   * True if a choice of tokens has more threads than the writer thread should look through, since
   * writes wait for that thread.
   */
  isLong(filter: ThreadFilter): boolean {
    const { tenant, clauses } = searchOf(filter)
    if (!clauses.some(isChoice)) return false
    return clauses.every((clause) => this.#sizeOf(tenant, clause, handful + 1) > handful)
  }

  /** Searches with a filter that the index answers alone. */
  search(query: ThreadQuery): { page: RowPage<StoredRow>; total: number } {
    const { found, total } = this.#find(query)
    return { page: pageOf(this.#sizesOf(found), (no) => this.#row.get(no)!), total }
  }

  #find(query: ThreadQuery): { found: number[]; total: number } {
    const { sortBy, limit, after } = query
    const search = this.#searchOf(query)
    const descending = query.sortOrder === 'desc'
    const order = orderOf[sortBy]
    const found: number[] = []
    let { offset } = query
    let total = 0
    for (const status of this.#groups(search, sortBy, descending)) {
      const group = { ...search, status }
      const start = this.#start(group)
      const size = this.#count(group, start)
      const wanted = Math.min(limit - found.length, size - offset)
      if (wanted > 0 && !isPassed(query, status)) {
        const page = { order, descending, offset, limit: wanted, total: size,
          after: inGroup(query, status) ? after : undefined }
        found.push(...this.#page(group, start, page))
      }
      offset = Math.max(0, offset - size)
      total += size
    }
    return { found, total }
  }

  count(filter: ThreadFilter): number {
    return this.#count(this.#searchOf(filter))
  }

  /** The rows with these numbers that still exist. */
  rows(numbers: readonly number[]): StoredRow[] {
    return numbers.map((no) => this.#row.get(no)).filter((row) => row !== undefined)
  }

  /** Hardly ever are there threads to leave out: they are deleted soon. */
  #searchOf(filter: ThreadFilter): Search {
    const { hidden = false, expiredBy } = filter
    const leavesOut = expiredBy !== undefined && !hidden && this.#expiring.anyHidden(expiredBy)
    return { ...searchOf(filter), ...leavesOut && { expiredBy } }
  }

  #count(search: Search, start = this.#start(search)): number {
    return this.#countAll(search, start) - this.#countExpired(search)
  }

  #countExpired(search: Search): number {
    if (search.expiredBy === undefined) return 0
    const where = `${ofExpired.where} ${this.#unlisted?.condition('d.no') ?? ''}`
    const sql = select(search, { ...ofExpired, where })
    return this.#statement<readonly [number]>(search, sql).get(valuesOf(search))![0]
  }

  /** Counts also those to be left out. */
  #countAll({ expiredBy: _, ...search }: Search, start: Start): number {
    const { tenant, status, clauses: [[token] = []] } = search
    if (start.answers !== 'hidden' && isTokenAlone(search))
      return this.#tokenCounts.of(tenant, token!)
    if (start.answers === 'nothing') return this.#counts.of(tenant, status)
    if (start.answers === 'words' && areWordsAlone(search) && !this.#unlisted?.any) {
      return start.size
    }
    if (status === 'idle' && start.size > handful && start.answers !== 'hidden') {
      // No index contains idle threads, but one contains all others.
      return statuses.filter((each) => each !== 'idle')
        .reduce((rest, each) => rest - this.#count({ ...search, status: each }),
          this.#count({ ...search, status: undefined }))
    }
    const count = this.#statement<readonly [number]>(search, this.#select(search, start))
    return count.get(valuesOf(search))![0]
  }

  /**
   * Searches with a filter that documents, words or choices answer. Candidates are read in slices,
   * and it stops after each. Words and choices need no documents.
   */
  *documents(query: ThreadQuery): Generator<void, Documents, void> {
    const { sortBy, limit, offset } = query
    const search = this.#searchOf(query)
    if (!search.isPartial) {
      const { found: numbers, total } = this.#find(query)
      return { sizes: this.#sizesOf(numbers), total }
    }
    const descending = query.sortOrder === 'desc'
    const found: number[] = []
    let total = 0
    const slice = new Slice()
    for (const status of this.#groups(search, sortBy, descending)) {
      const group = { ...search, status }
      const sorting = { order: orderOf[sortBy], descending, edged: false, placed: false }
      const isLater = laterThan(query, sorting.order, status)
      const candidates = this.#statement<readonly [number, ...Placed]>(group,
        this.#select(group, this.#start(group), sorting))
      const values = { ...valuesOf(group), limit: -1, offset: 0 }
      for (const [no, ...placed] of candidates.iterate(values)) {
        const [document] = this.#metadata.get(no)!
        if (isMatch(document, query)) {
          if (total >= offset && found.length < limit && isLater(placed)) found.push(no)
          total++
        }
        if (slice.ends(document)) yield
      }
    }
    return { sizes: this.#sizesOf(found), total }
  }

  /** The statuses to look for, one after the other. */
  #groups({ status }: Search, sortBy: ThreadSort,
    descending: boolean): readonly (ThreadStatus | undefined)[] {
    if (sortBy !== 'status' || status !== undefined) return [status]
    return descending ? statuses.toReversed() : statuses
  }

  #sizesOf(numbers: readonly number[]): SizedRow[] {
    return numbers.map((no) => [no, this.#size.get(no)![0]])
  }

  /** The numbers of the page's rows. */
  #page(search: Search, start: Start, page: Page): number[] {
    if (start.answers === 'nothing') return this.#rows(search, walk(page.order), page)
    if (start.answers === 'hidden') return this.#rows(search, start, page)
    const gathered = Math.max(start.size, page.total)
    if (start.order !== page.order && gathered > handful) {
      const all = this.#counts.of(search.tenant)
      const walked = Math.ceil((page.offset + page.limit) * all / page.total)
      if (walked >= gathered) return this.#rows(search, start, page)
      // Walking the order ends early if matches are spread evenly. If not, it is given up in time.
      const found = this.#rows(search, walk(page.order), page, 4 * walked)
      if (found.length === page.limit) return found
    }
    return this.#rows(search, start, page)
  }

  /** Numbers of rows in order. With `within`, only that many rows from the start are searched. */
  #rows(search: Search, start: Start, page: Page, within?: number): number[] {
    const { order, descending, offset, limit, after } = page
    const values: NamedValues = { ...valuesOf(search), limit, offset, ...placeValues(after) }
    const edge = within === undefined ? undefined : this.#edge(search, page, within)
    if (edge !== undefined) values['edge'] = edge
    const sql = this.#select(search, start, { order, descending, edged: edge !== undefined,
      placed: after !== undefined })
    return this.#statement<readonly [number]>(search, sql, after).all(values).map(([no]) => no)
  }

  /** Statements of many conditions have so many texts that they are not kept. */
  #statement<Row extends readonly unknown[]>({ match, updated, clauses }: Search, sql: string,
    after?: ThreadPlace): Statement<Row> {
    return match === undefined && !updated && !after && !clauses.some(isChoice)
      ? this.#database.prepare<Row>(sql)
      : this.#database.prepareOnce<Row>(sql)
  }

  /** Makes SQL that leaves out rows of unlisted shards. */
  #select(search: Search, start: Start, page?: Sorting): string {
    const listed = this.#unlisted?.condition('d.no') ?? ''
    const left = search.expiredBy === undefined ? '' : unexpired('d.no')
    const where = `${start.where} ${listed} ${left}`
    return select(search, { ...start, where }, page)
  }

  /** Value in the order's column of the row after the first `within` of those to be searched. */
  #edge({ tenant }: Search, { order, descending, after }: Page, within: number): Value | undefined {
    const { from, where } = walk(order)
    const behind = after
      ? `AND ${isBehind({ order, descending }, `d.${order}`, 'd.thread_id')}`
      : ''
    const edge = this.#database.prepare<readonly [Value]>(`SELECT d.${order} FROM ${from}
      WHERE ${where} ${behind}
      ORDER BY d.${order} ${descending ? 'DESC' : 'ASC'} LIMIT 1 OFFSET :within`)
    return edge.get({ tenant, within, ...placeValues(after) })?.[0]
  }

  /** Counts also threads of unlisted shards, and those whose removal is not indexed yet. */
  #countWords(match: string): number {
    const count = this.#database.prepare<readonly [number]>(
      'SELECT count(*) FROM thread_words WHERE thread_words MATCH :match',
    )
    return count.get({ match })![0]
  }

  #countUpdated(tenant: string,
    [updatedAfter, updatedBefore]: NonNullable<Search['updated']>): number {
    const { from, where } = ofUpdated(0)
    const count = this.#database.prepare<readonly [number]>(
      `SELECT count(*) FROM ${from} WHERE ${where}`,
    )
    return count.get({ tenant, updatedAfter, updatedBefore })![0]
  }

  /** The start with the fewest rows. Tokens are counted only as far as the choice needs. */
  #start(search: Search): Start {
    const { tenant, status, ids, clauses, hidden, updated, match } = search
    if (hidden) return ofHidden
    const starts: Start[] = []
    if (match !== undefined) starts.push(ofWords(this.#countWords(match)))
    if (updated) starts.push(ofUpdated(this.#countUpdated(tenant, updated)))
    if (ids) starts.push(ofIds(ids.length))
    if (status !== undefined && status !== 'idle') {
      starts.push(ofStatus(this.#counts.of(tenant, status)))
    }
    const best = starts.toSorted((a, b) => a.size - b.size)[0]
    for (const bound of clauses.length === 0 ? [] : [100, 10_000, Number.MAX_SAFE_INTEGER]) {
      const limit = Math.min(bound, best?.size ?? bound)
      const sizes = clauses.map((clause) => this.#sizeOf(tenant, clause, limit))
      const size = Math.min(...sizes)
      const noChoice = clauses.length === 1 && !best && bound > handful
      if (size < limit || noChoice) return ofClause(search, sizes.indexOf(size), size)
      if (limit === best?.size) return best
    }
    return best ?? walk('created_at')
  }

  /** The number of threads with a token of the clause, or more: some have several. */
  #sizeOf(tenant: string, clause: Clause, most: number): number {
    return clause.reduce(
      (sum, token) => sum < most ? sum + this.#tokenCounts.of(tenant, token, most) : sum,
      0,
    )
  }
}

function isTokenAlone({ status, ids, clauses, updated, match }: Search): boolean {
  return clauses.length === 1 && !clauses.some(isChoice) && status === undefined && !ids
    && !updated && match === undefined
}

function areWordsAlone({ status, ids, clauses, updated }: Search): boolean {
  return clauses.length === 0 && status === undefined && !ids && !updated
}

/** True if all threads of the status come before the place of the query. */
function isPassed({ sortBy, sortOrder, after }: ThreadQuery,
  status: ThreadStatus | undefined): boolean {
  if (after === undefined || sortBy !== 'status' || status === undefined) return false
  return sortOrder === 'desc' ? status > String(after.value) : status < String(after.value)
}

/** True if some threads of the status come before the place of the query. */
function inGroup({ sortBy, after }: ThreadQuery, status: ThreadStatus | undefined): boolean {
  return after !== undefined && (sortBy !== 'status' || status === after.value)
}

/** The column that a candidate is sorted by, and its id. */
type Placed = readonly [value: Value, id: string]

function laterThan(query: ThreadQuery, order: Order,
  status: ThreadStatus | undefined): (placed: Placed) => boolean {
  const { after, sortOrder } = query
  if (after === undefined) return () => true
  if (isPassed(query, status)) return () => false
  if (!inGroup(query, status)) return () => true
  const sign = sortOrder === 'desc' ? -1 : 1
  return ([value, id]) => {
    const byId = sign * Buffer.compare(Buffer.from(id), Buffer.from(after.id)) > 0
    if (order === 'thread_id' || value === after.value) return byId
    return sign * (Number(value) - Number(after.value)) > 0
  }
}

function placeValues(after: ThreadPlace | undefined): NamedValues {
  return after ? { afterValue: after.value, afterId: after.id } : {}
}
