/** The one row about the lives of a store: the processes that had it open, one after the other. */

import type { Database, Statement } from './database.ts'
import type { Life } from './request.ts'

export const lifeSchema =
  'CREATE TABLE life (epoch INTEGER NOT NULL); INSERT INTO life VALUES (0);'

/** The newest record of the journal that the tables have, with all before it. */
export const journaledSchema = 'ALTER TABLE life ADD COLUMN journaled INTEGER NOT NULL DEFAULT 0;'

export class LifeRow {
  readonly #next: Statement<readonly [epoch: number]>
  readonly #get: Statement<readonly [epoch: number, journaled: number]>
  readonly #mark: Statement<never>
  /** What is on disk, as far as is known. */
  #durable = 0

  constructor(database: Database) {
    this.#next = database.prepare('UPDATE life SET epoch = epoch + 1 RETURNING epoch')
    this.#get = database.prepare('SELECT epoch, journaled FROM life')
    this.#mark = database.prepare('UPDATE life SET journaled = ?')
  }

  /** A number that was never returned before. */
  nextEpoch(): number {
    return this.#next.get()![0]
  }

  get newest(): Life {
    const [epoch, journaled] = this.#get.get()!
    return { epoch, journaled }
  }

  /** Writes nothing if the number is on disk already. */
  mark(journaled: number): void {
    if (journaled !== this.#durable) this.#mark.run(journaled)
  }

  /** A commit with this number has reached the disk, and so has all before it. */
  isDurable(journaled: number): void {
    this.#durable = journaled
  }
}
