/** Threads with a time to live: when each is due, and which must not be found any more. */

import type { DueThread } from '../../../search/index.ts'
import type { Database, Statement } from '../file/database.ts'
import type { UnlistedShards } from './unlisted-shards.ts'

/**
 * Table of threads that are due at a time. Few threads have one, so most writes do not touch it.
 * `expiring_life` has the epoch of the last process that kept it.
 */
export const expiringSchema = `
  CREATE TABLE expiring (no INTEGER PRIMARY KEY, at INTEGER NOT NULL, hides INTEGER NOT NULL);
  CREATE INDEX expiring_at ON expiring (at);
  CREATE TABLE expiring_life (epoch INTEGER NOT NULL);
  INSERT INTO expiring_life VALUES (0);
`

/** Time at which a thread is due, and the effect on searches. */
export interface Expiry {
  readonly atMs: number
  /** It is not found from then on. */
  readonly hides: boolean
}

/** Keeps when threads are due. Belongs to `ThreadTable`. */
export class ExpiringThreads {
  readonly #database: Database
  readonly #unlisted: UnlistedShards | undefined
  readonly #put: Statement<never>
  readonly #drop: Statement<never>
  readonly #hidden: Statement<readonly [number]>

  constructor(database: Database, unlisted?: UnlistedShards) {
    this.#database = database
    this.#unlisted = unlisted
    this.#put = database.prepare('INSERT OR REPLACE INTO expiring VALUES (?, ?, ?)')
    this.#drop = database.prepare('DELETE FROM expiring WHERE no = ?')
    this.#hidden = database.prepare(
      'SELECT 1 FROM expiring WHERE at <= ? AND hides = 1 LIMIT 1',
    )
  }

  /** Sets when a thread is due; never if that is undefined. */
  set(no: number, expiry: Expiry | undefined): void {
    if (expiry) this.#put.run(no, expiry.atMs, Number(expiry.hides))
    else this.#drop.run(no)
  }

  /** True if any thread must not be found at that time. */
  anyHidden(atMs: number): boolean {
    return this.#hidden.get(atMs) !== undefined
  }

  /** Threads that are due after the given place, the first one in front. */
  due({ atMs, no }: Pick<DueThread, 'atMs' | 'no'>, limit: number): DueThread[] {
    const all = this.#database.prepare<readonly [string, string, number, number]>(
      `SELECT tenant, thread_id, at, expiring.no FROM expiring CROSS JOIN thread USING (no)
        WHERE (at, expiring.no) > (?, ?) ${this.#unlisted?.condition('expiring.no') ?? ''}
        ORDER BY at, expiring.no LIMIT ?`,
    )
    return all.all(atMs, no, limit)
      .map(([tenant, threadId, at, number]) => ({ tenant, threadId, atMs: at, no: number }))
  }

  /**
   * Call once in each process. If the one before did not keep the table, all is made anew from the
   * rows.
   */
  begin(epoch: number, expiryOf: (body: Uint8Array) => Expiry | undefined): void {
    const last = this.#database.prepare<readonly [epoch: number]>('SELECT epoch FROM expiring_life')
    const [before] = last.get()!
    this.#database.prepare('UPDATE expiring_life SET epoch = ?').run(epoch)
    if (before !== epoch - 1) this.#makeAnew(expiryOf)
  }

  #makeAnew(expiryOf: (body: Uint8Array) => Expiry | undefined): void {
    this.#database.prepare('DELETE FROM expiring').run()
    const all = this.#database.prepare<readonly [no: number, body: Uint8Array]>(
      'SELECT no, body FROM thread WHERE hidden = 0',
    )
    for (const [no, body] of all.iterate()) {
      const expiry = expiryOf(body)
      if (expiry) this.set(no, expiry)
    }
  }
}

/** SQL condition for rows that may still be found at `:now`. */
export function unexpired(number: string): string {
  return `AND ${number} NOT IN (SELECT no FROM expiring WHERE at <= :now AND hides = 1)`
}
