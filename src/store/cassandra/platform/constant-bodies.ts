/** Bodies that never change: in their row if they are small, otherwise in chunks. */

import type { Env } from '../../../../cluster/index.ts'
import { ignoreNotFound } from '../../../errors.ts'
import type { Row } from '../driver/connection.ts'
import { chunksOf } from '../log/chunk-table.ts'
import type { ChunkTable } from '../log/chunk-table.ts'

/** Columns `data` and `chunks` of a row. With chunks, the data is empty. */
export interface InRow {
  readonly data: Uint8Array
  readonly chunks: number
}

/** Writes and reads bodies. The key of a body says all that decides its bytes. */
export class ConstantBodies {
  readonly #chunks: ChunkTable
  readonly #env: Pick<Env, 'nowMs'>

  constructor(chunks: ChunkTable, env: Pick<Env, 'nowMs'>) {
    this.#chunks = chunks
    this.#env = env
  }

  /** Writes the chunks of a body, if it is large, and returns what its row must say. */
  async put(key: string, data: Uint8Array, timeToLiveS: number): Promise<InRow> {
    const chunks = chunksOf(data)
    if (chunks === 0) return { data, chunks }
    await this.#chunks.write(key, data, this.#timestamp(), timeToLiveS)
    return { data: Buffer.alloc(0), chunks }
  }

  /** The body of a row; undefined if it is gone, or if the row never had one. */
  async read(key: string, row: Row): Promise<Uint8Array | undefined> {
    const data = row['data']
    const chunks = row['chunks']
    if (data === null || chunks === null) return undefined
    return chunks === 0 ? data : await this.#chunks.read(key, chunks).catch(ignoreNotFound)
  }

  /** Removes the chunks of a row's body. */
  async remove(key: string, row: Row): Promise<void> {
    const chunks = row['chunks'] ?? 0
    if (chunks > 0) await this.#chunks.remove(key, chunks, this.#timestamp())
  }

  #timestamp(): bigint {
    return BigInt(this.#env.nowMs()) * 1_000n
  }
}
