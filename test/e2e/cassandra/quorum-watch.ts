/** Whether Cassandra itself answers: constant quorum reads through the bare driver. */

import { setTimeout as pause } from 'node:timers/promises'
import { Client, types } from 'cassandra-driver'
import type { Env } from '../../../cluster/index.ts'
import { clientOptions } from '../../../src/store/cassandra/driver/client-options.ts'

export interface WatchedCluster {
  readonly env: Env
  readonly contactPoints: readonly string[]
  readonly localDataCenter: string
  readonly keyspace: string
}

/** A slower answer is too late for a client that must be answered within three seconds. */
const slowMs = 1_000
const pauseMs = 50

export class QuorumWatch {
  readonly #client: Client
  readonly #cql: string
  readonly #gaps: { readonly fromMs: number; readonly throughMs: number }[] = []
  readonly #looking: Promise<void>
  #stopped = false

  constructor(cluster: WatchedCluster) {
    this.#client = new Client(clientOptions(cluster))
    this.#cql = `SELECT value FROM ${cluster.keyspace}_control.setting WHERE name = 'shards'`
    this.#looking = this.#look()
  }

  /** Whether it was out of reach or slow at any time in this span of `performance.now()`. */
  missed(fromMs: number, throughMs: number): boolean {
    return this.#gaps.some((gap) => gap.fromMs <= throughMs && gap.throughMs >= fromMs)
  }

  async close(): Promise<void> {
    this.#stopped = true
    await this.#looking
    await this.#client.shutdown()
  }

  async #look(): Promise<void> {
    while (!this.#stopped) {
      const fromMs = performance.now()
      const answered = await this.#client.execute(this.#cql, [], {
        prepare: true,
        consistency: types.consistencies.localQuorum,
        isIdempotent: true,
      }).then(() => true, () => false)
      const throughMs = performance.now()
      if (!answered || throughMs - fromMs > slowMs) this.#gaps.push({ fromMs, throughMs })
      await pause(pauseMs)
    }
  }
}
