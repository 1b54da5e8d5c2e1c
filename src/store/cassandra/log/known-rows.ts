/** The newest rows of one branch that are known, without a gap. */

import type { LogEntry } from '../../../checkpoint/index.ts'
import type { Slice } from './epoch-range.ts'

/** Approximate bytes of a row besides its body. */
const rowBytes = 150
/** Part that stays when the limit is reached, so that each row is moved only a few times. */
const keptPart = 7 / 8

/** Rows that follow each other. Beyond the limit the oldest ones go. */
export class KnownRows {
  readonly #limitBytes: number
  #rows: LogEntry[] = []
  #bytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The rows of a slice, oldest first; undefined unless all are known, as of its epoch. */
  slice({ epoch, from, through }: Slice): readonly LogEntry[] | undefined {
    const first = this.#rows[0]?.seq ?? Infinity
    if (from < first || through > this.#rows.at(-1)!.seq) return undefined
    const rows = this.#rows.slice(from - first, through - first + 1)
    return rows.every((row) => row.epoch === epoch) ? rows : undefined
  }

  /** Adds rows that follow each other. Of two parts with a gap between them the newer one stays. */
  add(rows: readonly LogEntry[]): void {
    const [first, last] = [rows[0]!.seq, rows.at(-1)!.seq]
    const newest = this.#rows.at(-1)?.seq
    if (newest === undefined || first > newest + 1) this.#replace(rows)
    else if (first === newest + 1) this.#append(rows)
    else if (last + 1 >= this.#rows[0]!.seq) {
      const before = this.#rows.filter(({ seq }) => seq < first)
      this.#replace([...before, ...rows, ...this.#rows.filter(({ seq }) => seq > last)])
    }
    this.#trim()
  }

  #replace(rows: readonly LogEntry[]): void {
    this.#rows = []
    this.#bytes = 0
    this.#append(rows)
  }

  #append(rows: readonly LogEntry[]): void {
    for (const row of rows) {
      this.#rows.push(row)
      this.#bytes += bytesOf(row)
    }
  }

  #trim(): void {
    if (this.#bytes <= this.#limitBytes) return
    let gone = 0
    while (this.#bytes > this.#limitBytes * keptPart) this.#bytes -= bytesOf(this.#rows[gone++]!)
    this.#rows.splice(0, gone)
  }
}

function bytesOf({ body }: LogEntry): number {
  return rowBytes + body.byteLength
}
