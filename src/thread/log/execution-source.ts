/** The checkpoints that an execution reads: what it wrote itself is in the log before it reads. */

import type { CheckpointSource, StoredTuple } from '../../checkpoint/index.ts'
import type { ThreadLog } from './thread-log.ts'

/** Known head, and retries, for reads of the checkpoints of an execution. */
export interface SourceOptions {
  /** The thread's head if it was just read: the first query need not read it again. */
  readonly head?: StoredTuple | undefined
  /** Repeats a read that failed, if that may help. */
  readonly steadily?: <Result>(read: () => Promise<Result>) => Promise<Result>
}

/** The checkpoints of a thread, as one of its executions reads them. */
export function executionSource(threadLog: ThreadLog,
  { head, steadily = (read) => read() }: SourceOptions = {}): CheckpointSource {
  const { stepSeq } = threadLog.state.row
  // For the first query only: the worker remembers it, and a state may be large.
  let first = head
  return {
    tuple: async (ns, checkpointId) => {
      const known = first
      first = undefined
      const isAsked = ns === '' && (checkpointId === null || checkpointId === known?.id)
      if (known && isAsked && threadLog.state.row.stepSeq === stepSeq) return known
      // A thread without any step has no checkpoint, in the log or on its way there.
      if (isAsked && threadLog.state.row.stepSeq === 0) return undefined
      await threadLog.logged
      return steadily(() => threadLog.live.tuple(ns, checkpointId))
    },
    list: async (query) => {
      await threadLog.logged
      return steadily(() => threadLog.live.list(query))
    },
  }
}
