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
    const body = Buffer.from(
      FeedbackTokenRow.encode({ ...token, id: bytesOfUuid(token.id),
        span: bytesOfUuid(token.span) }).finish(),
    )
    await Promise.all(ownersOf(token).map((owner) =>
      this.#connection.repeatableBatch([{
        cql: `UPDATE ${this.#table} USING TTL ? SET body = ? WHERE owner = ? AND hash = ?`,
        values: [Math.min(livesMaxS, Math.max(livesMinS, liveS)), body, owner, token.hash],
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

  /** Removes links, of which their list goes last: a removal that was cut off finds the rest. */
  async remove(tokens: readonly FeedbackToken[]): Promise<void> {
    for (const token of tokens) {
      for (const owner of ownersOf(token)) {
        await this.#connection.repeatableBatch([{
          cql: `DELETE FROM ${this.#table} WHERE owner = ? AND hash = ?`,
          values: [owner, token.hash],
        }])
      }
    }
  }

  /** Removes the links of a tenant. Returns how many. */
  async removeAll(tenant: string): Promise<number> {
    const groups = Array.from({ length: 16 ** groupDigits },
      (_, number) => number.toString(16).padStart(groupDigits, '0'))
    let count = 0
    await forEachLimit(groupsAtOnce, groups, async (group) => {
      for (;;) {
        const some = await this.#of(ownerOf(tenant, group))
        if (some.length === 0) return
        await this.remove(some)
        count += some.length
      }
    })
    return count
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

/** The partitions of a link: by itself, of its span, and of its tenant. */
function ownersOf({ hash, tenant, span }: FeedbackToken): readonly string[] {
  return [ownerOf(hash), ownerOf(tenant, span), ownerOf(tenant, hash.slice(0, groupDigits))]
}

/** A hash is one text; a tenant and a span, or a group, are two. */
function ownerOf(...parts: readonly string[]): string {
  return JSON.stringify(parts)
}
