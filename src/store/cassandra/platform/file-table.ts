/** Attachments of spans. */

import { hash } from 'node:crypto'

import { bytesOfUuid, uuidOfBytes } from '../../../platform/index.ts'
import type { FilePart, Uuid } from '../../../platform/index.ts'
import type { Connection, Row } from '../driver/connection.ts'
import { forEachLimit } from '../driver/for-each-limit.ts'
import type { ConstantBodies } from './constant-bodies.ts'
import type { StatementBatches } from './statement-batches.ts'

/** Large files of a request that are written at a time. */
const largeAtOnce = 2
/** Files of a span that are listed. */
const filesMax = 1_000
const columns = 'name, type, trace_id, chunks, version'

/** Bytes of a row besides its content. */
const rowBytes = 200

/** Writes and reads attachments of spans. */
export class FileTable {
  readonly #connection: Connection
  readonly #bodies: ConstantBodies
  readonly #table: string

  constructor(connection: Connection, bodies: ConstantBodies) {
    this.#connection = connection
    this.#bodies = bodies
    this.#table = `${connection.keyspace}.span_file`
  }

  /** Adds files to what a request writes, when the parts of large ones are on a quorum. */
  async add(batches: StatementBatches, tenant: string, files: readonly FilePart[],
    timeToLiveS: (trace: Uuid) => number): Promise<void> {
    await forEachLimit(largeAtOnce, files, async (file) => {
      const { owner, ownerTrace, name, type } = file
      const liveS = timeToLiveS(ownerTrace)
      const version = hash('sha256', file.data).slice(0, 16)
      const { data, chunks } = await this.#bodies.put(keyOf({ tenant, owner, name, version }),
        file.data, liveS)
      batches.add(`file ${owner}`, {
        cql: `UPDATE ${this.#table} USING TTL ? ` +
          'SET type = ?, trace_id = ?, data = ?, chunks = ?, version = ? ' +
          'WHERE tenant = ? AND owner = ? AND name = ?',
        values: [liveS, type, bytesOfUuid(ownerTrace), data, chunks, version, tenant,
          bytesOfUuid(owner), name],
      }, rowBytes + data.byteLength)
    })
  }

  /** Names and types of the files of a span; with a name, that one with its data. */
  async find(tenant: string, owner: Uuid, name?: string): Promise<readonly FilePart[]> {
    const named = name === undefined ? '' : ' AND name = ?'
    const rows = await this.#connection.read({
      cql: `SELECT ${columns}${name === undefined ? '' : ', data'} FROM ${this.#table} ` +
        `WHERE tenant = ? AND owner = ?${named} LIMIT ${filesMax}`,
      values: [tenant, bytesOfUuid(owner), ...name === undefined ? [] : [name]],
    })
    const files = await Promise.all(rows.map(async (row) => {
      const [type, trace] = [row['type'], row['trace_id']]
      const data = name === undefined
        ? Buffer.alloc(0)
        : await this.#bodies.read(keyIn(tenant, owner, row), row)
      if (data === undefined || type === null || trace === null) return []
      return [{ owner, ownerTrace: uuidOfBytes(trace), name: row['name'], type, data }]
    }))
    return files.flat()
  }

  /** Removes the files of a span. */
  async remove(tenant: string, owner: Uuid): Promise<void> {
    const at = [tenant, bytesOfUuid(owner)]
    const where = `FROM ${this.#table} WHERE tenant = ? AND owner = ?`
    const rows = { cql: `SELECT ${columns} ${where}`, values: at }
    for await (const page of this.#connection.pages(rows, filesMax)) {
      if (page.length > 0) await this.#connection.write({ cql: `DELETE ${where}`, values: at })
      for (const row of page) await this.#bodies.remove(keyIn(tenant, owner, row), row)
    }
  }
}

function keyIn(tenant: string, owner: Uuid, row: Row): string {
  return keyOf({ tenant, owner, name: row['name'], version: row['version'] })
}

function keyOf(
  { tenant, owner, name, version }: { readonly tenant: string; readonly owner: Uuid;
    readonly name: string; readonly version: string },
): string {
  return JSON.stringify(['span_file', tenant, owner, name, version])
}
