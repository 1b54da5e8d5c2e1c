/** Bytes of a thread: its log, read once from end to end, a portion at a time. */

import { changesBytes, decodeRow, recordBytes } from '../../checkpoint/index.ts'
import type { JsonText, RecordOf } from '../../checkpoint/index.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { readPortions } from './log-portions.ts'

interface Sum {
  count: number
  bytes: number
}

/** Sums over records of a log. */
class StorageUse {
  #bytes = 0
  readonly #checkpoints: Sum = { count: 0, bytes: 0 }
  readonly #values: Sum = { count: 0, bytes: 0 }
  readonly #byChannel = new Map<string, Sum>()
  readonly #writes: Sum = { count: 0, bytes: 0 }

  /** Adds a row of `bytes` bytes. */
  add(records: readonly RecordOf[], bytes: number): void {
    this.#bytes += bytes
    for (const record of records) this.#addRecord(record)
  }

  #addRecord(record: RecordOf): void {
    if (record.$case === 'writes') add(this.#writes, recordBytes(record))
    if (record.$case !== 'checkpoint') return
    const { skeletonJson, metadataJson, changes } = record.value
    add(this.#checkpoints, skeletonJson.length + metadataJson.length)
    for (const change of changes) {
      const size = changesBytes([change])
      add(this.#values, size)
      const ofChannel = this.#byChannel.get(change.channel) ?? { count: 0, bytes: 0 }
      this.#byChannel.set(change.channel, ofChannel)
      add(ofChannel, size)
    }
  }

  /** The answer of the API. */
  answer(threadId: string): JsonText {
    return JSON.stringify({
      thread_id: threadId,
      total_bytes: this.#bytes,
      checkpoints: this.#checkpoints,
      channel_values: { ...this.#values, by_channel: Object.fromEntries(this.#byChannel) },
      pending_writes: this.#writes,
    })
  }
}

function add(sum: Sum, bytes: number): void {
  sum.count += 1
  sum.bytes += bytes
}

/** Reads what a thread takes. Rows that a copy shares with its source count for both. */
export async function storageUse(context: ThreadContext,
  cancelled?: AbortSignal): Promise<JsonText> {
  const { threadLog, threadId } = context
  await threadLog.durable
  const use = new StorageUse()
  await readPortions(context, { from: 1, through: threadLog.state.row.seq }, (rows) => {
    for (const { body } of rows) use.add(decodeRow(body), body.byteLength)
  }, cancelled)
  return use.answer(threadId)
}
