/** Locations of spans by their ids: the start of a span, and its trace. */

import { bytesOfUuid, uuidOfBytes } from '../../../platform/index.ts'
import type { SpanPlace, Uuid } from '../../../platform/index.ts'
import type { Connection, Row, Statement } from '../driver/connection.ts'
import { forEachLimit } from '../driver/for-each-limit.ts'
import { partitionOf } from './block-table.ts'
import { idMinute } from './rows/partition-key.ts'
import type { StatementBatches } from './statement-batches.ts'

/** Ids that one statement asks for, and such statements at a time. */
const [idsOfRead, readsAtOnce] = [100, 16]

const rowBytes = 150

/** Writes and reads locations of spans. */
export class LocationTable {
  readonly #connection: Connection
  readonly #table: string

  constructor(connection: Connection) {
    this.#connection = connection
    this.#table = `${connection.keyspace}.span_location`
  }

  /** Adds places to what a request writes, each once, at `atUs` or now. */
  add(batches: StatementBatches, places: readonly SpanPlace[],
    timeToLiveS: (project: Uuid) => number, atUs?: number): void {
    const cql =
      `UPDATE ${this.#table} USING ${atUs === undefined ? '' : 'TIMESTAMP ? AND '}TTL ? ` +
      'SET start_us = ?, trace_id = ?, trace_start_us = ? ' +
      'WHERE tenant = ? AND minute = ? AND span_id = ? AND project = ?'
    const once = new Map(places.map((place) => [`${place.id} ${place.project}`, place]))
    for (const { tenant, project, startUs, id, trace, traceStartUs } of once.values()) {
      const minute = idMinute(id)
      batches.add(partitionOf(minute), { cql,
        values: [...atUs === undefined ? [] : [BigInt(atUs)], timeToLiveS(project), BigInt(startUs),
          bytesOfUuid(trace), BigInt(traceStartUs), tenant, minute, bytesOfUuid(id), project] },
        rowBytes)
    }
  }

  /** All places of spans: one for each project that has a span of such an id. */
  async find(tenant: string, ids: readonly Uuid[]): Promise<readonly SpanPlace[]> {
    const places: SpanPlace[] = []
    const parts = [...Map.groupBy(new Set(ids), idMinute)].flatMap(([minute, all]) =>
      Array.from({ length: Math.ceil(all.length / idsOfRead) },
        (_, index) => ({ minute, part: all.slice(index * idsOfRead, (index + 1) * idsOfRead) }))
    )
    await forEachLimit(readsAtOnce, parts, async ({ minute, part }) => {
      const statement = {
        cql: `SELECT span_id, project, start_us, trace_id, trace_start_us FROM ${this.#table} ` +
          'WHERE tenant = ? AND minute = ? AND span_id IN ?',
        values: [tenant, minute, part.map(bytesOfUuid)],
      }
      for await (const rows of this.#connection.pages(statement, 1_000)) {
        places.push(...rows.flatMap((row) => placeOf(tenant, row)))
      }
    })
    return places
  }

  /** Removes the location of a place. */
  removal({ tenant, id, project }: SpanPlace): Statement {
    return { cql: `DELETE FROM ${this.#table} ` +
      'WHERE tenant = ? AND minute = ? AND span_id = ? AND project = ?',
      values: [tenant, idMinute(id), bytesOfUuid(id), project] }
  }
}

function placeOf(tenant: string, row: Row): readonly SpanPlace[] {
  const trace = row['trace_id']
  if (trace === null || row['start_us'] === null || row['trace_start_us'] === null) return []
  return [{ tenant, project: String(row['project']), startUs: Number(row['start_us']),
    id: uuidOfBytes(row['span_id']), trace: uuidOfBytes(trace),
    traceStartUs: Number(row['trace_start_us']) }]
}
