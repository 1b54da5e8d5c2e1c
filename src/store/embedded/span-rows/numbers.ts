/** Tenants and projects by their numbers, which stand for them in all rows. */

import { bytesOfUuid, uuidOfBytes } from '../../../platform/index.ts'
import type { Term, Uuid } from '../../../platform/index.ts'
import type { Database } from '../file/database.ts'

/** A project that has or had spans. */
export interface NumberedProject {
  readonly no: number
  readonly tenant: number
  readonly id: Uuid
  /** Its spans that began before are removed. */
  readonly goneUs: number
  /** Life of its next spans in seconds; null if no write specified one. */
  readonly lifeS: number | null
}

type Row = readonly [no: number, tenant: number, id: Uint8Array, goneUs: number,
  lifeS: number | null]

const columns = 'no, tenant, id, gone_us, life_s'

/** The numbers of a file. Nothing is kept in memory, because another thread may change it. */
export class Numbers {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  tenant(name: string): number | undefined {
    return this.#database.prepare<[number]>('SELECT no FROM tenant WHERE name = ?').get(name)?.[0]
  }

  /** The number of a tenant, made if it has none. */
  numberTenant(name: string): number {
    return this.tenant(name) ??
      Number(this.#database.prepare('INSERT INTO tenant (name) VALUES (?)').run(name)
        .lastInsertRowid)
  }

  project(tenant: number, id: Uuid): NumberedProject | undefined {
    const row = this.#database.prepare<Row>(
      `SELECT ${columns} FROM project WHERE tenant = ? AND id = ?`,
    ).get(tenant, bytesOfUuid(id))
    return row && projectOf(row)
  }

  /** The project, numbered if it is new. Only then has it this life. */
  numberProject(tenant: number, id: Uuid, lifeS?: number): NumberedProject {
    const known = this.project(tenant, id)
    if (known !== undefined) return known
    this.#database.prepare('INSERT INTO project (tenant, id, life_s) VALUES (?, ?, ?)')
      .run(tenant, bytesOfUuid(id), lifeS ?? null)
    return this.project(tenant, id)!
  }

  /** Sets the life of the next spans of a project. */
  setLife({ no }: NumberedProject, lifeS: number): NumberedProject {
    this.#database.prepare('UPDATE project SET life_s = ? WHERE no = ?').run(lifeS, no)
    return this.projectAt(no)
  }

  projectAt(no: number): NumberedProject {
    return projectOf(this.#database.prepare<Row>(
      `SELECT ${columns} FROM project WHERE no = ?`,
    ).get(no)!)
  }

  /** The next projects after a number. */
  projectsAfter(no: number, limit: number): readonly NumberedProject[] {
    return this.#database.prepare<Row>(
      `SELECT ${columns} FROM project WHERE no > ? ORDER BY no LIMIT ?`,
    ).all(no, limit).map(projectOf)
  }

  /** Removes the spans of a project that began before. */
  endBefore({ no }: NumberedProject, beforeUs: number): void {
    this.#database.prepare('UPDATE project SET gone_us = max(gone_us, ?) WHERE no = ?')
      .run(Math.min(beforeUs, Number.MAX_SAFE_INTEGER), no)
  }
}

/** A term as the postings of a project have it: other projects have other numbers for it. */
export function mixedTerm(term: Term, project: number): Term {
  return term ^ BigInt.asIntN(64, BigInt(project) * 0x9e3779b97f4a7c15n)
}

function projectOf([no, tenant, id, goneUs, lifeS]: Row): NumberedProject {
  return { no, tenant, id: uuidOfBytes(id), goneUs, lifeS }
}
