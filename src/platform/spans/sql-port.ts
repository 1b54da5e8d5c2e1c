/** Questions in SQL about the spans of some projects, for stores that support it. */

import type { Uuid } from './span.ts'

/** A question in SQL, with the spans that it may read. */
export interface SqlQuestion {
  readonly tenant: string
  /** Projects whose spans may be read, each with the first arrival that counts. */
  readonly projects: readonly { readonly id: Uuid; readonly fromUs: number }[]
  /** One statement that reads from `runs` and `feedback`. */
  readonly query: string
}

/** JSON type of the values of a column. `binary` is base64. */
export type SqlType = 'string' | 'integer' | 'float' | 'binary' | 'null'

/** The rows of an answer. */
export interface SqlAnswer {
  readonly columns: readonly { readonly name: string; readonly data_type: SqlType }[]
  readonly rows: readonly (readonly unknown[])[]
  /** Reason for which rows are missing; null if none are. */
  readonly truncation_reason: 'row_limit' | 'size_limit' | null
}

/** A store that answers SQL. */
export interface SqlPort {
  /**
   * Answers a statement. Throws `invalid` for one that is wrong, that does more than reading these
   * spans, or that takes too long.
   */
  querySql(question: SqlQuestion, signal?: AbortSignal): Promise<SqlAnswer>
}
