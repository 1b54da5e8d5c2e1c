/** Durable is also what the write-ahead file has: the database has it some milliseconds later. */

import { concerns } from '../requests/write.ts'
import type { Write } from '../requests/write.ts'
import type { BranchTails } from './branch-tails.ts'
import type { Committed, DurableQueue, WriteBatch } from './durable-queue.ts'
import type { FileIdentity } from './file-identity.ts'
import type { WriteAheadFile } from './write-ahead-file.ts'

/** Acknowledged writes that may wait for the writer thread: callers must notice if it is stuck. */
const unappliedMax = 32

/** Parts by which the queue decides, and the file that it writes to. */
export interface WriteAheadParts {
  readonly place: Pick<FileIdentity, 'check'>
  readonly ahead: Pick<WriteAheadFile, 'hasRoom' | 'append' | 'rewind' | 'close'>
  readonly tails: Pick<BranchTails, 'expect' | 'takes' | 'note'>
}

/** Acknowledges a write that comes alone as soon as the write-ahead file has it. */
export class WriteAheadQueue implements DurableQueue {
  readonly #parts: WriteAheadParts
  /** Number of the newest batch with writes. */
  #number: number
  /** Acknowledged writes in the write-ahead file that are not in the database yet; by their ids. */
  readonly #unapplied = new Map<number, Write>()
  /** Writes sent otherwise, and not answered; by their ids. */
  readonly #underWay = new Map<number, Write>()
  /** True if the newest answered write that did not go through the write-ahead file succeeded. */
  #lastIsDone = true
  #closed = false

  /** `written`: the number of the newest batch of which the database has something. */
  constructor(parts: WriteAheadParts, written: number) {
    this.#parts = parts
    this.#number = written
  }

  commit(batch: WriteBatch): Committed {
    const { ids, writes } = batch
    if (writes.length > 0) this.#number += 1
    const acknowledged = this.#append(batch)
    const sent = acknowledged ? this.#unapplied : this.#underWay
    for (const [index, write] of writes.entries()) sent.set(ids[index]!, write)
    return { number: this.#number, acknowledged }
  }

  answered(id: number, isDone: boolean): boolean {
    if (this.#unapplied.has(id)) {
      if (isDone) this.#unapplied.delete(id)
      return true
    }
    const write = this.#underWay.get(id)
    if (!write) return false
    this.#underWay.delete(id)
    this.#lastIsDone = isDone
    if (!isDone) return false
    this.#parts.tails.note(write)
    // It waited for the disk, and with it for all that came before.
    this.#parts.ahead.rewind()
    return false
  }

  expectBranch(id: string): void {
    this.#parts.tails.expect(id)
  }

  isAheadOn(tenant: string, threadId: string): boolean {
    return [...this.#unapplied.values()].some((write) => concerns(write, tenant, threadId))
  }

  isAheadSince(lastId: number): boolean {
    return [...this.#unapplied.keys()].some((id) => id <= lastId)
  }

  close(): void {
    this.#closed = true
    this.#parts.ahead.close()
  }

  /**
   * Puts into the write-ahead file what can be. Only a write that comes alone: many are faster in
   * one commit. Not while others are under way, nor after one that failed: this one might not
   * follow what is in the log, and its number would not follow in the write-ahead file.
   */
  #append({ writes, packed }: WriteBatch): boolean {
    const [write, ...others] = writes
    if (!write || others.length > 0 || this.#closed) return false
    if (this.#underWay.size > 0 || !this.#lastIsDone) return false
    if (this.#unapplied.size === unappliedMax) return false
    const { place, ahead, tails } = this.#parts
    if (!ahead.hasRoom(packed) || !tails.takes(write)) return false
    place.check()
    if (!ahead.append(packed, this.#number)) return false
    tails.note(write)
    return true
  }
}
