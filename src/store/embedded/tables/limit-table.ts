/** Admitted requests of limits. Rows are removed when they have expired. */

import type { LimitAdmit, LimitKey } from '../../../limits/index.ts'
import type { Database, Statement } from '../file/database.ts'

/** An admit as the writer takes it. `keptMs` is how long it counts. */
export interface LimitEntry extends LimitKey, LimitAdmit {
  readonly keptMs: number
}

/** Table of admits. Columns `row_name` and `who` are a limit's name and subject. */
export const limitSchema = `
  CREATE TABLE limit_admit (
    no INTEGER PRIMARY KEY,
    row_name TEXT NOT NULL,
    who TEXT NOT NULL,
    at INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    over_at INTEGER NOT NULL
  );
  CREATE INDEX limit_admit_at ON limit_admit (row_name, who, at);
  CREATE INDEX limit_admit_over ON limit_admit (over_at);
`

/** Expired rows that each new row removes at most. */
const removedAtOnce = 100

/** Stores and finds admits. Belongs to `Tables`. */
export class LimitTable {
  readonly #append: Statement<never>
  readonly #removeOver: Statement<never>
  readonly #since: Statement<readonly [atMs: number, tokens: number]>

  constructor(database: Database) {
    this.#append = database.prepare('INSERT INTO limit_admit VALUES (NULL, ?, ?, ?, ?, ?)')
    this.#removeOver = database.prepare(`DELETE FROM limit_admit WHERE no IN
      (SELECT no FROM limit_admit WHERE over_at < ? ORDER BY over_at LIMIT ${removedAtOnce})`)
    this.#since = database.prepare(
      'SELECT at, tokens FROM limit_admit WHERE row_name = ? AND who = ? AND at >= ?',
    )
  }

  append({ row, who, atMs, tokens, keptMs }: LimitEntry): void {
    const at = Math.floor(atMs)
    this.#removeOver.run(at)
    this.#append.run(row, who, at, tokens, at + Math.ceil(keptMs))
  }

  since({ row, who }: LimitKey, sinceMs: number): LimitAdmit[] {
    return this.#since.all(row, who, Math.floor(sinceMs))
      .map(([atMs, tokens]) => ({ atMs, tokens }))
  }
}
