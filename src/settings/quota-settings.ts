/** Quotas of one tenant, as settings of a server. */

/** Bounds of one tenant; Infinity for any number. */
export interface QuotaSettings {
  readonly bytes: number
  readonly threads: number
  /** Unfinished runs whose time has come. */
  readonly runs: number
  readonly delayedRuns: number
  readonly crons: number
  /** Streams and waiting requests at one server. */
  readonly streams: number
}
