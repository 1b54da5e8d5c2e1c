/**
 * The recording of a run: its outgoing calls as they were, in blocks. A block is one frame of zstd
 * with a line of JSON for itself, and for each call a line of JSON and its bytes. Pure but for the
 * compression.
 */

import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'

import type { CallClient, CallHeaders } from '../calls/call.ts'

/** The place in a graph that made a call. */
export interface RecordedSite {
  /** Number of the superstep, counted by the graph of the task. */
  readonly step: number
  /** Names of the nodes from the root to the task's own one. */
  readonly nodes: readonly string[]
  /** The task's place among those of its step. */
  readonly path: readonly unknown[]
  /** Number of the task's attempt in its execution, from 1. */
  readonly attempt: number
}

/**
 * A body in the chunks that came, without compression and with secrets hidden. Of one that is
 * `cut`, a part is missing, or all of it.
 */
export interface RecordedBody {
  /** Bytes that were sent, also where they are not kept. */
  readonly bytes: number
  readonly chunks: readonly Uint8Array[]
  readonly isCut: boolean
}

/** Status and kept headers of an answer. */
export interface RecordedHead {
  readonly status: number
  readonly headers: CallHeaders
}

/**
 * done       the whole answer came
 * refused    nothing of the request was sent, as without a connection
 * timed_out  the answer, or the rest of it, did not come in time
 * reset      the connection ended before the answer did
 * aborted    the client gave it up, as when its run is cancelled
 * open       it had not ended when its execution did
 */
export type RecordedEnd = 'done' | 'refused' | 'timed_out' | 'reset' | 'aborted' | 'open'

/** One outgoing call, and what came back. */
export interface RecordedCall {
  /** Number among the calls of its execution, in the order in which they began, from 0. */
  readonly no: number
  /** The task that made it; null outside of nodes. */
  readonly site: RecordedSite | null
  /** Number of calls of the same attempt of a task that came before. */
  readonly ordinal: number
  readonly client: CallClient
  readonly method: string
  /** Absolute. Values of parameters that look like keys are masked. */
  readonly url: string
  /** Time of its begin in milliseconds since 1970. */
  readonly atMs: number
  /** Milliseconds from there to the head of the answer, and to its end; null if none came. */
  readonly headMs: number | null
  readonly endMs: number
  readonly request: RecordedBody
  /** Null if no answer came. */
  readonly head: RecordedHead | null
  readonly answer: RecordedBody
  readonly end: RecordedEnd
  /** Code and message of a failure; null otherwise. */
  readonly failure: { readonly code: string; readonly message: string } | null
}

/** Calls of one execution that are written together. */
export interface RecordedBlock {
  readonly runId: string
  readonly threadId: string
  readonly graphId: string
  /** Number of the run's attempt: one that is displaced keeps its own. */
  readonly attempt: number
  /** Number of the run's start; missing in a recording of an earlier version. */
  readonly start?: number
  /** Begin of the execution in milliseconds since 1970. */
  readonly startedAtMs: number
  /** Number of the block in its execution, from 0. */
  readonly no: number
  /** True for the last block of an execution, which may have no calls. */
  readonly isLast: boolean
  /** True if something of the execution was dropped up to here. */
  readonly isCut: boolean
  /** Version of Node that made the calls. */
  readonly node: string
  readonly calls: readonly RecordedCall[]
  /** JSON of the run itself, in the last block of a stateless one: its thread goes. */
  readonly run?: Uint8Array
}

/** The calls of one execution of a run. A run that was interrupted by a crash has several. */
export interface RecordedExecution extends Omit<RecordedBlock, 'no' | 'isLast' | 'isCut'> {
  /** True if calls or bodies are missing. A replay cannot go on past that. */
  readonly isCut: boolean
}

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

const version = 1
const options = { params: { [constants.ZSTD_c_compressionLevel]: 3 } }
/** Bytes of a block without its compression that are read. */
const readMax = 64 * 1024 * 1024

/** A body in the line of its call: its chunks are lengths of what follows. */
type BodyLine = Omit<RecordedBody, 'chunks'> & { readonly chunks: readonly number[] }
type CallLine = Omit<RecordedCall, 'request' | 'answer'> & {
  readonly request: BodyLine
  readonly answer: BodyLine
}
interface BlockLine extends Omit<RecordedBlock, 'calls' | 'run'> {
  readonly version: number
  readonly calls: number
  /** Bytes of the run, which come last. */
  readonly run?: number
}

/** Packs a block. */
export async function encodeBlock({ calls, run, ...block }: RecordedBlock): Promise<Uint8Array> {
  const head: BlockLine = { ...block, version, calls: calls.length,
    ...run && { run: run.byteLength } }
  const parts: Uint8Array[] = [line(head)]
  for (const call of calls) {
    parts.push(
      line(
        { ...call, request: bodyLine(call.request),
          answer: bodyLine(call.answer) } satisfies CallLine,
      ),
      ...call.request.chunks,
      ...call.answer.chunks,
    )
  }
  if (run) parts.push(run)
  return await compress(Buffer.concat(parts), options)
}

/** Reads a block. Throws if it is not whole, or of a version that is not known. */
export async function decodeBlock(packed: Uint8Array): Promise<RecordedBlock> {
  const reader = new LineReader(await decompress(packed, { maxOutputLength: readMax }))
  const { version: found, calls: count, run, ...block } = reader.line<BlockLine>()
  if (found !== version) throw new RangeError('The version of a recording is not known.')
  const calls = Array.from({ length: count }, (): RecordedCall => {
    const { request, answer, ...call } = reader.line<CallLine>()
    return { ...call, request: reader.body(request), answer: reader.body(answer) }
  })
  return { ...block, calls, ...run !== undefined && { run: reader.bytes(run) } }
}

/** The executions that blocks of one run are of, in the order in which they began. */
export function executionsIn(blocks: readonly RecordedBlock[]): readonly RecordedExecution[] {
  const groups = Map.groupBy(blocks, ({ startedAtMs }) => startedAtMs)
  return [...groups.values()].map((group) => {
    const sorted = group.toSorted((a, b) => a.no - b.no)
    const last = sorted.at(-1)!
    const { no: _, isLast, isCut, ...first } = last
    const isWhole = isLast && sorted.every((block, at) => block.no === at)
    return { ...first, isCut: isCut || !isWhole,
      calls: sorted.flatMap(({ calls }) => calls).toSorted((a, b) => a.no - b.no) }
  }).toSorted((a, b) => a.startedAtMs - b.startedAtMs)
}

/** A body that is not there. */
export const noBody: RecordedBody = { bytes: 0, chunks: [], isCut: false }

function bodyLine({ chunks, ...body }: RecordedBody): BodyLine {
  return { ...body, chunks: chunks.map(({ byteLength }) => byteLength) }
}

function line(value: object): Uint8Array {
  return Buffer.from(`${JSON.stringify(value)}\n`)
}

const lineEnd = 10

/** Reads lines of JSON, and the bytes between them. */
class LineReader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  line<Value>(): Value {
    const end = this.#bytes.indexOf(lineEnd, this.#at)
    if (end < 0) throw new RangeError('A recording ends too early.')
    const text = this.#bytes.toString('utf8', this.#at, end)
    this.#at = end + 1
    return JSON.parse(text) as Value
  }

  body({ chunks, ...body }: BodyLine): RecordedBody {
    return { ...body, chunks: chunks.map((length) => this.bytes(length)) }
  }

  bytes(length: number): Uint8Array {
    const from = this.#at
    this.#at += length
    if (this.#at > this.#bytes.byteLength) throw new RangeError('A recording ends too early.')
    return this.#bytes.subarray(from, this.#at)
  }
}
