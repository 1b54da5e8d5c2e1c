/**
 * The rows of all threads, assistants, crons and items that this member owns, in a local file from
 * which searches are answered. The file is scratch: it is rebuilt at each start, shard by shard,
 * from Cassandra.
 *
 * 1. The rows of a shard are found only once all of them are in the file, and vanish all at once.
 *    Nothing is ever found of a shard that is not covered. Rows are deleted from the file later
 *    (when the shard comes back, or after a while), because its next owner needs the machine first.
 * 2. A row that is put before the rows of its shard are in the file is kept beside them and wins
 *    over what was read. The caller does not wait.
 * 3. A row that is put for a shard that is not taken is dropped. The member that takes the shard
 *    reads it.
 *
 * Rule: [rows_after].
 */

import { limitConcurrency } from '../../../../cluster/index.ts'
import type { Env } from '../../../../cluster/index.ts'
import type { PurgeSubject } from '../../../checkpoint/index.ts'
import { assert } from '../../../errors.ts'
import type { AssistantIndex, CronIndex, DueCrons, DueThreads, IndexAnswer, IndexQuestion,
  ItemIndex, ItemName, OwnIndex, ThreadIndex, UnfinishedThread } from '../../../search/index.ts'
import { openScratchStore } from '../../embedded/index.ts'
import type { EncodedRow, ScratchStore } from '../../embedded/index.ts'
import { Batcher } from './batcher.ts'
import { ByteSemaphore } from './byte-semaphore.ts'
import type { OwnedRowTable } from './owned-row-table.ts'
import { decoded, idOf, ownedTables } from './owned-row.ts'
import type { OwnedRow, OwnedTable, OwnedUpdate } from './owned-row.ts'
import { ShardChanges } from './shard-changes.ts'
import { watchedScratch } from './watched-scratch.ts'

type OwnedTables = Readonly<Record<OwnedTable, OwnedRowTable>>

/** A shard whose rows are being loaded. */
interface Loading {
  /** Changes since the read of its rows began. */
  readonly changes: ShardChanges
  /**
   * True if all rows are in the file or being written. What is put now can be written behind them.
   */
  followed: boolean
}

/**
 * Shards that are read at the same time: few, since the runs that move with them need the store
 * too.
 */
const shardsReading = 3
/**
 * Shards that are written to the file together, at half the cost: their rows lie on the same pages.
 */
const shardsTogether = 32
/** The longest that a shard waits for others. */
const patienceMs = 300
/** Bytes that are read and not in the file yet: enough to read while other shards are written. */
const bytesWaiting = 32 * 1024 * 1024
/**
 * Shards that are removed at the same time: few, so that other writes to the file do not wait long.
 */
const shardsUnloading = 8
/** Time that the rows of a shard that was given away stay in the file. */
const leftMs = 30_000

/** The index of one member, for searches. Belongs to its Cassandra store. */
export class LocalIndex implements OwnIndex {
  readonly threads: Pick<ThreadIndex, 'get'>
  readonly assistants: Pick<AssistantIndex, 'get'>
  readonly crons: Pick<CronIndex, 'get'>
  readonly items: Pick<ItemIndex, 'get' | 'ended'>
  readonly #store: ScratchStore
  readonly #tables: OwnedTables
  readonly #env: Env
  /** By shard. A shard that is not taken has no entry. */
  readonly #states = new Map<number, Loading | 'covered'>()
  readonly #toRead = limitConcurrency(shardsReading)
  readonly #semaphore = new ByteSemaphore(bytesWaiting)
  readonly #together: Batcher
  /** Shards that were given away and whose rows are still in the file. */
  readonly #left = new Set<number>()
  /** Set while any are left. */
  #stopWaiting: (() => void) | undefined
  /** By shard: removals in progress. */
  readonly #unloading = new Map<number, Promise<void>>()
  readonly #toUnload = limitConcurrency(shardsUnloading)

  /**
   * Opens an empty index. `onLost` is called with a message when it can no longer be kept up to
   * date.
   */
  static async open(
    { tables, ...options }: { readonly directory: string; readonly env: Env;
      readonly shards: number; readonly tables: OwnedTables; onLost(reason: string): void },
  ): Promise<LocalIndex> {
    const store = watchedScratch(await openScratchStore(options), options.onLost)
    return new LocalIndex({ store, tables, env: options.env })
  }

  /** Makes an index over an empty store. */
  constructor(
    { store, tables, env }: { readonly store: ScratchStore; readonly tables: OwnedTables;
      readonly env: Env },
  ) {
    this.#store = store
    this.#tables = tables
    this.#env = env
    this.#together = new Batcher({ env, size: shardsTogether, patienceMs })
    const get = async <Row>(table: OwnedTable, tenant: string, id: string) =>
      await this.find(table, tenant, id) as Row | undefined
    this.threads = { get: (tenant, id) => get('thread', tenant, id) }
    this.assistants = { get: (tenant, id) => get('assistant', tenant, id) }
    this.crons = { get: (tenant, id) => get('cron', tenant, id) }
    this.items = { get: (tenant, id) => get('item', tenant, id), ended: store.items.ended }
  }

  /**
   * Covers a shard that this member has claimed. Returns the threads that its last owner left busy,
   * hidden or with webhooks to send; none if the shard was unloaded meanwhile. After a failure the
   * shard is not taken. `opened` gets the threads whose rows lag behind their logs, and resolves
   * when they do not any more: nothing of the shard is found before, and nothing if it throws.
   */
  async load(shard: number,
    opened: (threads: readonly UnfinishedThread[]) => Promise<void> = () =>
      Promise.resolve()): Promise<readonly UnfinishedThread[]> {
    assert(!this.#states.has(shard), 'a shard is loaded once, until it is unloaded')
    const loading: Loading = { changes: new ShardChanges(), followed: false }
    this.#states.set(shard, loading)
    try {
      return await this.#cover(shard, loading, opened)
    } catch (error) {
      if (this.#states.get(shard) === loading) this.unload(shard)
      throw error
    }
  }

  /** Uncovers a shard at once, before it is given back. */
  unload(shard: number): void {
    const state = this.#states.get(shard)
    const isFound = state === 'covered' || state?.followed === true
    // If that fails, this member is lost or the next operation on the file fails too.
    if (isFound) this.#store.uncover(shard).catch(() => {})
    this.#states.delete(shard)
    this.#left.add(shard)
    this.#stopWaiting ??= this.#env.after(leftMs, () => {
      this.#stopWaiting = undefined
      for (const each of this.#left) this.#removeRows(each)
    })
  }

  /** Threads of covered shards that sleep, the one that is due first in front. */
  due: DueThreads = (after, limit) => this.#store.due(after, limit)

  /** Crons of covered shards, the one that is due first in front. */
  dueCrons: DueCrons = (after, limit, nowMs) => this.#store.dueCrons(after, limit, nowMs)

  /** Returns the result for the covered shards. */
  async answer(question: IndexQuestion): Promise<IndexAnswer> {
    return await this.#store.answer(question)
  }

  /** Puts rows that are in Cassandra. */
  async put(updates: readonly OwnedUpdate[]): Promise<void> {
    const stored = updates.filter((update) => {
      const { table, row } = update
      const state = this.#stateOf(table, row.tenant, idOf(row))
      if (state === undefined || state === 'covered') return state === 'covered'
      state.changes.put(update)
      return state.followed
    })
    if (stored.length > 0) await this.#store.log.append([], stored)
  }

  /** The row with this id. It is read from Cassandra if its shard is not covered. */
  async find(table: OwnedTable, tenant: string, id: string): Promise<OwnedRow | undefined> {
    for (let row: OwnedRow | undefined, read = false;; read = true) {
      const state = this.#stateOf(table, tenant, id)
      if (state === 'covered') return await this.#stored(table, tenant, id)
      const put = state?.changes.rowOf(table, tenant, id)
      if (put !== undefined) return put
      if (read) return row && state?.changes.hasRemoved(table, row) ? undefined : row
      const body = await this.#tables[table].bodyOf(tenant, id)
      row = body && decoded(table, body)
    }
  }

  /** Removes a row. Call after it was removed in Cassandra. A row of another branch stays. */
  async remove(subject: PurgeSubject): Promise<void> {
    const { table, tenant, id } = subject
    const state = this.#stateOf(table, tenant, id)
    if (state === undefined) return
    if (state !== 'covered') {
      state.changes.remove(subject)
      if (!state.followed) return
    }
    await this.#store.log.purge(subject)
  }

  /** True if the rows of the shard of this item are here, so that it can be removed. */
  coversItem({ tenant, id }: ItemName): boolean {
    return this.#stateOf('item', tenant, id) === 'covered'
  }

  /** Removes an item that was removed in Cassandra. One that is not covered stays for now. */
  async removeItem(name: ItemName & { readonly epoch: number }): Promise<void> {
    if (!this.coversItem(name)) return
    await this.#store.log.append([], [{ table: 'item_removed', ...name }])
  }

  async close(): Promise<void> {
    this.#stopWaiting?.()
    // From now on no rows are removed, as the file is deleted as a whole.
    this.#stopWaiting = () => {}
    await this.#store.close()
  }

  /** Does the work of `load`. */
  async #cover(shard: number, loading: Loading,
    opened: (threads: readonly UnfinishedThread[]) => Promise<void>
  ): Promise<readonly UnfinishedThread[]> {
    const isMine = () => this.#states.get(shard) === loading
    const unsettled: UnfinishedThread[] = []
    const read = await this.#together.after(() =>
      this.#toRead(async () => {
        await this.#semaphore.open()
        const rows = isMine() ? await this.#read(shard, unsettled) : []
        this.#semaphore.take(bytesOf(rows))
        return rows
      })
    )
    try {
      if (this.#left.has(shard)) this.#removeRows(shard)
      await this.#unloading.get(shard)
      if (!isMine()) return []
      await this.#store.load(shard, loading.changes.merged(read))
      if (!isMine()) return []
    } finally {
      this.#semaphore.leave(bytesOf(read))
    }
    // Done in one turn: nothing is found before the late changes, and what is put now comes after
    // them.
    loading.followed = true
    const late = this.#bringLate(loading.changes)
    if (unsettled.length > 0) await Promise.all([late, opened(unsettled)])
    if (!isMine()) return []
    const [unfinished] = await Promise.all([
      late.then(() => this.#store.unfinished(shard)),
      this.#store.cover(shard),
    ])
    if (!isMine()) return []
    this.#states.set(shard, 'covered')
    return unfinished
  }

  #removeRows(shard: number): void {
    this.#left.delete(shard)
    const gone = this.#toUnload(() => this.#store.unload(shard))
    this.#unloading.set(shard, gone)
    gone.then(() => {
      if (this.#unloading.get(shard) === gone) this.#unloading.delete(shard)
    }, () => {
      // The next load of the shard gets the error.
    })
  }

  async #bringLate(changes: ShardChanges): Promise<void> {
    const { log } = this.#store
    const { removals, puts } = changes.late()
    await Promise.all([
      ...removals.map((subject) => log.purge(subject)),
      ...puts.length > 0 ? [log.append([], puts)] : [],
    ])
  }

  #stateOf(table: OwnedTable, tenant: string, id: string): Loading | 'covered' | undefined {
    return this.#states.get(this.#tables[table].shardOf(tenant, id))
  }

  #stored(table: OwnedTable, tenant: string, id: string): Promise<OwnedRow | undefined> {
    const { threads, assistants, crons, items } = this.#store
    return { thread: threads, assistant: assistants, cron: crons, item: items }[table].get(tenant,
      id)
  }

  /** Reads all rows of a shard and holds them. A shard is a small part of all rows. */
  async #read(shard: number, unsettled: UnfinishedThread[]): Promise<EncodedRow[]> {
    const rows: EncodedRow[] = []
    const marked = (thread: UnfinishedThread) => void unsettled.push(thread)
    for (const table of ownedTables) {
      for await (const bodies of this.#tables[table].bodiesOf(shard, marked)) {
        for (const body of bodies) rows.push({ table, body })
      }
    }
    return rows
  }
}

function bytesOf(rows: readonly EncodedRow[]): number {
  return rows.reduce((sum, { body }) => sum + body.byteLength, 0)
}
