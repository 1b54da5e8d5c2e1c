/** Links for feedback: found by the hash of their token, and listed by their span. */

import { FeedbackTokenRow } from '../../../../proto/gen/storage/v1/span.ts'
import { bytesOfUuid, uuidOfBytes } from '../../../platform/index.ts'
import type { FeedbackToken, Uuid } from '../../../platform/index.ts'
import type { Env } from '../../../../cluster/index.ts'
import type { Connection, Row } from '../driver/connection.ts'

/** Links of a span that are listed. */
const listedMax = 1_000
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
    const owners = [ownerOf(token.hash), ownerOf(token.tenant, token.span)]
    await Promise.all(owners.map((owner) =>
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

/** A hash is one text; a tenant and a span are two. */
function ownerOf(...parts: readonly string[]): string {
  return JSON.stringify(parts)
}
