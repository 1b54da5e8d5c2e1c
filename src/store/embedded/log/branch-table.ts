/** Branches of the log: their numbers, their ancestors, and which branches need whose rows. */

import type { Branch } from '../../../../proto/gen/storage/v1/row.ts'
import { segmentsOf } from '../../../checkpoint/index.ts'
import type { Database, Statement } from '../file/database.ts'
import { idKey } from '../file/id-key.ts'

/** Removable part of a branch: its rows after `after`. */
export interface Cut {
  readonly branch: number
  readonly after: number
}

/** A branch that has rows. */
export interface KnownBranch {
  readonly no: number
  /** True if its owner was deleted. Rows are kept only for branches that grew from it. */
  readonly dead: boolean
}

/** Tables of branches, and of what each needs of its ancestors. */
export const branchSchema = `
  CREATE TABLE branch (
    no INTEGER PRIMARY KEY,
    key BLOB NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    dead INTEGER NOT NULL DEFAULT 0
  );
  CREATE TABLE branch_need (
    branch INTEGER NOT NULL,
    ancestor INTEGER NOT NULL,
    through INTEGER NOT NULL,
    PRIMARY KEY (branch, ancestor)
  ) WITHOUT ROWID;
  CREATE INDEX branch_needed ON branch_need (ancestor, through);
`

/**
 * Finds and registers branches. A branch names every ancestor whose rows it needs, not only the
 * nearest, so the living branches alone tell which rows of a dead branch are needed.
 */
export class BranchTable {
  readonly #find: Statement<readonly [no: number, dead: number]>
  readonly #insert: Statement<readonly [no: number]>
  readonly #need: Statement<never>
  readonly #ancestors: Statement<readonly [no: number]>
  readonly #needNothing: Statement<never>
  readonly #bury: Statement<never>
  readonly #needed: Statement<readonly [dead: number, through: number]>
  readonly #delete: Statement<never>

  constructor(database: Database) {
    this.#find = database.prepare('SELECT no, dead FROM branch WHERE key = ?')
    this.#insert = database.prepare(
      'INSERT INTO branch (key, tenant) VALUES (?, ?) RETURNING no',
    )
    this.#need = database.prepare('INSERT INTO branch_need VALUES (?, ?, ?)')
    this.#ancestors = database.prepare('SELECT ancestor FROM branch_need WHERE branch = ?')
    this.#needNothing = database.prepare('DELETE FROM branch_need WHERE branch = ?')
    this.#bury = database.prepare('UPDATE branch SET dead = 1 WHERE no = ?')
    this.#needed = database.prepare(`SELECT dead, coalesce(
      (SELECT max(through) FROM branch_need WHERE ancestor = branch.no), 0)
      FROM branch WHERE no = ?`)
    this.#delete = database.prepare('DELETE FROM branch WHERE no = ?')
  }

  find(id: string): KnownBranch | undefined {
    const row = this.#find.get(idKey(id))
    return row && { no: row[0], dead: row[1] === 1 }
  }

  /** Registers a branch when its first row is written. Returns its number. */
  create(tenant: string, branch: Branch): number {
    const [no] = this.#insert.get(idKey(branch.id), tenant)!
    for (const { id, through } of segmentsOf(branch).slice(1)) {
      const ancestor = this.find(id)
      if (ancestor) this.#need.run(no, ancestor.no, through)
    }
    return no
  }

  /** Releases a branch whose owner was deleted. Returns what no branch needs any more. */
  release(id: string): Cut[] {
    const known = this.find(id)
    if (!known) return []
    const ancestors = this.#ancestors.all(known.no).map(([no]) => no)
    this.#needNothing.run(known.no)
    this.#bury.run(known.no)
    return [known.no, ...ancestors].flatMap((no) => this.#cut(no))
  }

  #cut(branch: number): Cut[] {
    const row = this.#needed.get(branch)
    if (!row || row[0] === 0) return []
    const after = row[1]
    if (after === 0) this.#delete.run(branch)
    return [{ branch, after }]
  }
}
