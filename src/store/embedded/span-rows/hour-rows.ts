/** The hours of projects: when a write touched them last, and their roll-ups. */

import type { Hour } from '../../../platform/index.ts'
import type { Database } from '../file/database.ts'
import type { NumberedProject } from './numbers.ts'

/** Microseconds of an hour. */
const hourUs = 3_600_000_000

/**
 * Microseconds that a commit may take after its hours were touched. A roll-up whose scan began
 * sooner after the touch is not kept, because the scan may have missed the commit.
 */
export const commitUs = 1_000_000

/** The hours of all projects. */
export class HourRows {
  readonly #database: Database
  /** Hours that the open transaction touches, by project. */
  readonly #touched = new Map<number, Set<Hour>>()
  /** Hours of which it deletes spans. */
  readonly #shrunk = new Set<string>()

  constructor(database: Database) {
    this.#database = database
  }

  /** Notes that the open transaction changes a span with this start. */
  touch(project: number, startUs: number): void {
    const hour = Math.floor(startUs / hourUs)
    const hours = this.#touched.get(project)
    if (hours === undefined) this.#touched.set(project, new Set([hour]))
    else hours.add(hour)
  }

  /** Notes that the open transaction deletes a span with this start. */
  shrink(project: number, startUs: number): void {
    this.touch(project, startUs)
    this.#shrunk.add(`${project} ${Math.floor(startUs / hourUs)}`)
  }

  /** Writes what was noted, at the end of the transaction. Hours without spans are forgotten. */
  writeTouched(nowUs: number): void {
    const forget = this.#database.prepare('DELETE FROM hour WHERE project = ? AND hour = ?')
    const touch = this.#database.prepare(`
      INSERT INTO hour (project, hour, touched_us) VALUES (?, ?, ?)
      ON CONFLICT DO UPDATE SET touched_us = max(touched_us, excluded.touched_us), body = NULL
    `)
    for (const [project, hours] of this.#touched) {
      for (const hour of hours) {
        const isEmpty = this.#shrunk.has(`${project} ${hour}`) && !this.#hasSpans(project, hour)
        if (isEmpty) forget.run(project, hour)
        else touch.run(project, hour, nowUs)
      }
    }
  }

  #hasSpans(project: number, hour: Hour): boolean {
    return this.#database.prepare(`
      SELECT 1 FROM span INDEXED BY span_start
      WHERE project = ? AND start_us >= ? AND start_us < ? LIMIT 1
    `).get(project, hour * hourUs, (hour + 1) * hourUs) !== undefined
  }

  /** Forgets what was noted. */
  forget(): void {
    this.#touched.clear()
    this.#shrunk.clear()
  }

  /** The roll-ups that exist. */
  rollUps({ no, goneUs }: NumberedProject, from: Hour, to: Hour): ReadonlyMap<Hour, Uint8Array> {
    return new Map(this.#database.prepare<[Hour, Uint8Array]>(`
      SELECT hour, body FROM hour WHERE project = ? AND hour >= ? AND hour < ? AND body IS NOT NULL
    `).all(no, Math.max(from, Math.floor(goneUs / hourUs)), to))
  }

  /** Keeps a roll-up unless a write touched its hour since. An hour without spans has none. */
  put({ no }: NumberedProject, hour: Hour, body: Uint8Array, scanBeganUs: number): void {
    this.#database.prepare(
      'UPDATE hour SET body = ? WHERE project = ? AND hour = ? AND touched_us < ?',
    ).run(body, no, hour, scanBeganUs - commitUs)
  }

  /** The hours in which a project has spans. */
  hours({ no, goneUs }: NumberedProject, from: Hour, to: Hour): readonly Hour[] {
    return this.#database.prepare<[Hour]>(`
      SELECT hour FROM hour WHERE project = ?1 AND hour >= ?2 AND hour < ?3 AND EXISTS (
        SELECT 1 FROM span INDEXED BY span_start WHERE span.project = ?1
          AND start_us >= max(hour * ${hourUs}, ?4) AND start_us < (hour + 1) * ${hourUs})
      ORDER BY hour
    `).all(no, from, to, goneUs).map(([hour]) => hour)
  }
}
