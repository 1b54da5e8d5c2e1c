/** Stores of a simulated server, which outlive its processes. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import type { Env } from '../../../cluster/index.ts'
import type { SpanStore } from '../../../src/platform/index.ts'
import { CassandraSpans } from '../../../src/store/cassandra/platform/cassandra-spans.ts'
import { traceStore } from '../../../src/store/embedded/platform/span-store.ts'
import { MemoryCassandra } from './memory-cassandra.ts'
import { connectionWithout } from './platform-rule.ts'
import type { PlatformRule } from './platform-rule.ts'

/** A table whose rows are counted. */
export type CountedTable = 'span' | 'file' | 'feedback'

/** How a process opens a store. */
export interface HouseStoreOptions {
  /** The time of day, whatever the clock of the process shows. */
  readonly rightMs: () => number
  readonly without: PlatformRule | undefined
}

/** A store that one process after the other opens. */
export interface HouseStore {
  open(env: Env, options: HouseStoreOptions): SpanStore
  countRows(table: CountedTable): number
  remove(): void
}

/** A data directory. `tenantBytes`: what a tenant may have in it. */
export function dataDirectory(tenantBytes = Infinity): HouseStore {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-platform-'))
  return {
    open: (env) =>
      traceStore({ directory, diskBytes: 2 ** 40, access: 'write', env, indexesWords: false,
        tenantBytes }),
    countRows: (table) => {
      const database = new DatabaseSync(join(directory, 'traces.db'), { readOnly: true })
      try {
        return Number(database.prepare(`SELECT count(*) AS count FROM ${table}`).get()!['count'])
      } finally {
        database.close()
      }
    },
    remove: () => rmSync(directory, { recursive: true }),
  }
}

/** A keyspace in memory. */
export function memoryKeyspace(): HouseStore {
  let nowMs = () => 0
  const cassandra = new MemoryCassandra(() => nowMs())
  const columns = { span: ['span_head', 'ops'], file: ['span_file', 'data'],
    feedback: ['feedback', 'body'] } as const
  return {
    open: (env, { rightMs, without }) => {
      nowMs = rightMs
      return new CassandraSpans(connectionWithout(without, cassandra.connect()), env, 'write')
    },
    countRows: (table) => {
      const [name, column] = columns[table]
      return cassandra.count(name, column)
    },
    remove: () => {},
  }
}
