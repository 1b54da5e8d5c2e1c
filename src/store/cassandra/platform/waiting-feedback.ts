/**
 * Feedback on spans that are not known yet: clients send it while the span is still on its way.
 * Whoever writes feedback notes it here and then looks for the span; whoever writes a span then
 * looks here. So one of the two finds the other, and gives the span its mark.
 */

import { bytesOfUuid, uuidOfBytes } from '../../../platform/index.ts'
import type { Uuid } from '../../../platform/index.ts'
import type { Connection } from '../driver/connection.ts'
import { forEachLimit } from '../driver/for-each-limit.ts'
import { idMinute } from './rows/partition-key.ts'

/** Ids that one statement asks for, statements at a time, and rows that are read at a time. */
const [idsOfRead, readsAtOnce, page] = [100, 16, 1_000]
/** Seconds that feedback waits for its span. */
const waitsS = 24 * 60 * 60

/** A piece of feedback that waits. */
export interface Waiting {
  readonly span: Uuid
  readonly id: Uuid
}

/** Notes which feedback waits for which span. */
export class WaitingFeedback {
  readonly #connection: Connection
  readonly #table: string

  constructor(connection: Connection) {
    this.#connection = connection
    this.#table = `${connection.keyspace}.feedback_waiting`
  }

  async add(tenant: string, { span, id }: Waiting): Promise<void> {
    await this.#connection.repeatableBatch([{
      cql: `UPDATE ${this.#table} USING TTL ? SET present = true ` +
        'WHERE tenant = ? AND minute = ? AND span_id = ? AND id = ?',
      values: [waitsS, tenant, idMinute(span), bytesOfUuid(span), bytesOfUuid(id)],
    }])
  }

  /** Feedback that waits for any of these spans. */
  async for(tenant: string, spans: Iterable<Uuid>): Promise<readonly Waiting[]> {
    const found: Waiting[] = []
    const reads = [...Map.groupBy(new Set(spans), idMinute)].flatMap(([minute, all]) =>
      Array.from({ length: Math.ceil(all.length / idsOfRead) },
        (_, index) => ({ minute, ids: all.slice(index * idsOfRead, (index + 1) * idsOfRead) }))
    )
    await forEachLimit(readsAtOnce, reads, async ({ minute, ids }) => {
      const statement = {
        cql: `SELECT span_id, id FROM ${this.#table} ` +
          'WHERE tenant = ? AND minute = ? AND span_id IN ?',
        values: [tenant, minute, ids.map(bytesOfUuid)],
      }
      for await (const rows of this.#connection.pages(statement, page)) {
        for (const row of rows) {
          found.push({ span: uuidOfBytes(row['span_id']), id: uuidOfBytes(row['id']) })
        }
      }
    })
    return found
  }

  async remove(tenant: string, { span, id }: Waiting): Promise<void> {
    await this.#connection.repeatableBatch([{
      cql: `DELETE FROM ${this.#table} ` +
        'WHERE tenant = ? AND minute = ? AND span_id = ? AND id = ?',
      values: [tenant, idMinute(span), bytesOfUuid(span), bytesOfUuid(id)],
    }])
  }
}
