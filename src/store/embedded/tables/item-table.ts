/**
 * Rows of items: found by id, and searched by namespace, value and vectors.
 *
 * This is no `OwnedRowTable`: an item has no log, so its epoch alone says which row is newer, and
 * its content is in the body, with the vectors in a table of their own.
 */

import { ItemRow } from '../../../../proto/gen/storage/v1/row.ts'
import { bytesOf } from '../../../checkpoint/index.ts'
import { labelsOf, namespaceText } from '../../../search/index.ts'
import type { ItemName, Namespace, NamespaceQuery } from '../../../search/index.ts'
import type { Database, Statement } from '../file/database.ts'
import { below, rangeOf } from '../search/namespace-range.ts'
import type { NumberOf } from '../search/row-number.ts'
import type { UnlistedShards } from '../search/unlisted-shards.ts'
import type { TenantUses } from './tenant-uses.ts'

/** A row as the writer takes it. */
export interface ItemEntry {
  readonly tenant: string
  readonly itemId: string
  /** An encoded storage.v1.ItemRow with everything. */
  readonly body: Uint8Array
}

/**
 * Tables of items. Vectors are apart, because searches by value do not read them. Each change of
 * them has a higher `version`, and `dims` 0 says that they are gone. Numbers are never used twice.
 * `item_order` has all that a search below a namespace needs to know which rows come next,
 * `item_newest` that of a search in all namespaces.
 */
export const itemSchema = `
  CREATE TABLE item (
    no INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    item_id TEXT NOT NULL,
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    body BLOB NOT NULL
  );
  CREATE UNIQUE INDEX item_item_id ON item (tenant, item_id);
  CREATE INDEX item_order ON item (tenant, namespace, updated_at DESC, key, expires_at);
  CREATE INDEX item_newest ON item (tenant, updated_at DESC, namespace, key, expires_at);
  CREATE INDEX item_expiry ON item (expires_at, updated_at) WHERE expires_at > 0;
  CREATE TABLE item_vectors (
    no INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    version INTEGER NOT NULL,
    dims INTEGER NOT NULL,
    vectors BLOB NOT NULL
  );
  CREATE UNIQUE INDEX item_vectors_version ON item_vectors (version);
  CREATE INDEX item_vectors_tenant ON item_vectors (tenant, version);
  CREATE INDEX item_vectors_gone ON item_vectors (no) WHERE dims = 0;
`

const noVectors = Buffer.alloc(0)

type Put = readonly [no: number]
type Stored = readonly [body: Uint8Array, dims: number | null, vectors: Uint8Array | null]

/** Stores rows of items. Belongs to `Tables`. */
export class ItemTable {
  readonly #database: Database
  readonly #numberOf: NumberOf
  readonly #unlisted: UnlistedShards | undefined
  readonly #uses: TenantUses
  readonly #get: Statement<Stored>
  readonly #bytes: Statement<readonly [bytes: number, no: number]>
  readonly #put: Statement<Put>
  readonly #putVectors: Statement<never>
  readonly #dropVectors: Statement<never>
  readonly #remove: Statement<never>
  /** The newest version of vectors that was given, also to rows that are gone. */
  #version: number | undefined

  /** Without `numberOf`, SQLite numbers new rows. */
  constructor(database: Database, uses: TenantUses, numberOf: NumberOf = () => null,
    unlisted?: UnlistedShards) {
    this.#database = database
    this.#uses = uses
    this.#numberOf = numberOf
    this.#unlisted = unlisted
    const columns = ['namespace', 'key', 'epoch', 'updated_at', 'expires_at', 'bytes', 'body']
    this.#get = database.prepare(`SELECT body, dims, vectors FROM item
      LEFT JOIN item_vectors USING (no) WHERE item.tenant = ? AND item_id = ?`)
    this.#bytes = database.prepare(
      'SELECT bytes, no FROM item WHERE tenant = ? AND item_id = ?',
    )
    this.#put = database.prepare(`
      INSERT INTO item (no, tenant, item_id, ${columns.join(', ')})
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, item_id)
      DO UPDATE SET ${columns.map((each) => `${each} = excluded.${each}`).join(', ')}
      WHERE excluded.epoch >= epoch RETURNING no`)
    this.#putVectors = database.prepare(
      `INSERT OR REPLACE INTO item_vectors VALUES (?, ?, ?, ?, ?)`,
    )
    this.#dropVectors = database.prepare(`UPDATE item_vectors
      SET version = ?, dims = 0, vectors = x'' WHERE no = ? AND dims > 0`)
    this.#remove = database.prepare('DELETE FROM item WHERE no = ?')
  }

  /** Forgets vectors that are gone. Call before anything keeps versions in memory. */
  begin(): void {
    this.#database.prepare('DELETE FROM item_vectors WHERE dims = 0').run()
  }

  /** The encoded row with its vectors. */
  get(tenant: string, id: string): Uint8Array | undefined {
    const found = this.#get.get(tenant, id)
    if (found === undefined) return undefined
    const [body, dims, vectors] = found
    if (!dims || vectors === null) return body
    return bytesOf(ItemRow, { ...ItemRow.decode(body), dims, vectors: Buffer.from(vectors) })
  }

  /** Stores a row. Changes nothing if the stored row is of a newer owner. */
  put({ tenant, itemId: id, body }: ItemEntry): void {
    const { vectors, dims, ...row } = ItemRow.decode(body)
    const { namespace, key, epoch, updatedAtMs, expiresAtMs } = row
    const [before = 0] = this.#bytes.get(tenant, id) ?? []
    const content = dims === 0 ? body : bytesOf(ItemRow, { ...row, dims: 0, vectors: noVectors })
    const put = this.#put.get(this.#numberOf(tenant, id), tenant, id, namespaceText(namespace), key,
      epoch, updatedAtMs, expiresAtMs, body.byteLength, content)
    if (put === undefined) return
    const [no] = put
    if (dims === 0) this.#dropVectors.run(this.#nextVersion(), no)
    else this.#putVectors.run(no, tenant, this.#nextVersion(), dims, vectors)
    this.#uses.addBytes({ tenant, no }, body.byteLength - before)
  }

  remove({ tenant, id }: ItemName): void {
    const found = this.#bytes.get(tenant, id)
    if (found === undefined) return
    const [bytes, no] = found
    this.#dropVectors.run(this.#nextVersion(), no)
    this.#remove.run(no)
    this.#uses.addBytes({ tenant, no }, -bytes)
  }

  /** Never lower than before: the newest rows may have left with their shard. */
  #nextVersion(): number {
    this.#version ??= this.#database.prepare<readonly [version: number]>(
      'SELECT coalesce(max(version), 0) FROM item_vectors',
    ).get()![0]
    return ++this.#version
  }

  /** Items that were deleted or have expired before that time, at most `limit`. */
  ended(beforeMs: number, limit: number): ItemName[] {
    const all = this.#database.prepare<readonly [tenant: string, id: string]>(
      `SELECT tenant, item_id FROM item WHERE expires_at > 0 AND expires_at < :before
        AND updated_at < :before ${this.#unlisted?.condition('no') ?? ''} LIMIT :limit`,
    )
    return all.all({ before: beforeMs, limit }).map(([tenant, id]) => ({ tenant, id }))
  }

  /** All namespaces of a tenant that have an item, as far as the first condition tells. */
  *namespaces({ tenant, conditions, nowMs }: NamespaceQuery): Generator<Namespace, void, void> {
    const path = conditions.find(({ matchType }) => matchType === 'prefix')?.path ?? []
    const plain = path.includes('*') ? path.slice(0, path.indexOf('*')) : path
    const all = this.#database.prepare<readonly [namespace: string]>(
      `SELECT DISTINCT namespace FROM item INDEXED BY item_order WHERE ${below(plain)}
        AND (expires_at = 0 OR expires_at > :now)
        ${this.#unlisted?.condition('no') ?? ''}`,
    )
    for (const [text] of all.iterate({ tenant, ...rangeOf(plain), now: nowMs }))
      yield labelsOf(text)
  }
}
