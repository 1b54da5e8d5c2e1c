/** Searches the runs of a tenant in slices, the newest first. */

import { RunRow } from '../../../../proto/gen/storage/v1/row.ts'
import { isMeant } from '../../../search/index.ts'
import type { RunPlace, RunSearchQuery } from '../../../search/index.ts'
import type { Database, Statement } from '../file/database.ts'
import { isMatch } from './metadata-tokens.ts'
import { Slice } from './search-slice.ts'
import type { SizedRow } from './stored-row.ts'

/** Rows that one search looks at. The next one goes on behind them. */
const lookedAtMax = 20_000

type Candidate = readonly [no: number, createdAtMs: number, runId: string, bytes: number,
  status: string, threadId: string]

/** The rows of a page, and where the next one begins. */
interface RunsFound {
  readonly sizes: readonly SizedRow[]
  readonly next: RunPlace | undefined
}

/** Searches runs over one connection. */
export class RunSearch {
  readonly #database: Database
  readonly #body: Statement<readonly [body: Uint8Array]>
  readonly #metadata: Statement<readonly [metadataJson: string]>

  constructor(database: Database) {
    this.#database = database
    this.#body = database.prepare('SELECT body FROM run WHERE no = ?')
    this.#metadata = database.prepare(
      'SELECT metadata FROM thread WHERE tenant = ? AND thread_id = ?',
    )
  }

  /** Yields after each slice. */
  *search(query: RunSearchQuery): Generator<void, RunsFound, void> {
    const { tenant, status, threadId, runId, createdAfterMs, createdBeforeMs, after, limit } = query
    const candidates = this.#database.prepare<Candidate>(statementOf(query))
    const values = { tenant, status: status ?? null, threadId: threadId ?? null,
      named: runId ?? null, from: createdAfterMs ?? -1,
      end: createdBeforeMs ?? Number.MAX_SAFE_INTEGER, createdAt: after?.createdAtMs ?? null,
      runId: after?.runId ?? null }
    const sizes: SizedRow[] = []
    const slice = new Slice()
    const seen = new Map<string, boolean>()
    let lookedAt = 0
    let place = after
    for (const [no, createdAtMs, runId, bytes, ...columns] of candidates.iterate(values)) {
      if (sizes.length === limit) return { sizes, next: place }
      if (place && lookedAt++ >= lookedAtMax && createdAtMs < place.createdAtMs) {
        // Names no run: it may be one that the caller must not see.
        return { sizes, next: { createdAtMs: place.createdAtMs, runId: '' } }
      }
      place = { createdAtMs, runId }
      if (this.#isMeant(query, no, columns) && this.#isSeen(query, columns[1], seen)) {
        sizes.push([no, bytes])
      }
      if (slice.ends('')) yield
    }
    return { sizes, next: undefined }
  }

  #isSeen({ tenant, allowed }: RunSearchQuery, threadId: string,
    known: Map<string, boolean>): boolean {
    if (allowed === undefined) return true
    const before = known.get(threadId)
    if (before !== undefined) return before
    const [document] = this.#metadata.get(tenant, threadId) ?? []
    const isSeen = document !== undefined && isMatch(document, { allowed })
    known.set(threadId, isSeen)
    return isSeen
  }

  /** Reads the body only if the columns do not say it. */
  #isMeant(query: RunSearchQuery, no: number,
    [status, threadId]: readonly [status: string, threadId: string]): boolean {
    if (query.status !== undefined && query.status !== status) return false
    if (query.threadId !== undefined && query.threadId !== threadId) return false
    if (query.assistantId === undefined && query.graphId === undefined) return true
    const [body] = this.#body.get(no) ?? []
    return body !== undefined && isMeant(query, RunRow.decode(body))
  }
}

/** Each starts with the index that leaves out most. */
function statementOf({ status, threadId, runId, after }: RunSearchQuery): string {
  const [index, where] = runId === undefined
    ? startOf(status, threadId)
    : ['run_id', 'AND run_id = :named']
  const behind = after
    ? 'AND created_at <= :createdAt AND (created_at < :createdAt OR run_id < :runId)'
    : ''
  return `SELECT no, created_at, run_id, length(body), status, thread_id
    FROM run INDEXED BY ${index} WHERE tenant = :tenant ${where}
    AND created_at > :from AND created_at < :end ${behind}
    ORDER BY created_at DESC, run_id DESC`
}

function startOf(status: string | undefined,
  threadId: string | undefined): [index: string, where: string] {
  if (threadId !== undefined) return ['run_created_at', 'AND thread_id = :threadId']
  switch (status) {
    case 'error':
    case 'timeout':
    case 'interrupted':
      // SQLite takes an index of some rows only if its condition is repeated.
      return ['run_failed',
        `AND status = '${status}' AND status IN ('error', 'timeout', 'interrupted')`]
    case 'pending':
    case 'running':
      // They are few, and so are the runs that this index has.
      return ['run_status', `AND status = '${status}' AND status <> 'success'`]
    default:
      return ['run_time', '']
  }
}
