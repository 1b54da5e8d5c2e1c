/** The chain: which of the rows in the newest partitions are the end of the log. Rule: [chain]. */

/** Epoch and number of a row. Of two rows with the same number, that of the newer epoch counts. */
export interface Position {
  readonly epoch: number
  readonly seq: number
}

/** Position of a row, with its statements on the rows before it. */
export interface ChainRow extends Position {
  /** Epoch of the row before this one, whose seq is one less. */
  readonly prevEpoch: number
  /** When this row was sent, all rows up to this seq were on a quorum. */
  readonly settledSeq: number
}

/** Sorts positions with the newest first. */
export function comparePositions(a: Position, b: Position): number {
  return b.epoch - a.epoch || b.seq - a.seq
}

/**
 * The end of the log: the newest row without a missing row before it.
 *
 * none    the log is empty
 * unseen  the end may be among rows that were not read yet
 */
export type Tail<Row> = Row | 'none' | 'unseen'

/**
 * Finds the end of the log. `rows` are all rows at or above `floor` in the newest two buckets,
 * newest first. Each row says up to which row everything was on a quorum; below that, rows need no
 * check.
 *
 * A late row of a deposed owner cannot win: the next owner wrote a row of a newer epoch before it
 * answered anything. A row that arrived without the one before it cannot win either.
 */
export function tailOf<Row extends ChainRow>(rows: readonly Row[], floor?: Position): Tail<Row> {
  const byPosition = new Map(rows.map((row) => [keyOf(row), row]))
  const unseen = (at: Position) => floor !== undefined && comparePositions(at, floor) > 0
  for (const candidate of rows) {
    if (unseen(candidate)) return 'unseen'
    for (let row = candidate;;) {
      const before = beforeOf(row)
      if (before.seq <= candidate.settledSeq) return candidate
      const previous = byPosition.get(keyOf(before))
      if (!previous && unseen(before)) return 'unseen'
      if (!previous) break
      row = previous
    }
  }
  return floor === undefined ? 'none' : 'unseen'
}

/** History up to `tail`, oldest first, as far back as it was read. */
export function historyTo<Row extends ChainRow>(tail: Row, seen: readonly Row[]): Row[] {
  const rows: Row[] = []
  for (let row: Row | undefined = tail; row;) {
    rows.unshift(row)
    const before: Position = beforeOf(row)
    row = seen.find((each) => comparePositions(each, before) === 0)
  }
  return rows
}

function beforeOf({ prevEpoch, seq }: ChainRow): Position {
  return { epoch: prevEpoch, seq: seq - 1 }
}

function keyOf({ epoch, seq }: Position): string {
  return `${epoch} ${seq}`
}
