/** The rows and actors of the shards of a simulated member: its local index, and its handovers. */

import type { ActivationTable, ShardHost } from '../../cluster/index.ts'
import type { ThreadRow } from '../../proto/gen/storage/v1/row.ts'
import { shardHandover } from '../../src/server/backends/shard-handover.ts'
import { LocalIndex } from '../../src/store/cassandra/index/local-index.ts'
import type { OwnedRowTable } from '../../src/store/cassandra/index/owned-row-table.ts'
import type { OwnedTable } from '../../src/store/cassandra/index/owned-row.ts'
import type { CassandraLog } from '../../src/store/cassandra/log-port.ts'
import { openInlineScratch } from '../support/inline-scratch.ts'
import { tenant } from './list-actor.ts'
import type { Process } from './process.ts'
import type { Rule } from './rule.ts'

export type RowTables = Readonly<Record<OwnedTable, OwnedRowTable>>

export interface MemberShardsOptions {
  readonly process: Process
  readonly shards: number
  readonly tables: RowTables
  readonly without: Rule | undefined
}

/** Parts that exist once the session of the member is open. */
export interface HandoverParts {
  readonly activations: ActivationTable
  readonly log: Pick<CassandraLog, 'forget'>
  owns(shard: number): boolean
  /** Called when the rows of a shard were loaded. */
  loaded(): void
}

/** Time that an actor may take to passivate when its shard moves: as long as it needs. */
const releaseMs = 1e9

export class MemberShards {
  readonly index: LocalIndex
  readonly #options: MemberShardsOptions

  constructor(options: MemberShardsOptions) {
    this.#options = options
    const { process: { env }, shards, tables } = options
    this.index = new LocalIndex({ store: openInlineScratch(env, shards), tables, env })
  }

  /** Loads the rows of all shards before any is claimed, in worlds without `rows_after`. */
  loadEarly(): void {
    if (this.#options.without !== 'rows_after') return
    const { env } = this.#options.process
    for (let shard = 0; shard < this.#options.shards; shard++) {
      const load = () => void this.index.load(shard).catch(() => env.after(300, load))
      load()
    }
  }

  /**
   * The row of a thread as a search finds it; undefined if the rows of its shard are not here, null
   * if there is none.
   */
  async found(threadId: string): Promise<ThreadRow | null | undefined> {
    const { rows, covered } = await this.index.answer({ kind: 'thread_search',
      query: { tenant, ids: [threadId], sortBy: 'thread_id', sortOrder: 'asc', limit: 1,
        offset: 0 } })
    const shard = this.#options.tables.thread.shardOf(tenant, threadId)
    return covered.includes(shard) ? rows[0] as ThreadRow | undefined ?? null : undefined
  }

  /** The host of the shards that the member takes and gives back. */
  host({ activations, log, owns, loaded }: HandoverParts): ShardHost {
    const { process: { name, world, env }, without, shards } = this.#options
    const { index } = this
    const isEarly = without === 'rows_after'
    const store = {
      index,
      release: (shard: number) => {
        log.forget()
        if (!isEarly) index.unload(shard)
      },
    }
    const host = shardHandover({ env, shards, store, owns,
      actors: { activations, releaseMs, services: [], wakeAt: loaded, wake: async () => {},
        opened: async () => {}, recentOf: () => ({ admits: [] }) as never } })
    return {
      busy: () => host.busy(),
      hinted: () => {},
      taken: (shard, inProgress) => {
        world.note(() => `${name} owns shard ${shard}`)
        if (!isEarly) host.taken(shard, inProgress)
      },
      release: async (shard) => {
        world.note(() => `${name} gives shard ${shard} back`)
        if (without !== 'drain') return host.release(shard)
        env.after(world.chance.between(0, 500), () => void host.release(shard))
        return []
      },
    }
  }
}
