/** Documents: bytes by key, in the order of keys. Large bodies are in chunks. */

import { hash } from 'node:crypto'

import { bytesOfUuid, documentPage } from '../../../platform/index.ts'
import type { Document, DocumentPlace, DocumentPort,
  DocumentRange } from '../../../platform/index.ts'
import type { Connection, Row } from '../driver/connection.ts'
import { forEachLimit } from '../driver/for-each-limit.ts'
import type { ConstantBodies } from './constant-bodies.ts'
import { StatementBatches } from './statement-batches.ts'

/** Large documents of a request that are written or read at a time. */
const largeAtOnce = 4
/** Keys that are read with one statement. */
const keysTogether = 100
/** Rows that are read together: their bodies are up to 256 KB each. */
const rowsTogether = 100
/** Bytes of a row besides its body. */
const rowBytes = 200
/** Time to live of documents: they stay until they are deleted. */
const forEver = 0

const ofPlace = 'tenant = ? AND kind = ? AND owner = ?'
const columns = 'key, data, chunks, version'

/** Writes and reads documents of the platform. */
export class DocumentTable implements DocumentPort {
  readonly #connection: Connection
  readonly #bodies: ConstantBodies
  readonly #table: string

  constructor(connection: Connection, bodies: ConstantBodies) {
    this.#connection = connection
    this.#bodies = bodies
    this.#table = `${connection.keyspace}.document`
  }

  async putDocuments(place: DocumentPlace, documents: readonly Document[]): Promise<void> {
    const before = await this.#rows(place, documents.map(({ key }) => key), 'key, chunks, version')
    const batches = new StatementBatches()
    const written = new Map<string, string>()
    await forEachLimit(largeAtOnce, documents, async ({ key, body }) => {
      const version = hash('sha256', body).slice(0, 16)
      const { data, chunks } = await this.#bodies.put(chunkKey(place, key, version), body, forEver)
      written.set(key, version)
      batches.add('', {
        cql: `UPDATE ${this.#table} SET data = ?, chunks = ?, version = ? WHERE ${ofPlace} ` +
          'AND key = ?',
        values: [data, chunks, version, ...valuesOf(place), key],
      }, rowBytes + data.byteLength)
    })
    await batches.write(this.#connection)
    const replaced = before.filter((row) => row['version'] !== written.get(keyOf(row)))
    await this.#removeChunks(place, replaced)
  }

  async getDocuments(place: DocumentPlace, keys: readonly string[]): Promise<readonly Document[]> {
    return await this.#documents(place, await this.#rows(place, keys, columns))
  }

  async listDocuments(place: DocumentPlace, range: DocumentRange): Promise<readonly Document[]> {
    const { after = '', before = '\u007f', reverse = false, bytes = documentPage.bytes } = range
    const limit = Math.min(range.limit, documentPage.documents)
    const pages = this.#connection.pages({
      cql: `SELECT ${columns} FROM ${this.#table} WHERE ${ofPlace} AND key > ? AND key < ? ` +
        `ORDER BY key ${reverse ? 'DESC' : 'ASC'} LIMIT ${limit}`,
      values: [...valuesOf(place), after, before],
    }, Math.min(limit, rowsTogether))
    const found: Document[] = []
    let size = 0
    for await (const rows of pages) {
      for (const document of await this.#documents(place, rows)) {
        size += document.body.byteLength
        if (found.length > 0 && size > bytes) return found
        found.push(document)
      }
    }
    return found
  }

  async deleteDocuments(place: DocumentPlace, keys: readonly string[]): Promise<void> {
    const before = await this.#rows(place, keys, 'key, chunks, version')
    const batches = new StatementBatches()
    for (const key of keys) {
      batches.add('', { cql: `DELETE FROM ${this.#table} WHERE ${ofPlace} AND key = ?`,
        values: [...valuesOf(place), key] }, rowBytes)
    }
    await batches.write(this.#connection)
    await this.#removeChunks(place, before)
  }

  async dropDocuments(place: DocumentPlace): Promise<void> {
    const rows = { cql: `SELECT key, chunks, version FROM ${this.#table} WHERE ${ofPlace}`,
      values: valuesOf(place) }
    // First what can be found only through the rows.
    for await (const page of this.#connection.pages(rows, documentPage.documents)) {
      await this.#removeChunks(place, page)
    }
    await this.#connection.write({ cql: `DELETE FROM ${this.#table} WHERE ${ofPlace}`,
      values: valuesOf(place) })
  }

  async #rows(place: DocumentPlace, keys: readonly string[], of: string): Promise<readonly Row[]> {
    const found: Row[] = []
    for (let at = 0; at < keys.length; at += keysTogether) {
      const some = keys.slice(at, at + keysTogether)
      found.push(...await this.#connection.read({
        cql: `SELECT ${of} FROM ${this.#table} WHERE ${ofPlace} ` +
          `AND key IN (${some.map(() => '?').join(', ')})`,
        values: [...valuesOf(place), ...some],
      }))
    }
    return found
  }

  /** A body that was replaced meanwhile is missing, as if it had been asked for later. */
  async #documents(place: DocumentPlace, rows: readonly Row[]): Promise<readonly Document[]> {
    const bodies = new Map<Row, Uint8Array | undefined>()
    await forEachLimit(largeAtOnce, rows, async (row) => {
      bodies.set(row, await this.#bodies.read(chunkKeyOf(place, row), row))
    })
    return rows.flatMap((row) => {
      const body = bodies.get(row)
      return body === undefined ? [] : [{ key: keyOf(row), body }]
    })
  }

  async #removeChunks(place: DocumentPlace, rows: readonly Row[]): Promise<void> {
    await forEachLimit(largeAtOnce, rows, (row) => this.#bodies.remove(chunkKeyOf(place, row), row))
  }
}

function valuesOf({ tenant, kind, owner }: DocumentPlace) {
  return [tenant, kind, bytesOfUuid(owner)]
}

function keyOf(row: Row): string {
  return row['key']
}

function chunkKeyOf(place: DocumentPlace, row: Row): string {
  return chunkKey(place, keyOf(row), row['version'])
}

function chunkKey({ tenant, kind, owner }: DocumentPlace, key: string, version: string): string {
  return JSON.stringify(['document', tenant, kind, owner, key, version])
}
