/** The ports of a thread's log, and how one is loaded and watched. */

import type { ByteBudget, Env } from '../../../cluster/index.ts'
import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { LogPort, RecordOf } from '../../checkpoint/index.ts'
import type { ThreadIndex } from '../../search/index.ts'
import type { StoredThreadOptions } from './stored-thread.ts'

/** The store as a thread's log uses it. */
export interface ThreadLogPorts {
  readonly log: LogPort
  readonly threads: Pick<ThreadIndex, 'get'>
  /** True if each run that ends leaves a billing record; by default none is made. */
  readonly billing?: boolean
  /**
   * Gets the rows of runs that have ended, once that is on disk. Runs that are rolled back or
   * deleted are not among them. `repeated`: they were probably reported before, by another owner.
   */
  readonly runsEnded?: (runs: readonly RunRow[], repeated?: boolean) => void
  /** Shared by all threads of this member: how many bytes of states they may remember. */
  readonly views: ByteBudget<object>
}

/** Ports and callbacks with which a thread is loaded. */
export interface ThreadLogOptions extends StoredThreadOptions {
  readonly ports: ThreadLogPorts
  readonly after: Env['after']
  /** Called when the state in memory may not be true any more. */
  readonly onLost: (reason: unknown) => void
}

/** Gets all that is written to a thread's log, in order. */
export interface LogWatcher {
  /** Records that go into row `seq`; `durable` resolves when they are on disk. */
  written(records: readonly RecordOf[], seq: number, durable: Promise<void>): void
  /** The thread begins a new log. */
  begun(): void
}
