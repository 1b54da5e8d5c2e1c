/** Bytes of each tenant in `traces.db`, so that room is taken from the one that has most. */

import type { Database } from '../file/database.ts'

/** Bytes of a row of these tables and of its index entries, besides its contents. */
export const rowBytes = { span: 300, posting: 40, block: 60, file: 120, feedback: 300 } as const

/** Tables that are sampled to estimate the use of tenants, and the rows of each sample. */
const [sampled, samples] = [['span', 'block', 'file', 'feedback'] as const, 256]
/** Bytes that a file has when its tenants have something, and a difference that is too much. */
const [knownFrom, offBy] = [16 * 1024 * 1024, 4]

/** Contents of a row of a table. */
const contents = { span: 'terms', block: 'data', file: 'data', feedback: 'body' } as const

/** Bytes of the tenants of a file, by their numbers. */
export class TenantUse {
  readonly #database: Database
  /** Changes of the bytes by the open transaction. */
  readonly #changed = new Map<number, number>()

  constructor(database: Database) {
    this.#database = database
  }

  /** Notes that the open transaction adds bytes of a tenant, or removes some. */
  add(tenant: number, bytes: number): void {
    if (bytes !== 0) this.#changed.set(tenant, (this.#changed.get(tenant) ?? 0) + bytes)
  }

  /** Writes what was noted, at the end of the transaction. */
  writeChanged(): void {
    const put = this.#database.prepare(`
      INSERT INTO tenant_use VALUES (?1, max(0, ?2))
      ON CONFLICT DO UPDATE SET bytes = max(0, bytes + ?2)
    `)
    for (const [tenant, bytes] of this.#changed) put.run(tenant, bytes)
  }

  /** Forgets what was noted. */
  forget(): void {
    this.#changed.clear()
  }

  /** Bytes of a tenant, with what the open transaction changes. */
  of(tenant: number): number {
    const [bytes = 0] = this.#database.prepare<[number]>(
      'SELECT bytes FROM tenant_use WHERE tenant = ?',
    ).get(tenant) ?? []
    return bytes + (this.#changed.get(tenant) ?? 0)
  }

  /** The tenant that has most, if that is more than so many bytes. */
  largest(bytes: number): number | undefined {
    return this.#database.prepare<[number]>(
      'SELECT tenant FROM tenant_use WHERE bytes > ? ORDER BY bytes DESC LIMIT 1',
    ).get(bytes)?.[0]
  }

  /** Forgets the bytes of a tenant of which nothing was found: they are wrong. */
  clear(tenant: number): void {
    this.#changed.delete(tenant)
    this.#database.prepare('DELETE FROM tenant_use WHERE tenant = ?').run(tenant)
  }

  /** Notes that spans of a tenant that arrived until a time were removed to free space. */
  noteFreed(tenant: number, untilUs: number): void {
    this.#database.prepare(`
      INSERT INTO freed VALUES (?, ?)
      ON CONFLICT DO UPDATE SET until_us = max(until_us, excluded.until_us)
    `).run(tenant, Math.floor(untilUs))
  }

  /** The latest such time; 0 if there is none. */
  freedUntilUs(tenant: number): number {
    return this.#database.prepare<[number]>('SELECT until_us FROM freed WHERE tenant = ?')
      .get(tenant)?.[0] ?? 0
  }

  /**
   * Estimates what tenants have if what is known cannot be right: a program that does not count
   * wrote this file.
   */
  correct(): void {
    const pragma = (name: string) => this.#database.prepare<[number]>(`PRAGMA ${name}`).get()![0]
    const held = (pragma('page_count') - pragma('freelist_count')) * pragma('page_size')
    const [known] = this.#database.prepare<[number]>(
      'SELECT coalesce(sum(bytes), 0) FROM tenant_use',
    ).get()!
    if (held < knownFrom || held < known * offBy && known < held * offBy) return
    this.#database.prepare('DELETE FROM tenant_use').run()
    for (const table of sampled) this.#estimate(table)
    this.writeChanged()
    this.forget()
  }

  #estimate(table: typeof sampled[number]): void {
    const [first, last] = this.#database.prepare<[number | null, number]>(
      `SELECT min(no), max(no) FROM ${table}`,
    ).get()!
    if (first === null) return
    const some = this.#database.prepare<[number, number]>(`
      SELECT tenant, coalesce(octet_length(${contents[table]}), 0) FROM ${table}
      WHERE no >= ? ORDER BY no LIMIT 1
    `)
    const count = last - first + 1
    for (let at = 0; at < samples; at++) {
      const [tenant, bytes] = some.get(first + Math.floor(at * count / samples))!
      this.add(tenant, Math.round((rowBytes[table] + bytes) * count / samples))
    }
  }
}
