/** Unpacks recordings of runs. The last ones stay unpacked, for the calls that are shown next. */

import { LRUCache } from '../../cluster/index.ts'
import { decodeBlock, executionsIn } from '../graph/index.ts'
import type { RecordedBody, RecordedExecution } from '../graph/index.ts'

/** Recordings that stay unpacked, and bytes of the bodies of all of them. */
const [countMax, bytesMax] = [8, 32 * 1024 * 1024]

interface Unpacked {
  readonly blocks: readonly Uint8Array[]
  readonly executions: readonly RecordedExecution[]
}

/** The recordings that were unpacked last. They are read each time: they grow, and are removed. */
export class UnpackedRecordings {
  readonly #kept = new LRUCache<string, Unpacked>({ max: countMax, maxSize: bytesMax,
    sizeCalculation: sizeOf })
  readonly #decode: typeof decodeBlock

  constructor(decode = decodeBlock) {
    this.#decode = decode
  }

  /** The executions in the blocks of a run. Blocks that are the same as before stay unpacked. */
  async of(run: string, blocks: readonly Uint8Array[]): Promise<readonly RecordedExecution[]> {
    const known = this.#kept.get(run)
    if (known && areSame(known.blocks, blocks)) return known.executions
    this.#kept.delete(run)
    const executions = executionsIn(await Promise.all(blocks.map((each) => this.#decode(each))))
    if (blocks.length > 0) this.#kept.set(run, { blocks, executions })
    return executions
  }
}

function areSame(some: readonly Uint8Array[], others: readonly Uint8Array[]): boolean {
  return some.length === others.length
    && some.every((each, at) => Buffer.compare(each, others[at]!) === 0)
}

function sizeOf({ blocks, executions }: Unpacked): number {
  const bodies = executions.flatMap(({ calls }) =>
    calls.flatMap((call) => [call.request, call.answer])
  )
  return 1 + blocks.reduce((bytes, each) => bytes + each.byteLength, 0)
    + bodies.reduce((bytes, body) => bytes + bytesOf(body), 0)
}

function bytesOf({ chunks }: RecordedBody): number {
  return chunks.reduce((bytes, { byteLength }) => bytes + byteLength, 0)
}
