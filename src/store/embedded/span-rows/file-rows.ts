/** Attachments of spans. Two projects may each have a span of one id, with files of its own. */

import { bytesOfUuid, uuidOfBytes } from '../../../platform/index.ts'
import type { FilePart, SpanPlace, Uuid } from '../../../platform/index.ts'
import type { Database, Value } from '../file/database.ts'
import type { NumberedProject } from './numbers.ts'
import { rowBytes } from './tenant-use.ts'
import type { TenantUse } from './tenant-use.ts'

type Bytes = Uint8Array

/** The files of all tenants. The first project of an id has its files under the plain id. */
export class FileRows {
  readonly #database: Database
  readonly #use: TenantUse

  constructor(database: Database, use: TenantUse) {
    this.#database = database
    this.#use = use
  }

  /** Writes or replaces a file. Call it after the row of its span was written. */
  put(project: NumberedProject, { owner, ownerTrace, name, type, data }: FilePart): void {
    const { tenant, no } = project
    const plain = bytesOfUuid(owner)
    const key = [no, undefined].includes(this.#plainProject(tenant, plain))
      ? plain
      : ownKey(plain, no)
    const [bytes = -rowBytes.file] = this.#database.prepare<[number]>(
      'SELECT octet_length(data) FROM file WHERE tenant = ? AND owner = ? AND name = ?',
    ).get(tenant, key, name) ?? []
    this.#database.prepare(`
      INSERT INTO file (tenant, owner, name, trace, type, data, project)
      VALUES (?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT DO UPDATE SET type = excluded.type, data = excluded.data
    `).run(tenant, key, name, bytesOfUuid(ownerTrace), type, data, no)
    this.#use.add(tenant, data.byteLength - bytes)
  }

  /** The files of a span by name, with the data of the named file only. */
  list({ tenant, no, id: project }: NumberedProject, owner: Uuid,
    name?: string): readonly FilePart[] {
    const named = name === undefined ? '' : 'AND name = ?'
    return this.#database.prepare<[string, string, Bytes, Bytes]>(`
      SELECT name, type, ${name === undefined ? "x''" : 'data'}, trace FROM file
      WHERE tenant = ? AND owner IN (?, ?) ${named} ORDER BY name
    `).all(tenant, ...this.#keys(tenant, no, owner), ...name === undefined ? [] : [name])
      .map(([found, type, data, trace]) => ({ project, owner, ownerTrace: uuidOfBytes(trace),
        name: found, type, data })
      )
  }

  /** Deletes the files of a span. Call it while the row of the span is there. */
  deleteOfSpan({ tenant, no }: NumberedProject, owner: Uuid): void {
    const plain = bytesOfUuid(owner)
    const isAny = this.#database.prepare(
      'SELECT 1 FROM file WHERE tenant = ? AND owner IN (?, ?) LIMIT 1',
    ).get(tenant, plain, ownKey(plain, no))
    if (isAny === undefined) return
    this.#delete(tenant, 'owner IN (?, ?)', ...this.#keys(tenant, no, owner))
  }

  /** Moves the files of a span to another project. Call it while the row of the span is there. */
  move({ tenant, no: former }: Pick<NumberedProject, 'tenant' | 'no'>, project: number,
    { id, trace }: Pick<SpanPlace, 'id' | 'trace'>): void {
    const plain = bytesOfUuid(id)
    const [first, own] = this.#keys(tenant, former, id)
    const move = this.#database.prepare(
      'UPDATE OR IGNORE file SET owner = ?, project = ?, trace = ? WHERE tenant = ? AND owner = ?',
    )
    if (first !== own) move.run(plain, project, bytesOfUuid(trace), tenant, plain)
    move.run(ownKey(plain, project), project, bytesOfUuid(trace), tenant, own!)
  }

  deleteOfTrace(tenant: number, trace: Bytes): void {
    this.#delete(tenant, 'trace = ?', trace)
  }

  /** Deletes some files of a tenant. Returns how many. */
  deleteSome(tenant: number, limit: number): number {
    return this.#delete(tenant, 'no IN (SELECT no FROM file WHERE tenant = ?2 LIMIT ?3)', tenant,
      limit)
  }

  /** Keys of the files that a span of a project may have. */
  #keys(tenant: number, project: number, owner: Uuid): readonly Bytes[] {
    const plain = bytesOfUuid(owner)
    const own = ownKey(plain, project)
    return [this.#plainProject(tenant, plain) === project ? plain : own, own]
  }

  /** The project of files under a plain id; undefined if there are none. */
  #plainProject(tenant: number, plain: Bytes): number | undefined {
    const [project] = this.#database.prepare<[number | null]>(`
      SELECT coalesce(project, (SELECT min(project) FROM span WHERE tenant = ?1 AND id = ?2))
      FROM file WHERE tenant = ?1 AND owner = ?2 LIMIT 1
    `).get(tenant, plain) ?? []
    return project ?? undefined
  }

  #delete(tenant: number, condition: string, ...values: readonly Value[]): number {
    const deleted = this.#database.prepare<[number]>(`
      DELETE FROM file WHERE tenant = ? AND ${condition} RETURNING octet_length(data)
    `).all(tenant, ...values)
    for (const [bytes] of deleted) this.#use.add(tenant, -(rowBytes.file + bytes))
    return deleted.length
  }
}

/** The key of files of a span whose plain id has files of another project. */
function ownKey(plain: Bytes, project: number): Bytes {
  const number = Buffer.alloc(6)
  number.writeUIntBE(project, 0, 6)
  return Buffer.concat([plain, number])
}
