/** Reads the recorded calls of a run, as they are packed. */

import { recordingPlace } from '../records/recordings/recording-place.ts'
import type { SpanPort } from '../spans/span-port.ts'

/** Bytes of blocks that are read. A run has less. */
const bytesMax = 64 * 1024 * 1024

/** Question about the calls of a run. */
export interface RecordingQuestion {
  readonly tenant: string
  readonly runId: string
  /** Blocks at most; by default all. */
  readonly limit?: number
}

/** Calls of the query thread about recordings. */
export interface RecordingReads {
  /** The blocks of a run in any order; none for one that is not recorded, or not any more. */
  recordedBlocks(question: RecordingQuestion): Promise<readonly Uint8Array[]>
}

/** The blocks in a store. */
export async function recordedBlocks(store: Pick<SpanPort, 'trace' | 'files'>,
  { tenant, runId, limit = Infinity }: RecordingQuestion): Promise<readonly Uint8Array[]> {
  const blocks: Uint8Array[] = []
  let bytes = 0
  for await (const heads of store.trace(recordingPlace(tenant, runId))) {
    for (const { id } of heads) {
      for (const { name } of await store.files(tenant, id)) {
        const [file] = await store.files(tenant, id, name)
        if (file === undefined) continue
        bytes += file.data.byteLength
        if (bytes > bytesMax) return blocks
        blocks.push(file.data)
        if (blocks.length >= limit) return blocks
      }
    }
  }
  return blocks
}
