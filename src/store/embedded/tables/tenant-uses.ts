/**
 * Use of each tenant, and the threads that sleep until a run is due. Both change in the transaction
 * that changes their rows, so they never need to be counted again. The one exception is a file that
 * an older program has written, which does not count.
 */

import { noUse } from '../../../limits/index.ts'
import type { TenantUse } from '../../../limits/index.ts'
import type { DueThread } from '../../../search/index.ts'
import type { Database, Statement } from '../file/database.ts'
import type { UnlistedShards } from '../search/unlisted-shards.ts'

/**
 * Tables of use. `due` has few rows, so most writes do not touch it. `use_life` has the epoch of
 * the last process that counted.
 */
export const useSchema = `
  CREATE TABLE thread_use (
    no INTEGER PRIMARY KEY,
    threads INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    runs INTEGER NOT NULL,
    delayed_runs INTEGER NOT NULL
  );
  CREATE TABLE assistant_use (
    tenant TEXT NOT NULL,
    assistant_id TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (tenant, assistant_id)
  ) WITHOUT ROWID;
  CREATE TABLE tenant_use (
    tenant TEXT PRIMARY KEY,
    threads INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    runs INTEGER NOT NULL,
    delayed_runs INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE due (no INTEGER PRIMARY KEY, at INTEGER NOT NULL);
  CREATE INDEX due_at ON due (at);
  CREATE TABLE use_life (epoch INTEGER NOT NULL);
  INSERT INTO use_life VALUES (0);
`

type UseColumns = readonly [threads: number, bytes: number, runs: number, delayedRuns: number]

/** Counts of a thread besides its row. */
export interface ThreadUse {
  readonly use: TenantUse
  /** Time at which the thread must be woken, in milliseconds; 0 if it does not sleep. */
  readonly dueAtMs: number
}

/** The thread with this number. `isCounted` is true if its tenant's use counts it. */
export interface CountedThread {
  readonly tenant: string
  readonly no: number
  readonly isCounted: boolean
}

/** A range of row numbers, without `end`. */
type NumberRange = readonly [first: number, end: number]

/** An assistant, and the number of some row of its shard if there are shards. */
interface AssistantPlace {
  readonly tenant: string
  readonly assistantId: string
  readonly no: number | null
}

const columns = 'threads, bytes, runs, delayed_runs'
const sums = 'sum(threads), sum(bytes), sum(runs), sum(delayed_runs)'

/** Counts what tenants use. Belongs to `ThreadTable`. */
export class TenantUses {
  readonly #database: Database
  readonly #unlisted: UnlistedShards | undefined
  readonly #ofTenant: Statement<UseColumns>
  readonly #cronsOf: Statement<readonly [crons: number]>
  readonly #addCrons: Statement<never>
  readonly #ofThread: Statement<readonly [...UseColumns, dueAtMs: number]>
  readonly #put: Statement<never>
  readonly #drop: Statement<never>
  readonly #add: Statement<never>
  readonly #ofAssistant: Statement<readonly [bytes: number]>
  readonly #putAssistant: Statement<never>
  readonly #dropAssistant: Statement<never>
  readonly #putDue: Statement<never>
  readonly #dropDue: Statement<never>

  constructor(database: Database, unlisted?: UnlistedShards) {
    this.#database = database
    this.#unlisted = unlisted
    this.#ofTenant = database.prepare(`SELECT ${columns} FROM tenant_use WHERE tenant = ?`)
    this.#cronsOf = database.prepare('SELECT crons FROM cron_use WHERE tenant = ?')
    this.#addCrons = database.prepare(`INSERT INTO cron_use VALUES (?, ?)
      ON CONFLICT (tenant) DO UPDATE SET crons = crons + excluded.crons`)
    this.#ofThread = database.prepare(`SELECT ${columns},
      coalesce((SELECT at FROM due WHERE due.no = thread_use.no), 0) FROM thread_use WHERE no = ?`)
    this.#put = database.prepare('INSERT OR REPLACE INTO thread_use VALUES (?, ?, ?, ?, ?)')
    this.#drop = database.prepare('DELETE FROM thread_use WHERE no = ?')
    this.#add = database.prepare(`INSERT INTO tenant_use VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (tenant) DO UPDATE SET threads = threads + excluded.threads,
        bytes = bytes + excluded.bytes, runs = runs + excluded.runs,
        delayed_runs = delayed_runs + excluded.delayed_runs`)
    this.#ofAssistant = database.prepare(
      'SELECT bytes FROM assistant_use WHERE tenant = ? AND assistant_id = ?',
    )
    this.#putAssistant = database.prepare('INSERT OR REPLACE INTO assistant_use VALUES (?, ?, ?)')
    this.#dropAssistant = database.prepare(
      'DELETE FROM assistant_use WHERE tenant = ? AND assistant_id = ?',
    )
    this.#putDue = database.prepare('INSERT OR REPLACE INTO due VALUES (?, ?)')
    this.#dropDue = database.prepare('DELETE FROM due WHERE no = ?')
  }

  of(tenant: string): TenantUse {
    const found = this.#ofTenant.get(tenant)
    return found ? { ...useIn(found), crons: this.#cronsOf.get(tenant)?.[0] ?? 0 } : noUse
  }

  /** Sets the use of a thread, whether it had another one before or none. */
  set(thread: CountedThread, { use, dueAtMs }: ThreadUse): void {
    const { no } = thread
    const before = this.#known(no)
    if (before === undefined || !isSame(before.use, use)) {
      this.#put.run(no, use.threads, use.bytes, use.runs, use.delayedRuns)
      this.#count(thread, before?.use ?? noUse, use)
    }
    if (dueAtMs === (before?.dueAtMs ?? 0)) return
    if (dueAtMs === 0) this.#dropDue.run(no)
    else this.#putDue.run(no, dueAtMs)
  }

  /** Takes out the use of a removed thread. */
  drop(thread: CountedThread): void {
    const before = this.#known(thread.no)
    if (before === undefined) return
    this.#drop.run(thread.no)
    if (before.dueAtMs > 0) this.#dropDue.run(thread.no)
    this.#count(thread, before.use, noUse)
  }

  /** Sets the bytes of an assistant; 0 when it is removed. */
  setAssistant({ tenant, assistantId, no }: AssistantPlace, bytes: number): void {
    const before = this.#ofAssistant.get(tenant, assistantId)?.[0] ?? 0
    if (bytes === before) return
    if (bytes > 0) this.#putAssistant.run(tenant, assistantId, bytes)
    else this.#dropAssistant.run(tenant, assistantId)
    const isCounted = no === null || this.#unlisted?.hides(no) !== true
    if (isCounted) this.#add.run(tenant, 0, bytes - before, 0, 0)
  }

  /** Adds crons and bytes of them to the use of a tenant, or takes them out. */
  addCrons({ tenant, no }: Pick<AssistantPlace, 'tenant' | 'no'>,
    { crons, bytes }: { readonly crons: number; readonly bytes: number }): void {
    if (no !== null && this.#unlisted?.hides(no) === true) return
    if (crons !== 0) this.#addCrons.run(tenant, crons)
    if (bytes !== 0) this.#add.run(tenant, 0, bytes, 0, 0)
  }

  /** Adds bytes of an item, whose number is of its shard; less than 0 takes them out. */
  addBytes({ tenant, no }: { readonly tenant: string; readonly no: number }, bytes: number): void {
    if (bytes === 0 || this.#unlisted?.hides(no) === true) return
    this.#add.run(tenant, 0, bytes, 0, 0)
  }

  /** Takes out all assistants with row numbers in a range. Call before they are removed. */
  dropAssistants([first, end]: NumberRange): void {
    this.#database.prepare(`DELETE FROM assistant_use WHERE (tenant, assistant_id) IN
      (SELECT tenant, assistant_id FROM assistant NOT INDEXED WHERE rowid >= ? AND rowid < ?)`)
      .run(first, end)
  }

  /** Counts the rows in a range of numbers from now on (1), or no longer (-1). */
  recount(change: 1 | -1, [first, end]: NumberRange): void {
    const all = this.#database.prepare<readonly [tenant: string, ...UseColumns]>(
      `SELECT tenant, ${sums} FROM thread_use CROSS JOIN thread USING (no)
        WHERE thread_use.no >= ? AND thread_use.no < ? GROUP BY tenant`,
    )
    for (const [tenant, ...counts] of all.all(first, end)) {
      const [threads, bytes, runs, delayedRuns] = counts
      this.#add.run(tenant, change * threads, change * bytes, change * runs, change * delayedRuns)
    }
    const assistants = this.#database.prepare<readonly [tenant: string, bytes: number]>(
      `SELECT tenant, sum(bytes) FROM assistant NOT INDEXED
        CROSS JOIN assistant_use USING (tenant, assistant_id)
        WHERE assistant.rowid >= ? AND assistant.rowid < ? GROUP BY tenant`,
    )
    const items = this.#database.prepare<readonly [tenant: string, bytes: number]>(
      `SELECT tenant, sum(bytes) FROM item NOT INDEXED
        WHERE rowid >= ? AND rowid < ? GROUP BY tenant`,
    )
    for (const [tenant, bytes] of [...assistants.all(first, end), ...items.all(first, end)]) {
      this.#add.run(tenant, 0, change * bytes, 0, 0)
    }
    this.#recountCrons(change, first, end)
  }

  #recountCrons(change: 1 | -1, first: number, end: number): void {
    const all = this.#database.prepare<readonly [tenant: string, crons: number, bytes: number]>(
      `SELECT tenant, count(*), sum(bytes) FROM cron NOT INDEXED
        WHERE rowid >= ? AND rowid < ? GROUP BY tenant`,
    )
    for (const [tenant, crons, bytes] of all.all(first, end)) {
      this.#addCrons.run(tenant, change * crons)
      this.#add.run(tenant, 0, change * bytes, 0, 0)
    }
  }

  /** Sleeping threads after the given place, the one that is due first in front. */
  due({ atMs, no }: Pick<DueThread, 'atMs' | 'no'>, limit: number): DueThread[] {
    const all = this.#database.prepare<readonly [string, string, number, number]>(
      `SELECT tenant, thread_id, at, due.no FROM due CROSS JOIN thread USING (no)
        WHERE (at, due.no) > (?, ?) ${this.#unlisted?.condition('due.no') ?? ''}
        ORDER BY at, due.no LIMIT ?`,
    )
    return all.all(atMs, no, limit).map(([tenant, threadId, dueAtMs, number]) => ({ tenant,
      threadId, atMs: dueAtMs, no: number })
    )
  }

  /** Call once in each process. False if the process before did not count: call `reset` then. */
  begin(epoch: number): boolean {
    const last = this.#database.prepare<readonly [epoch: number]>('SELECT epoch FROM use_life')
    const [before] = last.get()!
    this.#database.prepare('UPDATE use_life SET epoch = ?').run(epoch)
    return before === epoch - 1
  }

  /** Counts everything anew, as if no thread had an unfinished run. */
  reset(): void {
    for (const sql of [
      'DELETE FROM due',
      'DELETE FROM thread_use WHERE no NOT IN (SELECT no FROM thread)',
      'INSERT OR IGNORE INTO thread_use SELECT no, 0, 0, 0, 0 FROM thread',
      `UPDATE thread_use SET runs = 0, delayed_runs = 0,
        threads = (SELECT hidden = 0 FROM thread WHERE thread.no = thread_use.no)`,
      'DELETE FROM tenant_use',
      'DELETE FROM cron_use',
      `DELETE FROM assistant_use WHERE (tenant, assistant_id) NOT IN
        (SELECT tenant, assistant_id FROM assistant)`,
    ]) this.#database.prepare(sql).run()
    this.recount(1, [0, Number.MAX_SAFE_INTEGER])
  }

  #known(no: number): ThreadUse | undefined {
    const found = this.#ofThread.get(no)
    if (found === undefined) return undefined
    const [threads, bytes, runs, delayedRuns, dueAtMs] = found
    return { use: useIn([threads, bytes, runs, delayedRuns]), dueAtMs }
  }

  #count({ tenant, isCounted }: CountedThread, before: TenantUse, after: TenantUse): void {
    if (!isCounted) return
    this.#add.run(tenant, after.threads - before.threads, after.bytes - before.bytes,
      after.runs - before.runs, after.delayedRuns - before.delayedRuns)
  }
}

function useIn([threads, bytes, runs, delayedRuns]: UseColumns): TenantUse {
  return { threads, bytes, runs, delayedRuns, crons: 0 }
}

function isSame(a: TenantUse, b: TenantUse): boolean {
  return a.threads === b.threads && a.bytes === b.bytes && a.runs === b.runs &&
    a.delayedRuns === b.delayedRuns
}
