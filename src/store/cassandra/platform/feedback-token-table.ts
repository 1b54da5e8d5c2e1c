/**
 * Links for feedback: found by the hash of their token, and listed by their span and, in groups, by
 * their tenant. Earlier programs write no list of a tenant.
 */

import { FeedbackTokenRow } from '../../../../proto/gen/storage/v1/span.ts'
import { bytesOfUuid, uuidOfBytes } from '../../../platform/index.ts'
import type { FeedbackToken, Uuid } from '../../../platform/index.ts'
import type { Env } from '../../../../cluster/index.ts'
import type { Connection, Row } from '../driver/connection.ts'
import { forEachLimit } from '../driver/for-each-limit.ts'

/** Links of a span that are listed. */
const listedMax = 1_000
/** Digits of a hash that are a group of the list of a tenant, and groups read at a time. */
const [groupDigits, groupsAtOnce] = [2, 16]
/** Links of a page, with and without bodies, which have up to 64 KB in rows of earlier programs. */
const [bodiesOfPage, hashesOfPage] = [20, 100]
/** Time after the write of a link in one list by which all lists have it. */
const writesUs = 10_000_000n
/** Seconds for which a row is kept, at least and at most. */
const [livesMinS, livesMaxS] = [60, 400 * 24 * 60 * 60]

/** Keeps links until they expire. */
export class FeedbackTokenTable {
  readonly #connection: Connection
  readonly #env: Pick<Env, 'nowMs'>
  readonly #table: string

  constructor(connection: Connection, env: Pick<Env, 'nowMs'>) {
    this.#connection = connection
    this.#env = env
    this.#table = `${connection.keyspace}.feedback_token`
  }

  async put(token: FeedbackToken): Promise<void> {
    const liveS = Math.ceil((token.expiresMs - this.#env.nowMs()) / 1_000)
    const body = bytesOf(token)
    const { alone, ofSpan, ofTenant } = ownersOf(token)
    // Who removes all links of a tenant needs their spans only.
    const listed = bytesOf({ ...token, key: '', configJson: '' })
    const rows = [[alone, body], [ofSpan, body], [ofTenant, listed]] as const
    await Promise.all(rows.map(([owner, bytes]) =>
      this.#connection.repeatableBatch([{
        cql: `UPDATE ${this.#table} USING TTL ? SET body = ? WHERE owner = ? AND hash = ?`,
        values: [Math.min(livesMaxS, Math.max(livesMinS, liveS)), bytes, owner, token.hash],
      }])
    ))
  }

  async find(hash: string, nowMs: number): Promise<FeedbackToken | undefined> {
    const [token] = await this.#of(ownerOf(hash))
    return token !== undefined && token.expiresMs > nowMs ? token : undefined
  }

  list(tenant: string, span: Uuid): Promise<readonly FeedbackToken[]> {
    return this.#of(ownerOf(tenant, span))
  }

  /** True if a span has links. */
  async hasSome(tenant: string, span: Uuid): Promise<boolean> {
    const rows = await this.#connection.read({
      cql: `SELECT hash FROM ${this.#table} WHERE owner = ? LIMIT 1`,
      values: [ownerOf(tenant, span)],
    })
    return rows.length > 0
  }

  /** Removes the links of a span. */
  async removeOf(tenant: string, span: Uuid): Promise<void> {
    for await (const rows of this.#pages(ownerOf(tenant, span), 'hash', hashesOfPage)) {
      for (const { hash, written } of rows) await this.#remove({ hash, tenant, span }, written)
    }
  }

  /** Removes the links of a tenant. Returns how many. */
  async removeAll(tenant: string): Promise<number> {
    const groups = Array.from({ length: 16 ** groupDigits },
      (_, number) => number.toString(16).padStart(groupDigits, '0'))
    let count = 0
    await forEachLimit(groupsAtOnce, groups, async (group) => {
      for await (const rows of this.#pages(ownerOf(tenant, group), 'hash, body', bodiesOfPage)) {
        for (const row of rows) {
          for (const link of tokenOf(row)) await this.#remove(link, row.written)
        }
        count += rows.length
      }
    })
    return count
  }

  /**
   * Removes a link from its list last, so that a removal that was cut off finds the rest. A member
   * whose clock is ahead may have written it, so its removal is later than its write. The same link
   * is never written again.
   */
  async #remove(link: Pick<FeedbackToken, 'hash' | 'tenant' | 'span'>,
    written: bigint | null): Promise<void> {
    const nowUs = BigInt(Math.floor(this.#env.nowMs() * 1_000))
    const latestUs = written !== null && written > nowUs ? written : nowUs
    const { alone, ofSpan, ofTenant } = ownersOf(link)
    for (const owner of [alone, ofSpan, ofTenant]) {
      await this.#connection.repeatableBatch([{
        cql: `DELETE FROM ${this.#table} USING TIMESTAMP ? WHERE owner = ? AND hash = ?`,
        values: [latestUs + writesUs, owner, link.hash],
      }])
    }
  }

  /** Yields the links of a list in the order of their hashes, each once. */
  async *#pages(owner: string, columns: string,
    limit: number): AsyncGenerator<readonly Row[], void, void> {
    let last = ''
    for (;;) {
      const rows = await this.#connection.read({
        cql: `SELECT ${columns}, WRITETIME(body) AS written FROM ${this.#table} ` +
          `WHERE owner = ? AND hash > ? LIMIT ${limit}`,
        values: [owner, last],
      })
      yield rows
      if (rows.length < limit) return
      last = rows.at(-1)!.hash
    }
  }

  async #of(owner: string): Promise<readonly FeedbackToken[]> {
    const rows = await this.#connection.read({
      cql: `SELECT body FROM ${this.#table} WHERE owner = ? LIMIT ${listedMax}`,
      values: [owner],
    })
    return rows.flatMap(tokenOf)
  }
}

function tokenOf(row: Row): readonly FeedbackToken[] {
  const body = row['body']
  if (body === null) return []
  const { id, span, ...rest } = FeedbackTokenRow.decode(body)
  return [{ ...rest, id: uuidOfBytes(id), span: uuidOfBytes(span) }]
}

function bytesOf(token: FeedbackToken): Buffer {
  return Buffer.from(
    FeedbackTokenRow.encode({ ...token, id: bytesOfUuid(token.id), span: bytesOfUuid(token.span) })
      .finish(),
  )
}

/** The partitions of a link: by itself, of its span, and of its tenant. */
function ownersOf({ hash, tenant, span }: Pick<FeedbackToken, 'hash' | 'tenant' | 'span'>) {
  return { alone: ownerOf(hash), ofSpan: ownerOf(tenant, span),
    ofTenant: ownerOf(tenant, hash.slice(0, groupDigits)) }
}

/** A hash is one text; a tenant and a span, or a group, are two. */
function ownerOf(...parts: readonly string[]): string {
  return JSON.stringify(parts)
}
