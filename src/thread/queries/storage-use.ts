/** Bytes of a thread: its log, read once from end to end, a portion at a time. */

import { changesBytes, decodeRow, recordBytes } from '../../checkpoint/index.ts'
import type { JsonText, RecordOf } from '../../checkpoint/index.ts'
import type { ThreadContext } from '../context/thread-context.ts'

/** Rows and bytes of a portion. A longer row is a portion of its own. */
const [portionRows, portionBytes] = [256, 4 * 1024 * 1024]

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

/**
 * Reads what a thread takes. One tenant reads one thread at a time, and holds one portion of it.
 * Rows that a copy shares with its source count for both.
 */
export async function storageUse({ ports, threadLog, tenant, threadId }: ThreadContext,
  cancelled?: AbortSignal): Promise<JsonText> {
  const { log, reads } = ports
  await threadLog.durable
  const { row } = threadLog.state
  const use = new StorageUse()
  const leave = await reads.turn(tenant, cancelled)
  try {
    for (let from = 1; from <= row.seq;) {
      const range = { from, through: row.seq, limit: portionRows, bytes: portionBytes }
      from = await reads.read({ tenant, bytes: portionBytes, cancelled }, async (allowance) => {
        const rows = await allowance.beside(() =>
          log.read(row.branch!, { ...range, bodyBytes: allowance.left })
        )
        for (const { body } of rows) use.add(decodeRow(body), body.byteLength)
        return (rows.at(-1)?.seq ?? row.seq) + 1
      })
      cancelled?.throwIfAborted()
    }
  } finally {
    leave()
  }
  return use.answer(threadId)
}
