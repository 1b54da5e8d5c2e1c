/** Questions in SQL about the spans of some projects, for stores that speak it. */

import type { Uuid } from './span.ts'

/** A question. */
export interface SqlQuestion {
  readonly tenant: string
  /** Where spans may be read, and from which arrival on. */
  readonly projects: readonly { readonly id: Uuid; readonly fromUs: number }[]
  /** One statement that reads from `runs` and `feedback`. */
  readonly query: string
}

/** What the values of a column are in JSON. `binary` is base64. */
export type SqlType = 'string' | 'integer' | 'float' | 'binary' | 'null'

/** The rows of an answer. */
export interface SqlAnswer {
  readonly columns: readonly { readonly name: string; readonly data_type: SqlType }[]
  readonly rows: readonly (readonly unknown[])[]
  /** Why rows are missing; null if none are. */
  readonly truncation_reason: 'row_limit' | 'size_limit' | null
}

/** A store that answers SQL. */
export interface SqlPort {
  /**
   * Throws `invalid` for a statement that is wrong, that does more than reading these spans, or
   * that takes too long.
   */
  querySql(question: SqlQuestion, signal?: AbortSignal): Promise<SqlAnswer>
}
