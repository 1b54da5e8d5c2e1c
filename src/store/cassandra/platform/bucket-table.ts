/** The hours in which projects have spans, and what of the projects is removed. */

import { bytesOfUuid, uuidOfBytes } from '../../../platform/index.ts'
import type { Hour, SpanPlace, Uuid } from '../../../platform/index.ts'
import { pause } from '../../../../cluster/index.ts'
import type { Env } from '../../../../cluster/index.ts'
import { clocksApartMs } from '../../../limits/index.ts'
import type { Connection } from '../driver/connection.ts'
import { forEachLimit } from '../driver/for-each-limit.ts'
import { goneS, hourOf } from './rows/partition-key.ts'
import type { StatementBatches } from './statement-batches.ts'

/** Hours of projects that this process knows to be written. */
const knownMax = 10_000
/** Time after which an hour is written again, so that it lives as long as its spans. */
const knownMs = 60 * 60 * 1_000
/** Seconds that an hour is known longer than the spans of its writer. */
export const hourLongerS = 2 * 60 * 60
/** Rows of the hours of a project that are read at a time. */
const hoursPage = 5_000
/** Traces that one statement asks for, and that are marked at a time. */
const [tracesAtOnce, marksAtOnce] = [200, 16]

/**
 * Milliseconds for which a writer uses the removals that it has read. A removal waits as long
 * before it reads the rows that it deletes, so that it finds the rows of writers that missed it.
 */
export const removalsLeaseMs = 200

/** Removed spans of a project. */
export interface Removals {
  /** Spans that begin before. */
  readonly beforeUs: number
  /** True if there are traces that were removed. */
  readonly someTraces: boolean
}

type BucketEnv = Pick<Env, 'nowMs' | 'monotonicMs' | 'after'>

/** Keeps the hours of projects and their removals. */
export class BucketTable {
  readonly #connection: Connection
  readonly #env: BucketEnv
  readonly #hours: string
  readonly #gone: string
  /** Time of the last write of an hour, by its key and its life; the oldest write first. */
  readonly #known = new Map<string, number>()

  constructor(connection: Connection, env: BucketEnv) {
    this.#connection = connection
    this.#env = env
    this.#hours = `${connection.keyspace}.span_bucket`
    this.#gone = `${connection.keyspace}.span_gone`
  }

  /** Adds the hours of spans to what a request writes. Call what it returns when that is done. */
  add(batches: StatementBatches, places: readonly SpanPlace[],
    timeToLiveS: (project: Uuid) => number): () => void {
    const nowMs = this.#env.monotonicMs()
    const hours = new Map(places.map(({ tenant, project, startUs }) => {
      const hour = hourOf(startUs)
      const liveS = timeToLiveS(project)
      return [JSON.stringify([tenant, project, hour, liveS]), { tenant, project, hour, liveS }]
    }))
    for (const [key, { tenant, project, hour, liveS }] of hours) {
      if (nowMs - (this.#known.get(key) ?? -Infinity) < knownMs) {
        hours.delete(key)
        continue
      }
      batches.add(`hour ${project}`, {
        cql: `UPDATE ${this.#hours} USING TTL ? SET present = true ` +
          'WHERE tenant = ? AND project = ? AND hour = ?',
        values: [liveS === 0 ? 0 : liveS + hourLongerS, tenant, project, hour],
      }, 100)
    }
    return () => {
      for (const key of hours.keys()) this.#remember(key, nowMs)
    }
  }

  /** The hours in which a project has spans, from … to before …, newest first. */
  async hours(tenant: string, project: Uuid, from: Hour, to: Hour): Promise<readonly Hour[]> {
    const hours: Hour[] = []
    const statement = {
      cql: `SELECT hour FROM ${this.#hours} WHERE tenant = ? AND project = ? ` +
        'AND hour >= ? AND hour < ?',
      values: [tenant, project, from, to],
    }
    for await (const rows of this.#connection.pages(statement, hoursPage)) {
      for (const row of rows) if (row['hour'] !== null) hours.push(row['hour'])
    }
    return hours
  }

  /** Reads the removals of a project. */
  async removals(tenant: string, project: Uuid): Promise<Removals> {
    const [row] = await this.#connection.read({
      cql: `SELECT DISTINCT removed_before, some_removed FROM ${this.#hours} ` +
        'WHERE tenant = ? AND project = ?',
      values: [tenant, project],
    })
    const before = row?.['removed_before']
    return { beforeUs: before == null ? -Infinity : Number(before),
      someTraces: row?.['some_removed'] === true }
  }

  /** True if all spans of a project are removed. */
  async isRemoved(tenant: string, project: Uuid): Promise<boolean> {
    return (await this.removals(tenant, project)).beforeUs >= Number.MAX_SAFE_INTEGER
  }

  /** Those of the given traces that were removed from a project. */
  async removedOf(tenant: string, project: Uuid,
    traces: Iterable<Uuid>): Promise<ReadonlySet<Uuid>> {
    const all = [...new Set(traces)]
    const parts = Array.from({ length: Math.ceil(all.length / tracesAtOnce) },
      (_, index) => all.slice(index * tracesAtOnce, (index + 1) * tracesAtOnce))
    const found = await Promise.all(parts.map((part) =>
      this.#connection.read({
        cql:
          `SELECT trace_id FROM ${this.#gone} WHERE tenant = ? AND project = ? AND trace_id IN ?`,
        values: [tenant, project, part.map(bytesOfUuid)],
      })
    ))
    return new Set(
      found.flat().flatMap(({ trace_id: trace }) => trace === null ? [] : uuidOfBytes(trace)),
    )
  }

  /** Marks traces as removed. Resolves when no writer misses that any more. */
  async markTraces(tenant: string, project: Uuid, traces: readonly Uuid[]): Promise<void> {
    const [row] = await this.#connection.read({
      cql: `SELECT DISTINCT WRITETIME(some_removed) AS written FROM ${this.#hours} ` +
        'WHERE tenant = ? AND project = ?',
      values: [tenant, project],
    })
    const written = row?.written ?? null
    if (written === null) {
      await this.#connection.write({
        cql: `UPDATE ${this.#hours} SET some_removed = true WHERE tenant = ? AND project = ?`,
        values: [tenant, project],
      })
    }
    await this.noteTraces(tenant, project, traces)
    const knownMs = written === null ? -Infinity : this.#env.nowMs() - Number(written) / 1_000
    if (knownMs <= removalsLeaseMs + clocksApartMs) await pause(this.#env, removalsLeaseMs)
  }

  /** Writes notes of removed traces. Writers look for them in projects that are marked. */
  async noteTraces(tenant: string, project: Uuid, traces: readonly Uuid[]): Promise<void> {
    await forEachLimit(marksAtOnce, traces, async (trace) => {
      await this.#connection.write({
        cql: `UPDATE ${this.#gone} USING TTL ${goneS} SET removed = true ` +
          'WHERE tenant = ? AND project = ? AND trace_id = ?',
        values: [tenant, project, bytesOfUuid(trace)],
      })
    })
  }

  /**
   * Marks spans that started before a time as removed. The later of two such times wins. Resolves
   * when no writer misses that any more.
   */
  async markBefore(tenant: string, project: Uuid, beforeUs: number): Promise<void> {
    await this.#connection.write({
      cql: `UPDATE ${this.#hours} USING TIMESTAMP ? SET removed_before = ? ` +
        'WHERE tenant = ? AND project = ?',
      values: [BigInt(beforeUs), BigInt(beforeUs), tenant, project],
    })
    await pause(this.#env, removalsLeaseMs)
  }

  /** Forgets hours before one that have no spans any more. */
  async removeHours(tenant: string, project: Uuid, to: Hour): Promise<void> {
    await this.#connection.write({
      cql: `DELETE FROM ${this.#hours} WHERE tenant = ? AND project = ? AND hour < ?`,
      values: [tenant, project, to],
    })
    this.#known.clear()
  }

  #remember(key: string, nowMs: number): void {
    this.#known.delete(key)
    this.#known.set(key, nowMs)
    if (this.#known.size > knownMax) this.#known.delete(this.#known.keys().next().value!)
  }
}
