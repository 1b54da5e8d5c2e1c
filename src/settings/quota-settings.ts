/** Quotas of one tenant, as settings of a server. */

/** Bounds of one tenant; Infinity for any number. */
export interface QuotaSettings {
  /** Bytes of the logs of threads, assistants and crons, and of items. */
  readonly bytes: number
  readonly threads: number
  /** Unfinished runs whose time has come. */
  readonly runs: number
  readonly delayedRuns: number
  readonly crons: number
  /** Streams at one front door, and requests that wait for a run. */
  readonly streams: number
}
