/**
 * Rows of the log: appended after the newest of their branch, read back, removed when not needed.
 */

import { LRUCache } from '../../../../cluster/index.ts'
import type { Branch, CheckpointPlace } from '../../../../proto/gen/storage/v1/row.ts'
import { ReadBytes, segmentsOf } from '../../../checkpoint/index.ts'
import type { LogEntry, LogRange, NewRow } from '../../../checkpoint/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { Database, Statement } from '../file/database.ts'
import { BranchTable } from './branch-table.ts'
import type { Cut } from './branch-table.ts'
import { CheckpointTable } from './checkpoint-table.ts'

/** A row's place in its branch. */
export interface Position {
  readonly epoch: number
  readonly seq: number
}

/** The end of a branch. Its epoch is 0 if the branch has no row of its own. */
export interface Tail extends Position {
  /** Number of the branch; undefined without rows of its own. */
  readonly no: number | undefined
  readonly dead: boolean
}

const tailsKept = 20_000

/** Table of log rows. The body comes last, so that rows can be scanned without reading it. */
export const logSchema = `
  CREATE TABLE log (
    no INTEGER PRIMARY KEY,
    branch INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    places BLOB,
    body BLOB NOT NULL
  );
  CREATE UNIQUE INDEX log_place ON log (branch, seq);
`

/** A row. Its body is null if it has more bytes than are wanted. */
type SizedRow = readonly [epoch: number, seq: number, bytes: number, body: Uint8Array | null]

/** The log of all branches, with places of checkpoints. Belongs to `Tables`. */
export class LogTable {
  readonly #branches: BranchTable
  readonly #checkpoints: CheckpointTable
  readonly #tails = new LRUCache<string, Tail>({ max: tailsKept })
  readonly #insert: Statement<never>
  readonly #newest: Statement<readonly [epoch: number, seq: number]>
  readonly #upwards: Statement<SizedRow>
  readonly #downwards: Statement<SizedRow>
  readonly #body: Statement<readonly [body: Uint8Array]>
  readonly #stated: Statement<readonly [seq: number, places: Uint8Array]>
  readonly #delete: Statement<never>

  constructor(database: Database) {
    this.#branches = new BranchTable(database)
    this.#checkpoints = new CheckpointTable(database)
    // SQLite knows the length of a body without reading it.
    const rows = `SELECT epoch, seq, length(body), CASE WHEN length(body) <= ? THEN body END
      FROM log WHERE branch = ? AND seq BETWEEN ? AND ?`
    this.#insert = database.prepare(
      'INSERT INTO log (branch, seq, epoch, places, body) VALUES (?, ?, ?, ?, ?)',
    )
    this.#newest = database.prepare(
      'SELECT epoch, seq FROM log WHERE branch = ? AND seq <= ? ORDER BY seq DESC LIMIT 1',
    )
    this.#upwards = database.prepare(`${rows} ORDER BY seq LIMIT ?`)
    this.#downwards = database.prepare(`${rows} ORDER BY seq DESC LIMIT ?`)
    this.#body = database.prepare('SELECT body FROM log WHERE branch = ? AND seq = ?')
    this.#stated = database.prepare(
      'SELECT seq, places FROM log WHERE branch = ? AND seq > ? AND places IS NOT NULL',
    )
    this.#delete = database.prepare('DELETE FROM log WHERE branch = ? AND seq > ?')
  }

  /** Appends rows. Throws `stale_append` or `not_found` before anything is written. */
  append(rows: readonly NewRow[]): void {
    const tails = new Map<string, Tail>()
    for (const row of rows) {
      const { id } = row.branch
      const tail = tails.get(id) ?? this.#tails.get(id) ?? this.#loadTail(row.branch)
      tails.set(id, follow(tail, row))
    }
    for (const row of rows) {
      const { id } = row.branch
      const tail = tails.get(id)!
      const no = tail.no ?? this.#branches.create(row.tenant, row.branch)
      if (tail.no === undefined) tails.set(id, { ...tail, no })
      const keys = this.#checkpoints.put({ branch: no, seq: row.seq }, row.places)
      this.#insert.run(no, row.seq, row.epoch, keys, row.body)
    }
    for (const [id, tail] of tails) this.#tails.set(id, tail)
  }

  tail(branch: Branch): Position | undefined {
    for (const { id, through } of segmentsOf(branch)) {
      const known = this.#branches.find(id)
      const newest = known && this.#newest.get(known.no, through)
      if (newest) return { epoch: newest[0], seq: newest[1] }
    }
    return undefined
  }

  read(branch: Branch, range: LogRange): LogEntry[] {
    const { from, through, reverse = false } = range
    const limit = Math.min(range.limit ?? Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER)
    const quota = new ReadBytes(range)
    const segments = segmentsOf(branch)
    const rows = reverse ? this.#downwards : this.#upwards
    const entries: LogEntry[] = []
    for (const segment of reverse ? segments : segments.reverse()) {
      const first = Math.max(from, segment.from)
      const last = Math.min(through, segment.through)
      const known = first <= last ? this.#branches.find(segment.id) : undefined
      if (!known) continue
      const left = limit - entries.length
      for (const [epoch, seq, bytes, body] of rows.iterate(quota.wanted, known.no, first, last,
        left)) {
        if (!quota.takes(bytes)) return entries
        entries.push({ epoch, seq, body: body ?? this.#body.get(known.no, seq)![0] })
      }
    }
    return entries
  }

  findCheckpoint(branch: Branch, checkpointId: string): CheckpointPlace | undefined {
    for (const { id, through } of segmentsOf(branch)) {
      const known = this.#branches.find(id)
      const place = known && this.#checkpoints.find(known.no, checkpointId, through)
      if (place) return place
    }
    return undefined
  }

  /** Ends a branch. Its rows are removed, except those that other branches grew from. */
  purge(branch: Branch): void {
    this.#tails.delete(branch.id)
    for (const cut of this.#branches.release(branch.id)) this.#cut(cut)
  }

  /** Call after a rollback: what is cached of that transaction may be wrong. */
  forget(): void {
    this.#tails.clear()
  }

  #cut({ branch, after }: Cut): void {
    for (const [seq, keys] of this.#stated.all(branch, after)) {
      this.#checkpoints.remove({ branch, seq }, keys)
    }
    this.#delete.run(branch, after)
  }

  #loadTail(branch: Branch): Tail {
    const known = this.#branches.find(branch.id)
    if (known) {
      const newest = this.#newest.get(known.no, Number.MAX_SAFE_INTEGER)
      const [epoch, seq] = newest ?? [0, 0]
      return { no: known.no, dead: known.dead, epoch, seq }
    }
    const origin = segmentsOf(branch)[1]?.through ?? 0
    if (origin > 0 && this.tail(branch)?.seq !== origin) {
      throw new HeddleError('not_found', 'The source of this copy does not exist any more.')
    }
    // Epochs of another branch belong to another owner and do not matter here.
    return { no: undefined, dead: false, epoch: 0, seq: origin }
  }
}

/** True if `row` can be appended at this tail. */
export function follows({ epoch, seq, dead }: Tail, row: NewRow): boolean {
  const linked = epoch === 0 || row.prevEpoch === epoch
  return !dead && linked && row.seq === seq + 1 && row.epoch >= epoch
}

/** The tail after `row` was appended. */
function follow(tail: Tail, row: NewRow): Tail {
  const { epoch, seq } = tail
  if (!follows(tail, row)) throw new HeddleError('stale_append', undefined, { epoch, seq })
  return { ...tail, epoch: row.epoch, seq: row.seq }
}
