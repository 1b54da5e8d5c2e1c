/** The in-memory twin of the log port: the same promises, implemented simply. */

import { randomUUID } from 'node:crypto'

import type { Branch, CheckpointPlace } from '../../proto/gen/storage/v1/row.ts'
import { ReadBytes } from '../../src/checkpoint/index.ts'
import type { BranchSubject, LogEntry, LogPort, LogRange, NewRow, PurgeSubject,
  RowUpdate } from '../../src/checkpoint/index.ts'
import { HeddleError } from '../../src/errors.ts'

interface Row extends NewRow {
  readonly durable: true
}

/** A log in memory. Each of its knobs makes it late, lossy or shared. */
export class MemoryLog implements LogPort {
  /** True if other owners may write to it as well. */
  shared = false
  readonly rows: Row[] = []
  readonly updates: RowUpdate[] = []
  /** An append becomes durable when this resolves. A test may put a gate of its own here. */
  gate: Promise<void> = Promise.resolve()
  /** Updates are applied when this resolves. */
  late: (rows: readonly NewRow[]) => Promise<void> = () => Promise.resolve()
  /** Number of rows that were read. */
  rowsRead = 0

  newBranchId(): string {
    return randomUUID()
  }

  async open(branch: Branch, epoch: number): Promise<void> {
    if ((this.#tail(branch)?.epoch ?? 0) > epoch) throw new HeddleError('stale_append')
  }

  async append(rows: readonly NewRow[], updates: readonly RowUpdate[],
    logged?: () => void): Promise<void> {
    await this.gate
    for (const row of rows) {
      const tail = this.#tail(row.branch)
      if (row.epoch < (tail?.epoch ?? 0) || row.seq !== (tail?.seq ?? 0) + 1) {
        throw new HeddleError('stale_append')
      }
      this.rows.push({ ...row, durable: true })
    }
    logged?.()
    await this.late(rows)
    this.updates.push(...updates)
  }

  /**
   * Loses updates, as a crash between the log and the rows beside it does. The first rows are kept.
   */
  loseUpdates(count: number): void {
    const first = this.updates.findIndex(({ table }) => table === 'thread') + 1
    this.updates.length = Math.max(first, this.updates.length - count)
  }

  async tail(branch: Branch): Promise<{ epoch: number; seq: number } | undefined> {
    return this.#tail(branch)
  }

  async read(branch: Branch, range: LogRange): Promise<LogEntry[]> {
    const entries = this.#of(branch)
      .filter(({ seq }) => seq >= range.from && seq <= range.through)
      .map(({ epoch, seq, body }) => ({ epoch, seq, body }))
    if (range.reverse) entries.reverse()
    const room = new ReadBytes(range)
    const limited = entries.slice(0, range.limit)
    const end = limited.findIndex(({ body }) => !room.takes(body.byteLength))
    const page = end < 0 ? limited : limited.slice(0, end)
    this.rowsRead += page.length
    return page
  }

  async findCheckpoint(branch: Branch, id: string): Promise<CheckpointPlace | undefined> {
    return this.#of(branch).flatMap(({ places }) => places).findLast((place) => place.id === id)
  }

  readonly purged: PurgeSubject[] = []

  async purge(subject: PurgeSubject | BranchSubject): Promise<void> {
    if (subject.table !== 'branch') return void this.purged.push(subject)
    const left = this.rows.filter(({ branch }) => branch.id !== subject.branch.id)
    this.rows.splice(0, this.rows.length, ...left)
  }

  #tail(branch: Branch): { epoch: number; seq: number } | undefined {
    return this.#of(branch).at(-1)
  }

  /** Rows of the branch and, up to the fork points, of its ancestors, oldest first. */
  #of(branch: Branch): Row[] {
    const throughOf = new Map([...branch.ancestors.map(({ id, through }) => [id, through] as const),
      [branch.id, Number.MAX_SAFE_INTEGER] as const])
    let from = 0
    const found: Row[] = []
    for (const [id, through] of throughOf) {
      const own = this.rows.filter((row) => row.branch.id === id)
      found.push(...own.filter(({ seq }) => seq > from && seq <= through))
      from = through
    }
    return found.sort((a, b) => a.seq - b.seq)
  }
}
