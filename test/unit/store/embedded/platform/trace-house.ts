/** A data directory with `traces.db` and a clock of its own, for tests of the embedded store. */

import { copyFileSync, mkdtempSync, renameSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

import type { SpanPlace, SpanStore } from '../../../../../src/platform/index.ts'
import { traceStore } from '../../../../../src/store/embedded/platform/span-store.ts'
import { noonUs, scanned, uuidOf, wholePlan } from '../../../../contract/span-histories.ts'
import { virtualEnv } from '../../../../support/env.ts'
import type { VirtualEnv } from '../../../../support/env.ts'

export const dayMs = 86_400_000

/** The stores that a test opens over one directory. */
export class TraceHouse {
  readonly directory = mkdtempSync(join(tmpdir(), 'heddle-traces-'))
  readonly env: VirtualEnv = virtualEnv(noonUs / 1000 + 3600e3)
  readonly tenant = 'acme'
  readonly #stores: SpanStore[] = []

  get nowUs(): number {
    return this.env.nowMs() * 1_000
  }

  /** Opens a store that writes, as a process that starts with this clock does. */
  open(env: VirtualEnv = this.env, more: { readonly tenantBytes?: number } = {}): SpanStore {
    const store = traceStore({ directory: this.directory, diskBytes: 2 ** 40, access: 'write', env,
      ...more })
    this.#stores.push(store)
    return store
  }

  /** A root in a project, by default the same for all. */
  place(index: number, project = 0): SpanPlace {
    const startUs = noonUs + index * 1e6
    return { tenant: this.tenant, project: uuidOf(1, project), id: uuidOf(4, index),
      trace: uuidOf(4, index), startUs, traceStartUs: startUs }
  }

  /** Fires the timers of so many seconds, and completes the work that they start. */
  async pass(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      this.env.advance(1_000)
      for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** Ids of the spans that a store has in its first two projects. */
  async idsIn(store: SpanStore): Promise<readonly string[]> {
    return (await scanned(store, wholePlan(this.tenant))).map(({ id }) => id)
  }

  /** Runs a statement on the file, as another program does. */
  execute(sql: string): readonly Record<string, unknown>[] {
    const database = new DatabaseSync(join(this.directory, 'traces.db'))
    try {
      return database.prepare(sql).all()
    } finally {
      database.close()
    }
  }

  /** Puts a copy in place of the file, as a restored backup: stores open it again. */
  replaceFile(): void {
    this.execute('PRAGMA wal_checkpoint(TRUNCATE)')
    const [file, away] = ['traces.db', 'away.db'].map((name) => join(this.directory, name))
    for (const suffix of ['', '-wal', '-shm']) renameSync(`${file}${suffix}`, `${away}${suffix}`)
    copyFileSync(away!, file!)
  }

  async close(): Promise<void> {
    for (const store of this.#stores) await store.close()
    await rm(this.directory, { recursive: true, force: true })
  }
}
