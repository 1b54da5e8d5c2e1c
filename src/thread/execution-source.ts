/** Checkpoints for an execution: all that it wrote is there, in the log first. */

import type { CheckpointSource, StoredTuple } from '../checkpoint/index.ts'
import type { ThreadLedger } from './thread-ledger.ts'

export interface SourceOptions {
  /** What was read of the thread's head just before: who begins with it need not wait. */
  readonly head?: StoredTuple | undefined
  /** Reads once more where that may help. */
  readonly steadily?: <Result>(read: () => Promise<Result>) => Promise<Result>
}

export function executionSource(ledger: ThreadLedger,
  { head, steadily = (read) => read() }: SourceOptions = {}): CheckpointSource {
  const { stepSeq } = ledger.state.row
  // Only for the first question: whoever had it remembers it, and a state may be large.
  let first = head
  return {
    tuple: async (ns, checkpointId) => {
      const known = first
      first = undefined
      const isAsked = ns === '' && (checkpointId === null || checkpointId === known?.id)
      if (known && isAsked && ledger.state.row.stepSeq === stepSeq) return known
      await ledger.logged
      return steadily(() => ledger.live.tuple(ns, checkpointId))
    },
    list: async (query) => {
      await ledger.logged
      return steadily(() => ledger.live.list(query))
    },
  }
}
