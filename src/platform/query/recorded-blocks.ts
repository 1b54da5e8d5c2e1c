/** Reads the recorded calls of a run, as they are packed, and lists recordings by their labels. */

import { recordingPlace, recordingScopes } from '../records/recordings/recording-place.ts'
import type { RecordedDeployment } from '../records/recordings/recording-place.ts'
import { everySpan } from '../spans/span-port.ts'
import type { SpanPort } from '../spans/span-port.ts'
import { termOf } from '../spans/term.ts'

/** Bytes of blocks that are read. A run has less. */
const bytesMax = 64 * 1024 * 1024

/** Question about the calls of a run. */
export interface RecordingQuestion {
  readonly tenant: string
  /** Missing for the server's own project. */
  readonly deployment?: RecordedDeployment | undefined
  readonly runId: string
  /** Blocks at most; by default all. */
  readonly limit?: number
}

/** Question about recordings that have a label. */
export interface LabelledQuestion {
  readonly tenant: string
  /** Missing for the server's own project. */
  readonly deployment?: RecordedDeployment | undefined
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
  /** True if any run is recorded, with or without a label. */
  hasRecordings(question: Pick<LabelledQuestion, 'tenant' | 'deployment'>): Promise<boolean>
  /** Those that have a label, the newest first. */
  labelledRecordings(question: LabelledQuestion): Promise<readonly LabelledRecording[]>
}

/** The blocks in a store. */
export async function recordedBlocks(store: Pick<SpanPort, 'trace' | 'files'>,
  { tenant, deployment, runId, limit = Infinity }: RecordingQuestion
): Promise<readonly Uint8Array[]> {
  const blocks: Uint8Array[] = []
  let bytes = 0
  for (const { project, fromMs } of recordingScopes(deployment)) {
    for await (const heads of store.trace(recordingPlace(tenant, project, runId))) {
      for (const { id, startUs } of heads) {
        if (startUs < fromMs * 1_000) continue
        const place = { tenant, project, id }
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
  }
  return blocks
}

/** True if a store has recordings. */
export async function hasRecordings(store: Pick<SpanPort, 'scan'>,
  { tenant, deployment }: Pick<LabelledQuestion, 'tenant' | 'deployment'>): Promise<boolean> {
  for (const { project, fromMs } of recordingScopes(deployment)) {
    const plan = { tenant, projects: [project], fromUs: fromMs * 1_000, toUs: Infinity,
      order: 'newest', ...everySpan } as const
    for await (const { heads } of store.scan(plan)) if (heads.length > 0) return true
  }
  return false
}

/** The recordings in a store that have a label. */
export async function labelledRecordings(store: Pick<SpanPort, 'scan'>,
  { tenant, deployment, fromMs, limit }: LabelledQuestion): Promise<readonly LabelledRecording[]> {
  const found: LabelledRecording[] = []
  const scopes = recordingScopes(deployment)
  const fromUs = new Map(scopes.map((scope) => [scope.project, scope.fromMs * 1_000]))
  const plan = { tenant, projects: [...fromUs.keys()], fromUs: fromMs * 1_000, toUs: Infinity,
    order: 'newest', ...everySpan, terms: [termOf.recordedRun] } as const
  for await (const { heads } of store.scan(plan)) {
    for (const { project, name, terms, startUs } of heads) {
      if (name === null || !terms.includes(termOf.recordedRun)) continue
      if (startUs < fromUs.get(project)!) continue
      found.push({ label: name, startedAtMs: Math.floor(startUs / 1_000) })
      if (found.length >= limit) return found
    }
    await new Promise((turn) => setImmediate(turn))
  }
  return found
}
