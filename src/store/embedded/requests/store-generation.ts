/** The row of generations: the processes that had the store open, one after the other. */

import type { Database, Statement } from '../file/database.ts'
import type { StoreGeneration } from './request.ts'

/** Table `life`, with the epoch of the newest process. */
export const storeGenerationSchema =
  'CREATE TABLE life (epoch INTEGER NOT NULL); INSERT INTO life VALUES (0);'

/** Adds `written`, the newest batch of which the tables have something, and `salt`. */
export const writtenSchema = `
  ALTER TABLE life ADD COLUMN written INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE life ADD COLUMN salt INTEGER NOT NULL DEFAULT 0;
`

/** Reads and changes the row. Belongs to `Tables`. */
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

  /** Begins a generation. Its epoch was never used before. */
  begin(): StoreGeneration {
    this.#next.run()
    return this.newest
  }

  get newest(): StoreGeneration {
    const [epoch, salt, written] = this.#get.get()!
    return { epoch, salt, written }
  }

  /**
   * Notes that the tables have this batch and all before it. In each transaction that is to wait
   * for the disk it must be another number: SQLite does not wait if no page has changed.
   */
  mark(written: number): void {
    this.#mark.run(written)
  }
}
