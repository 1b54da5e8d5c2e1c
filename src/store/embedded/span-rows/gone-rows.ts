/**
 * Notes of traces and spans that were removed on request. A late writer finds out
 * from them whether its span was removed or is unknown.
 */

import { bytesOfUuid, uuidOfBytes } from '../../../platform/index.ts'
import type { Uuid } from '../../../platform/index.ts'
import type { Database } from '../file/database.ts'
import type { NumberedProject } from './numbers.ts'

type Bytes = Uint8Array

/** Notes of ids of a tenant at most, about: above that, the oldest are deleted. */
const tenantIdsMax = 1_000_000
/** Microseconds after which a note is written again. */
const refreshedUs = 86_400_000_000

/** True if operations on a trace in a project are rejected. */
export type GoneTest = (project: NumberedProject, trace: Uuid) => boolean

/** The notes of all tenants. */
export class GoneRows {
  readonly #database: Database
  readonly #idsMax: number
  /** Notes of tenants that had a new note in this process, or more: a repeated note counts, too. */
  readonly #counts = new Map<number, number>()

  constructor(database: Database, idsMax = tenantIdsMax) {
    this.#database = database
    this.#idsMax = idsMax
  }

  /** Notes that a trace is removed from a project, which may still have some of its spans. */
  noteTrace({ no, tenant }: NumberedProject, trace: Uuid, atUs: number): void {
    this.#database.prepare('INSERT OR REPLACE INTO gone_trace VALUES (?, ?, ?, 1)')
      .run(bytesOfUuid(trace), no, atUs)
    this.noteId(tenant, bytesOfUuid(trace), atUs)
  }

  /** Notes that a project has no span of a removed trace any more. */
  finishTrace({ no }: NumberedProject, trace: Uuid): void {
    this.#database.prepare('UPDATE gone_trace SET pending = 0 WHERE project = ? AND trace = ?')
      .run(no, bytesOfUuid(trace))
  }

  /** A removed trace that may still have spans. */
  firstPending(): { readonly project: number; readonly trace: Uuid } | undefined {
    const row = this.#database.prepare<[number, Bytes]>(
      'SELECT project, trace FROM gone_trace WHERE pending = 1 LIMIT 1',
    ).get()
    return row && { project: row[0], trace: uuidOfBytes(row[1]) }
  }

  /** Notes the id of a removed span or trace, at most once a day. */
  noteId(tenant: number, id: Bytes, atUs: number): void {
    // A note that is replaced gets a new number, so that numbers are in the order of times.
    const { changes } = this.#database.prepare(`
      INSERT OR REPLACE INTO gone_id (tenant, id, at_us) SELECT ?1, ?2, ?3 WHERE NOT EXISTS (
        SELECT 1 FROM gone_id WHERE tenant = ?1 AND id = ?2 AND at_us > ?3 - ${refreshedUs})
    `).run(tenant, id, atUs)
    if (changes > 0) this.#counts.set(tenant, (this.#counts.get(tenant) ?? this.#count(tenant)) + 1)
  }

  #count(tenant: number): number {
    return this.#database.prepare<[number]>('SELECT count(*) FROM gone_id WHERE tenant = ?')
      .get(tenant)![0]
  }

  /** True if a span or a trace of this id was removed. The id may be in use again. */
  hasId(tenant: number, id: Uuid): boolean {
    return this.#database.prepare('SELECT 1 FROM gone_id WHERE tenant = ? AND id = ?')
      .get(tenant, bytesOfUuid(id)) !== undefined
  }

  /** A test for traces, which remembers its results. */
  test(): GoneTest {
    const isAny = this.#database.prepare('SELECT 1 FROM gone_trace LIMIT 1').get() !== undefined
    if (!isAny) return () => false
    const known = new Map<string, boolean>()
    return ({ no }, trace) => {
      const key = `${no} ${trace}`
      const found = known.get(key) ?? this.#isGone(no, bytesOfUuid(trace))
      known.set(key, found)
      return found
    }
  }

  #isGone(project: number, trace: Bytes): boolean {
    return this.#database.prepare('SELECT 1 FROM gone_trace WHERE project = ? AND trace = ?')
      .get(project, trace) !== undefined
  }

  /** Deletes some notes that are older than a time, or too many of a tenant. Returns how many. */
  expire(beforeUs: number, limit: number): number {
    const traces = this.#database.prepare(`
      DELETE FROM gone_trace WHERE (trace, project) IN (
        SELECT trace, project FROM gone_trace WHERE pending = 0 AND at_us < ? LIMIT ?)
    `).run(beforeUs, limit)
    const ids = this.#database.prepare(`
      DELETE FROM gone_id WHERE at_us < ? AND no IN (SELECT no FROM gone_id ORDER BY no LIMIT ?)
    `).run(beforeUs, limit)
    return Number(traces.changes) + Number(ids.changes) + this.#evict(limit)
  }

  /** Deletes some of the oldest notes of a tenant that has too many. Returns how many. */
  #evict(limit: number): number {
    const [tenant] = [...this.#counts].find(([, count]) => count > this.#idsMax) ?? []
    if (tenant === undefined) return 0
    const surplus = this.#count(tenant) - this.#idsMax
    // In the order of numbers, because no index has the notes of a tenant by age.
    const { changes } = this.#database.prepare(`
      DELETE FROM gone_id WHERE no IN (
        SELECT no FROM gone_id WHERE +tenant = ? ORDER BY no LIMIT ?)
    `).run(tenant, Math.max(0, Math.min(surplus, limit)))
    this.#counts.set(tenant, this.#idsMax + Math.max(0, surplus) - Number(changes))
    return Number(changes)
  }
}
