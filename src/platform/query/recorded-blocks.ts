/** Reads the recorded calls of a run, as they are packed, and lists recordings by their labels. */

import { recordingPlace, recordingsProject } from '../records/recordings/recording-place.ts'
import type { SpanPort } from '../spans/span-port.ts'
import { termOf } from '../spans/term.ts'

/** Bytes of blocks that are read. A run has less. */
const bytesMax = 64 * 1024 * 1024

/** Question about the calls of a run. */
export interface RecordingQuestion {
  readonly tenant: string
  readonly runId: string
  /** Blocks at most; by default all. */
  readonly limit?: number
}

/** Question about recordings that have a label. */
export interface LabelledQuestion {
  readonly tenant: string
  /** Begin of their executions, in milliseconds since 1970, from which on they are listed. */
  readonly fromMs: number
  readonly limit: number
}

/** A recording that has a label. */
export interface LabelledRecording {
  readonly label: string
  readonly startedAtMs: number
}

/** Calls of the query thread about recordings. */
export interface RecordingReads {
  /** The blocks of a run in any order; none for one that is not recorded, or not any more. */
  recordedBlocks(question: RecordingQuestion): Promise<readonly Uint8Array[]>
  /** Those that have a label, the newest first. */
  labelledRecordings(question: LabelledQuestion): Promise<readonly LabelledRecording[]>
}

/** The blocks in a store. */
export async function recordedBlocks(store: Pick<SpanPort, 'trace' | 'files'>,
  { tenant, runId, limit = Infinity }: RecordingQuestion): Promise<readonly Uint8Array[]> {
  const blocks: Uint8Array[] = []
  let bytes = 0
  for await (const heads of store.trace(recordingPlace(tenant, runId))) {
    for (const { id } of heads) {
      const place = { tenant, project: recordingsProject, id }
      for (const { name } of await store.files(place)) {
        const [file] = await store.files(place, name)
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

/** The recordings in a store that have a label. */
export async function labelledRecordings(store: Pick<SpanPort, 'scan'>,
  { tenant, fromMs, limit }: LabelledQuestion): Promise<readonly LabelledRecording[]> {
  const found: LabelledRecording[] = []
  const plan = { tenant, projects: [recordingsProject], fromUs: fromMs * 1_000, toUs: Infinity,
    order: 'newest', rootsOnly: false, terms: [termOf.recordedRun], ranges: [], type: null,
    name: null } as const
  for await (const { heads } of store.scan(plan)) {
    for (const { name, terms, startUs } of heads) {
      if (name === null || !terms.includes(termOf.recordedRun)) continue
      found.push({ label: name, startedAtMs: Math.floor(startUs / 1_000) })
      if (found.length >= limit) return found
    }
    await new Promise((turn) => setImmediate(turn))
  }
  return found
}
