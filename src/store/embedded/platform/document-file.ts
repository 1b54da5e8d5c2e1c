/**
 * Documents in a file of their own: `traces.db` removes what is oldest when it is full, and a
 * backup may leave it out.
 */

import { mkdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'

import { HeddleError } from '../../../errors.ts'
import { bytesOfUuid, documentPage } from '../../../platform/index.ts'
import type { Document, DocumentPlace, DocumentPort,
  DocumentRange } from '../../../platform/index.ts'
import { Database } from '../file/database.ts'
import type { Value } from '../file/database.ts'
import { callerDiskError, isDamage } from '../file/disk-error.ts'
import type { SchemaStep } from '../file/schema-version.ts'
import { provideFile } from '../writer/database-file.ts'

/** The steps of the schema. A step never changes. Each statement may run twice. */
const documentSchema: readonly SchemaStep[] = [{ oldest: 1, sql: `
  CREATE TABLE IF NOT EXISTS document (
    no INTEGER PRIMARY KEY, tenant TEXT NOT NULL, kind TEXT NOT NULL, owner BLOB NOT NULL,
    key TEXT NOT NULL, body BLOB NOT NULL, UNIQUE (tenant, kind, owner, key));
` }]

/** Data directory of the documents, and the access to it. */
export interface DocumentFileOptions {
  readonly directory: string
  readonly access: 'write' | 'read'
}

type Row = readonly [key: string, body: Uint8Array]

const ofPlace = 'tenant = ? AND kind = ? AND owner = ?'

/** The documents of one thread, over the file `documents.db`, opened when it is first needed. */
export class DocumentFile implements DocumentPort {
  readonly #options: DocumentFileOptions
  readonly #path: string
  #open: { readonly database: Database; readonly inode: number } | undefined
  #closed = false

  constructor(options: DocumentFileOptions) {
    this.#options = options
    this.#path = join(resolve(options.directory), 'documents.db')
  }

  putDocuments(place: DocumentPlace, documents: readonly Document[]): Promise<void> {
    return this.#change((database) => {
      const put = database.prepare(`
        INSERT INTO document (tenant, kind, owner, key, body) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT DO UPDATE SET body = excluded.body
      `)
      for (const { key, body } of documents) put.run(...valuesOf(place), key, body)
    })
  }

  deleteDocuments(place: DocumentPlace, keys: readonly string[]): Promise<void> {
    return this.#change((database) => {
      const remove = database.prepare(`DELETE FROM document WHERE ${ofPlace} AND key = ?`)
      for (const key of keys) remove.run(...valuesOf(place), key)
    })
  }

  dropDocuments(place: DocumentPlace): Promise<void> {
    return this.#change((database) => {
      database.prepare(`DELETE FROM document WHERE ${ofPlace}`).run(...valuesOf(place))
    })
  }

  getDocuments(place: DocumentPlace, keys: readonly string[]): Promise<readonly Document[]> {
    return this.#read((database) => {
      const get = database.prepare<Row>(
        `SELECT key, body FROM document WHERE ${ofPlace} AND key = ?`,
      )
      return [...new Set(keys)].flatMap((key) => {
        const row = get.get(...valuesOf(place), key)
        return row === undefined ? [] : [documentOf(row)]
      })
    })
  }

  listDocuments(place: DocumentPlace, range: DocumentRange): Promise<readonly Document[]> {
    const { after = '', before = '\u007f', reverse = false, bytes = documentPage.bytes } = range
    const limit = Math.min(range.limit, documentPage.documents)
    return this.#read((database) => {
      const rows = database.prepare<Row>(`
        SELECT key, body FROM document WHERE ${ofPlace} AND key > ? AND key < ?
        ORDER BY key ${reverse ? 'DESC' : 'ASC'} LIMIT ?
      `).iterate(...valuesOf(place), after, before, limit)
      const found: Document[] = []
      let size = 0
      for (const row of rows) {
        size += row[1].byteLength
        if (found.length > 0 && size > bytes) break
        found.push(documentOf(row))
      }
      return found
    })
  }

  /** Closes the file. */
  close(): void {
    this.#closed = true
    this.#release()
  }

  async #change(work: (database: Database) => void): Promise<void> {
    await this.#asked(() => {
      const database = this.#database!
      database.transaction(() => work(database))
      database.tidy()
    })
  }

  async #read(
    work: (database: Database) => readonly Document[],
  ): Promise<readonly Document[]> {
    return await this.#asked(() => {
      const database = this.#database
      return database === undefined ? [] : work(database)
    })
  }

  async #asked<Result>(work: () => Result): Promise<Result> {
    try {
      return work()
    } catch (error) {
      if (isDamage(error)) this.#release()
      throw callerDiskError(error, this.#path)
    }
  }

  /** Undefined for a thread that reads if nothing was ever written. */
  get #database(): Database | undefined {
    if (this.#closed) throw new HeddleError('unavailable')
    const file = statSync(this.#path, { throwIfNoEntry: false })
    // What is written into a file that was moved away would be lost.
    if (this.#open !== undefined && this.#open.inode === file?.ino) return this.#open.database
    this.#release()
    const { access, directory } = this.#options
    if (access === 'read' && !file?.size) return undefined
    if (access === 'write') {
      mkdirSync(directory, { recursive: true })
      provideFile(this.#path)
    }
    const database = new Database(this.#path, documentSchema)
    this.#open = { database, inode: statSync(this.#path).ino }
    return database
  }

  #release(): void {
    this.#open?.database.close()
    this.#open = undefined
  }
}

function valuesOf({ tenant, kind, owner }: DocumentPlace): Value[] {
  return [tenant, kind, bytesOfUuid(owner)]
}

function documentOf([key, body]: Row): Document {
  return { key, body }
}
