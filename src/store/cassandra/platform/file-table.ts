/** Attachments of spans. */

import { hash } from 'node:crypto'

import { bytesOfUuid, uuidOfBytes } from '../../../platform/index.ts'
import type { FilePart, FileOwner, Uuid } from '../../../platform/index.ts'
import type { Connection, Row } from '../driver/connection.ts'
import { forEachLimit } from '../driver/for-each-limit.ts'
import type { ConstantBodies } from './constant-bodies.ts'
import type { StatementBatches } from './statement-batches.ts'

/** Large files of a request that are written at a time. */
const largeAtOnce = 2
/** Files of a span that are listed. */
const filesMax = 1_000
const columns = 'name, type, trace_id, chunks, version, project'

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

  /**
   * Adds files to the statements of a request, when the parts of large ones are on a quorum.
   * `isShared` is true for a span whose id another project has, too.
   */
  async add(batches: StatementBatches, tenant: string, files: readonly FilePart[],
    { timeToLiveS, isShared }: FileOptions): Promise<void> {
    await forEachLimit(largeAtOnce, files, async (file) => {
      const { project, owner, ownerTrace, name, type } = file
      const liveS = timeToLiveS(ownerTrace)
      const version = hash('sha256', file.data).slice(0, 16)
      const key = (isShared(file) ? ownKey : plainKey)({ tenant, project, id: owner })
      const { data, chunks } = await this.#bodies.put(
        keyOf({ tenant, owner: key.name, name, version }),
        file.data,
        liveS,
      )
      batches.add(`file ${owner}`, {
        cql: `UPDATE ${this.#table} USING TTL ? ` +
          'SET type = ?, trace_id = ?, data = ?, chunks = ?, version = ?, project = ? ' +
          'WHERE tenant = ? AND owner = ? AND name = ?',
        values: [liveS, type, bytesOfUuid(ownerTrace), data, chunks, version, project, tenant,
          key.bytes, name],
      }, rowBytes + data.byteLength)
    })
  }

  /** Names and types of the files of a span; with a name, that one with its data. */
  async find(place: FileOwner, name?: string): Promise<readonly FilePart[]> {
    const { tenant, project, id: owner } = place
    const named = name === undefined ? '' : ' AND name = ?'
    const found = await Promise.all([plainKey(place), ownKey(place)].map(async (key) => {
      const rows = await this.#connection.read({
        cql: `SELECT ${columns}${name === undefined ? '' : ', data'} FROM ${this.#table} ` +
          `WHERE tenant = ? AND owner = ?${named} LIMIT ${filesMax}`,
        values: [tenant, key.bytes, ...name === undefined ? [] : [name]],
      })
      return Promise.all(rows.filter((row) => isOf(place, row)).map(async (row) => {
        const [type, trace] = [row['type'], row['trace_id']]
        const data = name === undefined
          ? Buffer.alloc(0)
          : await this.#bodies.read(keyIn(tenant, key, row), row)
        if (data === undefined || type === null || trace === null) return []
        return [{ project, owner, ownerTrace: uuidOfBytes(trace), name: row['name'], type, data }]
      }))
    }))
    const files = new Map(found.flat(2).map((file) => [file.name, file]))
    return [...files.values()].toSorted((a, b) => a.name < b.name ? -1 : 1)
  }

  /** Removes the files of a span; with names, only these. */
  async remove(place: FileOwner, names?: ReadonlySet<string>): Promise<void> {
    const { tenant } = place
    for (const key of [plainKey(place), ownKey(place)]) {
      const rows = { cql: `SELECT ${columns} FROM ${this.#table} WHERE tenant = ? AND owner = ?`,
        values: [tenant, key.bytes] }
      for await (const page of this.#connection.pages(rows, filesMax)) {
        const own = page.filter((row) => isOf(place, row) && names?.has(row['name']) !== false)
        for (const row of own) {
          await this.#connection.write({
            cql: `DELETE FROM ${this.#table} WHERE tenant = ? AND owner = ? AND name = ?`,
            values: [tenant, key.bytes, row['name']],
          })
          await this.#bodies.remove(keyIn(tenant, key, row), row)
        }
      }
    }
  }
}

/** Lives of files, by the trace of each, and a test for those whose span's id is shared. */
export interface FileOptions {
  readonly timeToLiveS: (trace: Uuid) => number
  readonly isShared: (file: FilePart) => boolean
}

/** The key of the files of a span: as bytes of a row, and in the names of their parts. */
interface OwnerKey {
  readonly bytes: Buffer
  readonly name: string
}

function plainKey({ id }: FileOwner): OwnerKey {
  return { bytes: bytesOfUuid(id), name: id }
}

/** The key in a project whose span has the id of a span in another project. */
function ownKey({ project, id }: FileOwner): OwnerKey {
  return { bytes: Buffer.concat([bytesOfUuid(id), bytesOfUuid(project)]), name: `${id} ${project}` }
}

/** True if a row is of a place. Rows of earlier programs do not contain their project. */
function isOf({ project }: FileOwner, row: Row): boolean {
  return row['project'] == null || String(row['project']) === project
}

/** Owners of the files of a span in their rows. */
export function fileOwners(place: FileOwner): readonly Buffer[] {
  return [plainKey(place).bytes, ownKey(place).bytes]
}

/** The key of the chunks of a file whose owner a row names. */
export function fileKey(tenant: string, owner: Uint8Array, row: Row): string {
  const bytes = Buffer.from(owner)
  const [id, project] = [bytes.subarray(0, 16), bytes.subarray(16)].map((part) =>
    part.byteLength === 0 ? undefined : uuidOfBytes(part)
  )
  return keyIn(tenant, { bytes, name: project === undefined ? id! : `${id} ${project}` }, row)
}

function keyIn(tenant: string, { name: owner }: OwnerKey, row: Row): string {
  return keyOf({ tenant, owner, name: row['name'], version: row['version'] })
}

function keyOf(
  { tenant, owner, name, version }: { readonly tenant: string; readonly owner: string;
    readonly name: string; readonly version: string },
): string {
  return JSON.stringify(['span_file', tenant, owner, name, version])
}
