/** When a write of the embedded store is durable: one interface with two implementations. */

import type { Env } from '../../../../cluster/index.ts'
import type { StoreGeneration } from '../requests/request.ts'
import { BranchTails } from './branch-tails.ts'
import type { KnownBranches } from './branch-tails.ts'
import { CommitQueue } from './durable-queue.ts'
import type { DurableQueue } from './durable-queue.ts'
import { FileIdentity } from './file-identity.ts'
import { WriteAheadFile } from './write-ahead-file.ts'
import { WriteAheadQueue } from './write-ahead-queue.ts'

export { catchUp } from './catch-up.ts'
export { CommitQueue } from './durable-queue.ts'
export type { DurableQueue } from './durable-queue.ts'
export { FileIdentity } from './file-identity.ts'
export { createWriteAhead, readWriteAhead, removeWriteAhead,
  writeAheadPath } from './write-ahead-file.ts'
export type { WriteAheadRecord } from './write-ahead-record.ts'

/**
 * Off switch of the write-ahead file: with `false`, every write waits for a commit of the database.
 * What an earlier process left in the file is read at the start in either case.
 */
const writesAhead: boolean = true

/** Database, clock and branches of an open store, for its queue. */
export interface QueueOptions {
  /** The path of the database. */
  readonly file: string
  readonly env: Env
  readonly generation: StoreGeneration
  readonly branches: KnownBranches
}

/** Makes the queue of a database that outlives the process. Throws system errors as they are. */
export function durableQueue({ file, env, generation, branches }: QueueOptions): DurableQueue {
  if (!writesAhead) return new CommitQueue()
  const place = new FileIdentity(file, { clock: env })
  const ahead = new WriteAheadFile(file, env, generation)
  return new WriteAheadQueue({ place, ahead, tails: new BranchTails(branches) }, generation.written)
}
