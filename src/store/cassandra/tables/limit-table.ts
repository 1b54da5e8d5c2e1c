/** Admitted requests of limits: rows that are written once, and expire by themselves. */

import type { Env, OwnershipCheck } from '../../../../cluster/index.ts'
import type { LimitAdmit, LimitKey, LimitTable as LimitTablePort } from '../../../limits/index.ts'
import type { Connection } from '../driver/connection.ts'

/** The connection, and the ownership check that each append passes. */
export interface LimitTableParts {
  readonly connection: Connection
  readonly check: Pick<OwnershipCheck, 'confirm'>
  readonly env: Pick<Env, 'uuid'>
}

/** Rows that are read at a time. */
const pageRows = 1_000

/** Stores and finds admits. An append resolves after ownership was confirmed. */
export class LimitTable implements LimitTablePort {
  readonly #parts: LimitTableParts
  readonly #table: string

  constructor(parts: LimitTableParts) {
    this.#parts = parts
    this.#table = `${parts.connection.keyspace}.limit_admit`
  }

  async append({ row, who }: LimitKey,
    { atMs, tokens, keptMs }: LimitAdmit & { readonly keptMs: number }): Promise<void> {
    const { connection, check, env } = this.#parts
    await connection.write({
      cql: `INSERT INTO ${this.#table} (row_name, who, at_ms, id, tokens) ` +
        'VALUES (?, ?, ?, ?, ?) USING TTL ?',
      // Clocks of nodes count whole seconds.
      values: [row, who, BigInt(Math.floor(atMs)), env.uuid(), tokens,
        Math.ceil(keptMs / 1_000) + 1],
    })
    await check.confirm()
  }

  async since({ row, who }: LimitKey, sinceMs: number): Promise<readonly LimitAdmit[]> {
    const admits: LimitAdmit[] = []
    const statement = {
      cql: `SELECT at_ms, tokens FROM ${this.#table} ` +
        'WHERE row_name = ? AND who = ? AND at_ms >= ?',
      values: [row, who, BigInt(Math.floor(sinceMs))],
    }
    for await (const page of this.#parts.connection.pages(statement, pageRows)) {
      for (const each of page) {
        admits.push({ atMs: Number(each['at_ms']), tokens: each['tokens'] })
      }
    }
    return admits
  }
}
