/** Heads of spans: a row each, in partitions by project and time. */

import { types } from 'cassandra-driver'

import { bytesOfUuid, uuidOfBytes } from '../../../platform/index.ts'
import type { Hour, ScanMark, SpanHead, SpanPlace, SpanWrite, Term,
  Uuid } from '../../../platform/index.ts'
import type { Connection, Row, Statement, Value } from '../driver/connection.ts'
import { forEachLimit } from '../driver/for-each-limit.ts'
import { cellOf, headColumns, headOf, tracedOperationsOf } from './rows/operation-cell.ts'
import type { HeadRow, TracedOperation } from './rows/operation-cell.ts'
import { bucketOf, hourOf, hourUs } from './rows/partition-key.ts'
import type { StatementBatches } from './statement-batches.ts'

/** The index term of all roots, which no hash makes. */
export const rootTerm: Term = 1n

/** Rows that one statement asks for by their place, and such statements at a time. */
const [placesAtOnce, readsAtOnce] = [100, 8]

/** Bytes of a cell of an operation and of a term, besides their content. */
const [cellBytes, termBytes] = [80, 30]

/** A part of a partition: from one position to before another, in the order of starts and ids. */
export interface BucketRange {
  readonly tenant: string
  readonly project: Uuid
  readonly bucket: number
  readonly from: Position
  readonly to: Position
  readonly order: 'newest' | 'oldest'
}

/** A place in the order of a partition. The bytes of an id, or none for before all ids. */
export interface Position {
  readonly startUs: number
  readonly id: Buffer
}

/** Position before all spans that begin at a time. */
export function positionAt(startUs: number): Position {
  return { startUs, id: Buffer.alloc(0) }
}

/** Position of this span, or right after it. */
export function positionOf({ startUs, id }: ScanMark, side: 'at' | 'after'): Position {
  const bytes = bytesOfUuid(id)
  return { startUs, id: side === 'at' ? bytes : Buffer.concat([bytes, Buffer.alloc(1)]) }
}

const inPartition = 'tenant = ? AND project = ? AND bucket = ?'
const inRange = `${inPartition} AND (start_us, span_id) >= (?, ?) AND (start_us, span_id) < (?, ?)`
const atPlace = `${inPartition} AND start_us = ? AND span_id = ?`

/** Writes and reads heads of spans. */
export class SpanTable {
  readonly #connection: Connection
  readonly #table: string

  constructor(connection: Connection) {
    this.#connection = connection
    this.#table = `${connection.keyspace}.span_head`
  }

  /** Adds operations to the statements of a request. */
  add(batches: StatementBatches, spans: readonly SpanWrite[],
    timeToLiveS: (project: Uuid) => number): void {
    const cql = `UPDATE ${this.#table} USING TTL ? SET ops[?] = ?, terms = terms + ? ` +
      `WHERE ${atPlace}`
    const counts = new Map<string, number>()
    for (const span of spans) {
      const { place: { tenant, project, startUs, id }, terms } = span
      const name = `${project} ${id}`
      const nth = counts.get(name) ?? 0
      counts.set(name, nth + 1)
      const { key, data } = cellOf(span, nth)
      const indexed = terms.slice(0, span.indexed)
      if (span.fields.root === true) indexed.push(rootTerm)
      const bucket = bucketOf(hourOf(startUs))
      batches.add(`head ${project} ${bucket}`, { cql,
        values: [timeToLiveS(project), key, data, indexed, tenant, project, bucket, BigInt(startUs),
          bytesOfUuid(id)] }, cellBytes + data.byteLength + termBytes * indexed.length)
    }
  }

  /** Pages of rows in their order; with a term, only rows that have it, newest first. */
  pages(range: BucketRange, fetchSize: number | (() => number),
    term?: Term): AsyncGenerator<Row[], void, void> {
    const { tenant, project, bucket, from, to, order } = range
    const values: Value[] = [tenant, project, bucket, BigInt(from.startUs), from.id,
      BigInt(to.startUs), to.id]
    const select = `SELECT ${headColumns} FROM ${this.#table} WHERE ${inRange}`
    // Cassandra sorts nothing that it finds by an index.
    const statement = term !== undefined
      ? { cql: `${select} AND terms CONTAINS ?`, values: [...values, term] }
      : { cql: `${select} ORDER BY start_us ${order === 'newest' ? 'DESC' : 'ASC'}`, values }
    return this.#connection.pages(statement, fetchSize)
  }

  /** The heads at these places, in no order. */
  async at(places: readonly SpanPlace[]): Promise<readonly SpanHead[]> {
    return (await this.#rowsAt(places)).flatMap((row) => headOf(row) ?? [])
  }

  /** The places whose heads have an operation that passes a test. */
  async placesWith(places: readonly SpanPlace[],
    test: (operation: TracedOperation, place: SpanPlace) => boolean
  ): Promise<
    readonly SpanPlace[]
  > {
    const keyOf = (project: Uuid, startUs: number, id: Uuid) => `${project} ${startUs} ${id}`
    const operations = new Map(
      (await this.#rowsAt(places)).map(({ project, row }) =>
        [keyOf(project, Number(row['start_us']), uuidOfBytes(row['span_id'])),
          tracedOperationsOf(row)] as const
      ),
    )
    return places.filter((place) =>
      operations.get(keyOf(place.project, place.startUs, place.id))
        ?.some((operation) => test(operation, place))
    )
  }

  async #rowsAt(places: readonly SpanPlace[]): Promise<readonly HeadRow[]> {
    const found: HeadRow[] = []
    await forEachLimit(readsAtOnce, readsOf(places), async ({ tenant, project, bucket, keys }) => {
      const rows = await this.#connection.read({
        cql: `SELECT ${headColumns} FROM ${this.#table} WHERE ${inPartition} ` +
          'AND (start_us, span_id) IN ?',
        values: [tenant, project, bucket, keys],
      })
      found.push(...rows.map((row) => ({ tenant, project, row })))
    })
    return found
  }

  /** The row of a head, with its indexed terms; undefined if there is none. */
  async row({ tenant, project, startUs, id }: SpanPlace): Promise<Row | undefined> {
    const [row] = await this.#connection.read({
      cql: `SELECT ${headColumns}, terms FROM ${this.#table} WHERE ${atPlace}`,
      values: [tenant, project, bucketOf(hourOf(startUs)), BigInt(startUs), bytesOfUuid(id)],
    })
    return row
  }

  /** Adds indexed terms of a head to what a request writes. */
  addTerms(batches: StatementBatches, { tenant, project, startUs, id }: SpanPlace,
    terms: readonly Term[], timeToLiveS: number): void {
    const bucket = bucketOf(hourOf(startUs))
    batches.add(`head ${project} ${bucket}`, {
      cql: `UPDATE ${this.#table} USING TTL ? SET terms = terms + ? WHERE ${atPlace}`,
      values: [timeToLiveS, terms, tenant, project, bucket, BigInt(startUs), bytesOfUuid(id)],
    }, termBytes * terms.length)
  }

  /** True if a span of a project began in an hour. */
  async someIn(tenant: string, project: Uuid, hour: Hour): Promise<boolean> {
    const rows = await this.#connection.read({
      cql: `SELECT start_us FROM ${this.#table} WHERE ${inPartition} ` +
        'AND start_us >= ? AND start_us < ? LIMIT 1',
      values: [tenant, project, bucketOf(hour), BigInt(hour * hourUs), BigInt((hour + 1) * hourUs)],
    })
    return rows.length > 0
  }

  /** Puts the mark of feedback on a head, or takes it away. */
  mark(place: SpanPlace,
    mark: { readonly id: Uuid; readonly data: Buffer; readonly term: Term;
      readonly timeToLiveS: number } | { readonly id: Uuid; readonly data: null }): Statement {
    const { tenant, project, startUs, id } = place
    const at = [tenant, project, bucketOf(hourOf(startUs)), BigInt(startUs), bytesOfUuid(id)]
    return mark.data === null
      ? { cql: `DELETE feedback[?] FROM ${this.#table} WHERE ${atPlace}`, values: [mark.id, ...at] }
      : { cql: `UPDATE ${this.#table} USING TTL ? SET feedback[?] = ?, terms = terms + ? ` +
        `WHERE ${atPlace}`, values: [mark.timeToLiveS, mark.id, mark.data, [mark.term], ...at] }
  }

  /** Removes the head at a place. */
  removal({ tenant, project, startUs, id }: SpanPlace): Statement {
    return { cql: `DELETE FROM ${this.#table} WHERE ${atPlace}`,
      values: [tenant, project, bucketOf(hourOf(startUs)), BigInt(startUs), bytesOfUuid(id)] }
  }

  /** Removes an indexed term of a head. */
  termRemoval({ tenant, project, startUs, id }: SpanPlace, term: Term): Statement {
    return { cql: `DELETE terms[?] FROM ${this.#table} WHERE ${atPlace}`,
      values: [term, tenant, project, bucketOf(hourOf(startUs)), BigInt(startUs), bytesOfUuid(id)] }
  }

  /** Removes the cell of an operation. */
  operationRemoval({ tenant, project, startUs, id }: SpanPlace, key: bigint): Statement {
    return { cql: `DELETE ops[?] FROM ${this.#table} WHERE ${atPlace}`,
      values: [key, tenant, project, bucketOf(hourOf(startUs)), BigInt(startUs), bytesOfUuid(id)] }
  }

  /** Seconds for which a head lives from now on: 0 for ever, `undefined` if there is no head. */
  async lifeLeftS({ tenant, project, startUs, id }: SpanPlace): Promise<number | undefined> {
    const [row] = await this.#connection.read({
      cql: `SELECT TTL(ops) AS op_ttls FROM ${this.#table} WHERE ${atPlace}`,
      values: [tenant, project, bucketOf(hourOf(startUs)), BigInt(startUs), bytesOfUuid(id)],
    })
    const left = (row?.op_ttls ?? []).map((ttl) => ttl ?? 0)
    if (left.length === 0) return undefined
    return left.includes(0) ? 0 : Math.max(...left)
  }

  /** Removes a part of a partition. */
  async removeRange({ tenant, project, bucket, from, to }: BucketRange): Promise<void> {
    await this.#connection.write({ cql: `DELETE FROM ${this.#table} WHERE ${inRange}`,
      values: [tenant, project, bucket, BigInt(from.startUs), from.id, BigInt(to.startUs), to.id] })
  }
}

interface PlacesRead {
  readonly tenant: string
  readonly project: Uuid
  readonly bucket: number
  readonly keys: readonly types.Tuple[]
}

/** The statements that read places: one partition each, and so many rows. */
function* readsOf(places: readonly SpanPlace[]): Iterable<PlacesRead> {
  const partitions = Map.groupBy(places,
    ({ tenant, project, startUs }) => JSON.stringify([tenant, project, bucketOf(hourOf(startUs))]))
  for (const all of partitions.values()) {
    const { tenant, project, startUs } = all[0]!
    for (let at = 0; at < all.length; at += placesAtOnce) {
      yield { tenant, project, bucket: bucketOf(hourOf(startUs)),
        keys: all.slice(at, at + placesAtOnce).map((place) =>
          new types.Tuple(BigInt(place.startUs), bytesOfUuid(place.id))
        ) }
    }
  }
}
