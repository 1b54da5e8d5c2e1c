/** Checkpoints for an execution: all that it wrote is there, on disk first. */

import type { CheckpointSource } from '../checkpoint/index.ts'
import type { ThreadLedger } from './thread-ledger.ts'

export function executionSource(ledger: ThreadLedger): CheckpointSource {
  return {
    tuple: async (ns, checkpointId) => {
      await ledger.durable
      return ledger.live.tuple(ns, checkpointId)
    },
    list: async (query) => {
      await ledger.durable
      return ledger.live.list(query)
    },
  }
}
