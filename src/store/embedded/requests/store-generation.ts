/** The one row about the lives of a store: the processes that had it open, one after the other. */

import type { Database, Statement } from '../file/database.ts'
import type { StoreGeneration } from './request.ts'

export const storeGenerationSchema =
  'CREATE TABLE life (epoch INTEGER NOT NULL); INSERT INTO life VALUES (0);'

/** `written`: the newest batch of which the tables have something. */
export const writtenSchema = `
  ALTER TABLE life ADD COLUMN written INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE life ADD COLUMN salt INTEGER NOT NULL DEFAULT 0;
`

export class StoreGenerationRow {
  readonly #next: Statement<never>
  readonly #get: Statement<readonly [epoch: number, salt: number, written: number]>
  readonly #mark: Statement<never>

  constructor(database: Database) {
    this.#next = database.prepare(
      'UPDATE life SET epoch = epoch + 1, salt = abs(random()) % 281474976710656',
    )
    this.#get = database.prepare('SELECT epoch, salt, written FROM life')
    this.#mark = database.prepare('UPDATE life SET written = ?')
  }

  /** A new life: its epoch was never there before. */
  begin(): StoreGeneration {
    this.#next.run()
    return this.newest
  }

  get newest(): StoreGeneration {
    const [epoch, salt, written] = this.#get.get()!
    return { epoch, salt, written }
  }

  /**
   * The tables have what could be done of this batch and all before. It must be another one in each
   * transaction that is to wait for the disk: SQLite waits for nothing if no page has changed.
   */
  mark(written: number): void {
    this.#mark.run(written)
  }
}
