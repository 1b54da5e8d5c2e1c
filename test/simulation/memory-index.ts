/** The local index of a simulated member: rows of one kind that it owns, in memory, by shard. */

import { actorKeyText, shardOf } from '../../cluster/index.ts'
import type { CronRow, ItemRow, ThreadRow } from '../../proto/gen/storage/v1/row.ts'
import type { PurgeSubject } from '../../src/checkpoint/index.ts'
import { HeddleError } from '../../src/errors.ts'
import type { CronIndex, ThreadIndex } from '../../src/search/index.ts'
import type { OwnedRowTable } from '../../src/store/cassandra/index/owned-row-table.ts'
import { decoded, idOf } from '../../src/store/cassandra/index/owned-row.ts'
import type { OwnedRow, OwnedTable,
  OwnedUpdate } from '../../src/store/cassandra/index/owned-row.ts'
import { ShardChanges } from '../../src/store/cassandra/index/shard-changes.ts'

/** A row that speaks for a log. */
type LoggedRow = Exclude<OwnedRow, ItemRow>

interface ShardRows {
  readonly rows: Map<string, LoggedRow>
  readonly loaded: PromiseWithResolvers<void>
  /** Changes made while the rows are being read. */
  readonly changes: ShardChanges
  isLoaded: boolean
}

interface MemoryIndexOptions {
  readonly kind: OwnedTable
  readonly shards: number
  readonly tenant: string
}

export class MemoryIndex {
  readonly #options: MemoryIndexOptions
  readonly #owned = new Map<number, ShardRows>()

  constructor(options: MemoryIndexOptions) {
    this.#options = options
  }

  readonly threads: ThreadIndex = {
    get: async (_, threadId) => await this.#get(threadId) as ThreadRow | undefined,
    search: () => Promise.reject(new Error('nobody searches here')),
    count: () => Promise.reject(new Error('nobody counts here')),
  }

  readonly crons: Pick<CronIndex, 'get'> = {
    get: async (_, cronId) => await this.#get(cronId) as CronRow | undefined,
  }

  /** The rows of all shards that are loaded. */
  get rows(): LoggedRow[] {
    return [...this.#owned.values()].filter(({ isLoaded }) => isLoaded)
      .flatMap(({ rows }) => [...rows.values()])
  }

  /** Keeps the rows of the shard from now on; reads wait until all are loaded. */
  async take(shard: number, table: OwnedRowTable, tryAgain: () => Promise<void>): Promise<void> {
    const { kind } = this.#options
    const owned: ShardRows = { rows: new Map(), loaded: Promise.withResolvers<void>(),
      changes: new ShardChanges(), isLoaded: false }
    this.#owned.set(shard, owned)
    while (this.#owned.get(shard) === owned) {
      try {
        const read: { table: OwnedTable; body: Uint8Array }[] = []
        for await (const bodies of table.bodiesOf(shard)) {
          for (const body of bodies) read.push({ table: kind, body })
        }
        for (const { body } of owned.changes.merged(read)) {
          const row = decoded(kind, body) as LoggedRow
          owned.rows.set(idOf(row), row)
        }
        owned.isLoaded = true
        owned.loaded.resolve()
        return
      } catch {
        await tryAgain()
      }
    }
  }

  /** The row as a search finds it; undefined if its shard is not covered. */
  found(id: string): LoggedRow | 'none' | undefined {
    const owned = this.#owned.get(this.#shardOf(id))
    return owned?.isLoaded ? owned.rows.get(id) ?? 'none' : undefined
  }

  drop(shard: number): void {
    this.#owned.delete(shard)
  }

  async put(updates: readonly OwnedUpdate[]): Promise<void> {
    for (const update of updates) {
      if (update.table !== this.#options.kind) continue
      const owned = this.#owned.get(this.#shardOf(idOf(update.row)))
      if (owned?.isLoaded) put(owned, update.row as LoggedRow)
      else owned?.changes.put(update)
    }
  }

  /** A row of another life stays. */
  async remove(subject: PurgeSubject): Promise<void> {
    if (subject.table !== this.#options.kind) return
    const owned = this.#owned.get(this.#shardOf(subject.id))
    if (owned === undefined) return
    if (!owned.isLoaded) return owned.changes.remove(subject)
    if (owned.rows.get(subject.id)?.branch?.id === subject.branch.id) owned.rows.delete(subject.id)
  }

  async #get(id: string): Promise<LoggedRow | undefined> {
    const owned = this.#owned.get(this.#shardOf(id))
    if (owned === undefined) throw new HeddleError('not_owner')
    await owned.loaded.promise
    return owned.rows.get(id)
  }

  #shardOf(id: string): number {
    const { kind, tenant, shards } = this.#options
    return shardOf(actorKeyText({ kind, tenant, id }), shards)
  }
}

/** Keeps the newer row; of two lives the one that is put last is the later one. */
function put({ rows }: ShardRows, row: LoggedRow): void {
  const known = rows.get(idOf(row))
  const isSame = known?.branch?.id === row.branch?.id
  const isOlder = known && isSame && (known.epoch - row.epoch || known.seq - row.seq) > 0
  if (!isOlder) rows.set(idOf(row), row)
}
