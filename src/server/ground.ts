/** What a member stands on: the durable ports, who owns which shard, the gate before its word. */

import type { Gate, Ownership } from '../../cluster/index.ts'
import type { LogPort } from '../checkpoint/index.ts'
import type { AssistantIndex, RunTable, ThreadIndex, UnfinishedThread } from '../records/index.ts'

export interface Ground {
  readonly log: LogPort
  readonly threads: ThreadIndex
  readonly runs: RunTable
  readonly assistants: AssistantIndex
  /** What a start must look at; resolves when all that is owned was read. */
  unfinished(): Promise<readonly UnfinishedThread[]>
  readonly ownership: Ownership
  /** Undefined where nobody else can own anything. */
  readonly gate: Gate | undefined
  /** Throws a HeddleError where the data is out of reach right now. */
  check(): Promise<void>
  /** Where the data is, for whoever started it to read. */
  readonly place: string
  /** When no actor is left. */
  close(): Promise<void>
}
