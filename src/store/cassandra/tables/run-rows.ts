/** A place where runs are stored: the table of today, or the tables of earlier versions. */

import type { RunRow } from '../../../../proto/gen/storage/v1/row.ts'
import type { RunPlace } from '../../../search/index.ts'
import type { Row } from '../driver/connection.ts'
import type { RowAddress } from './stored-body.ts'

/** Key of a run, with its tenant and its thread. */
export interface RunKey {
  readonly tenant: string
  readonly threadId: string
  readonly runId: string
}

/** Place of a run in the order of creation, and the thread that it is on. */
export interface PlacedRun extends RunPlace {
  readonly threadId: string
  /** True if its row is in a partition of its own; undefined if that is not known. */
  readonly apart?: boolean | undefined
}

/** A row to store. */
export interface RunWrite {
  readonly row: RunRow
  readonly body: Uint8Array
  /** Timestamp of the write. */
  readonly rank: bigint
  /** Earlier versions in flight. */
  readonly before?: Promise<unknown> | undefined
  /** True if the place of the run is known to be written. */
  readonly isPlaced: boolean
  /**
   * Timestamp for removing, in the same write, what an earlier thread of the same id left. Only for
   * a run that the first row of a log created.
   */
  readonly over?: bigint | undefined
}

/** A row that was found, with its columns of the body. */
export interface FoundRun {
  readonly createdAtMs: number
  readonly address: RowAddress
  readonly row: Row
  /** Timestamp of the row. */
  readonly rank: bigint
  /** Reads the row anew, in case it is rewritten while its body is read. */
  readonly again: () => Promise<Row | undefined>
}

/** Runs of a thread or of a tenant, of one time. */
export interface PlaceQuery {
  readonly tenant: string
  /** All threads of the tenant by default. */
  readonly threadId?: string | undefined
  /** Created later than this; before 1970 by default. */
  readonly afterMs?: number | undefined
  /** Created at this time or earlier. */
  readonly untilMs?: number | undefined
  /** Places of a page. */
  readonly size: number
}

/** Stores and finds rows of runs. */
export interface RunRows {
  /** Repeating it changes nothing. */
  put(write: RunWrite): Promise<void>
  /** `apart`: as the place of the run says, if it was read. */
  find(key: RunKey, apart?: boolean): Promise<FoundRun | undefined>
  /** Yields the places of runs, the newest first. */
  places(query: PlaceQuery): AsyncGenerator<readonly PlacedRun[], void, void>
  /** Removes a run that was found. Its row goes last, so that it is found until all is removed. */
  remove(key: RunKey, found: FoundRun, rank: bigint): Promise<void>
  /** Removes the runs of a thread, and calls `each` for every one of them. */
  removeAll(tenant: string, threadId: string, rank: bigint,
    each: (runId: string) => void): Promise<void>
}

/** The column of a found row that says when it was written. */
export const timestampColumn = 'WRITETIME(body) AS rank'

/** Runs that are removed at the same time. */
export const removedAtOnce = 64
/** Places that are read at a time. */
export const placesAtOnce = 1_000
