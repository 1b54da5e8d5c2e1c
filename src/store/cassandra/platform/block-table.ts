/** Rows that lie together for a trace: its blocks, and the ids of its spans. */

import { hash } from 'node:crypto'

import { TraceMembers } from '../../../../proto/gen/storage/v1/span.ts'
import { HeddleError } from '../../../errors.ts'
import { bytesOfUuid, uuidOfBytes } from '../../../platform/index.ts'
import type { Block, BlockId, SpanPlace, SpanWrite, Uuid } from '../../../platform/index.ts'
import type { Connection, Row, Value } from '../driver/connection.ts'
import { forEachLimit } from '../driver/for-each-limit.ts'
import type { ConstantBodies } from './constant-bodies.ts'
import { minuteOf } from './rows/partition-key.ts'
import type { StatementBatches } from './statement-batches.ts'

/** The trace of a place. */
export type TracePlace = Pick<SpanPlace, 'tenant' | 'trace' | 'traceStartUs'>

/** Blocks that one statement asks for, and such statements at a time. */
const [blocksOfRead, readsAtOnce] = [16, 4]
/** Rows of a trace that are read at a time for its spans. */
const membersPage = 500
/** Large blocks of a request that are written at a time. */
const largeAtOnce = 2

/** Bytes of a row besides its content. */
const rowBytes = 100

/** True if a span needs a block. `spans` are the spans of a project in its row. */
type NeedTest = (id: BlockId | null, spans: readonly SpanPlace[]) => Promise<boolean>

/** Name of the row of spans that have no block. */
const withoutBlock = -1n

const inTrace = 'tenant = ? AND minute = ? AND trace_id = ?'

/** Writes and reads blocks and the spans of traces. */
export class BlockTable {
  readonly #connection: Connection
  readonly #bodies: ConstantBodies
  readonly #table: string

  constructor(connection: Connection, bodies: ConstantBodies) {
    this.#connection = connection
    this.#bodies = bodies
    this.#table = `${connection.keyspace}.trace_block`
  }

  /**
   * Adds blocks to what a request writes. Resolves when the parts of large ones are on a quorum,
   * so that a row never names parts that are missing.
   */
  async addBlocks(batches: StatementBatches, tenant: string, blocks: readonly Block[],
    timeToLiveS: (trace: Uuid) => number): Promise<void> {
    const cql = `UPDATE ${this.#table} USING TTL ? SET data = ?, chunks = ? ` +
      `WHERE ${inTrace} AND block = ?`
    await forEachLimit(largeAtOnce, blocks, async (block) => {
      const liveS = timeToLiveS(block.trace)
      const trace = { tenant, ...block }
      const { data, chunks } = await this.#bodies.put(blockKey(trace, block.id), block.data, liveS)
      batches.add(partitionOf(minuteOf(block.traceStartUs)), { cql,
        values: [liveS, data, chunks, ...valuesOf(trace), block.id] }, rowBytes + data.byteLength)
    })
  }

  /** Adds which spans traces have to what a request writes. */
  addMembers(batches: StatementBatches, spans: readonly SpanWrite[],
    timeToLiveS: (project: Uuid) => number): void {
    const cql = `UPDATE ${this.#table} USING TTL ? SET members[?] = ? ` +
      `WHERE ${inTrace} AND block = ?`
    const groups = Map.groupBy(spans,
      ({ place: { project, trace, traceStartUs }, block }) =>
        `${project} ${trace} ${traceStartUs} ${block}`)
    for (const all of groups.values()) {
      const { place, block } = all[0]!
      const places = [...new Map(all.map((each) => [each.place.id, each.place])).values()]
      const data = Buffer.from(TraceMembers.encode({
        project: bytesOfUuid(place.project),
        spans: Buffer.concat(places.map(({ id }) => bytesOfUuid(id))),
        startUs: places.map(({ startUs }) => startUs),
      }).finish())
      const key = hash('sha1', data, 'buffer').readBigInt64BE()
      batches.add(partitionOf(minuteOf(place.traceStartUs)), { cql,
        values: [timeToLiveS(place.project), key, data, ...valuesOf(place),
          block ?? withoutBlock] }, rowBytes + data.byteLength)
    }
  }

  /** The data of blocks of a trace. */
  async read(trace: TracePlace,
    ids: readonly BlockId[]): Promise<ReadonlyMap<BlockId, Uint8Array>> {
    const found = new Map<BlockId, Uint8Array>()
    const parts = Array.from({ length: Math.ceil(ids.length / blocksOfRead) },
      (_, index) => ids.slice(index * blocksOfRead, (index + 1) * blocksOfRead))
    await forEachLimit(readsAtOnce, parts, async (part) => {
      const rows = await this.#connection.read({
        cql: `SELECT block, data, chunks FROM ${this.#table} WHERE ${inTrace} AND block IN ?`,
        values: [...valuesOf(trace), part],
      })
      for (const row of rows) {
        const id = row['block']
        const data = await this.#bodies.read(blockKey(trace, id), row)
        if (data !== undefined) found.set(id, data)
      }
    })
    return found
  }

  /**
   * The places of all spans of a trace that a project has, by start, then id. Throws `too_large` if
   * there are more than `max`.
   */
  async members(place: SpanPlace, max = Infinity): Promise<readonly SpanPlace[]> {
    const found = new Map<Uuid, SpanPlace>()
    for await (const rows of this.#rows(place)) {
      for (const each of rows.flatMap((row) => membersIn(place, row))) {
        if (each.project === place.project) found.set(`${each.id} ${each.startUs}`, each)
      }
      if (found.size > max) throw new HeddleError('too_large', 'The trace has too many spans.')
    }
    return [...found.values()].toSorted((a, b) => a.startUs - b.startUs || (a.id < b.id ? -1 : 1))
  }

  /** Removes what a project has of a trace; blocks only if no other project needs them. */
  async remove(place: SpanPlace): Promise<void> {
    for await (const rows of this.#rows(place)) {
      for (const row of rows) await this.#removeOwn(place, row)
    }
  }

  /** Removes, like `remove`, the blocks that no span needs. Null is for spans without a block. */
  async removeBlocks(place: SpanPlace, ids: Iterable<BlockId | null>,
    isNeeded: NeedTest): Promise<void> {
    await forEachLimit(readsAtOnce, ids, async (id) => {
      const rows = await this.#connection.read({
        cql: `SELECT block, members, chunks FROM ${this.#table} WHERE ${inTrace} AND block IN ?`,
        values: [...valuesOf(place), [id ?? withoutBlock]],
      })
      for (const row of rows) {
        const members = membersIn(place, row).filter(({ project }) => project === place.project)
        if (!await isNeeded(id, members)) await this.#removeOwn(place, row)
      }
    })
  }

  async #removeOwn(place: SpanPlace, row: Row): Promise<void> {
    const { own, others } = ownersIn(place, row)
    if (others === 0) await this.#removeRow(place, row)
    else for (const key of own) await this.#removeMembers(place, row, key)
  }

  async #removeRow(place: SpanPlace, row: Row): Promise<void> {
    const id = row['block']
    await this.#connection.write({
      cql: `DELETE FROM ${this.#table} WHERE ${inTrace} AND block = ?`,
      values: [...valuesOf(place), id],
    })
    await this.#bodies.remove(blockKey(place, id), row)
  }

  async #removeMembers(place: SpanPlace, row: Row, key: bigint): Promise<void> {
    await this.#connection.write({
      cql: `DELETE members[?] FROM ${this.#table} WHERE ${inTrace} AND block = ?`,
      values: [key, ...valuesOf(place), row['block']],
    })
  }

  #rows(trace: TracePlace): AsyncGenerator<Row[], void, void> {
    return this.#connection.pages({
      cql: `SELECT block, members, chunks FROM ${this.#table} WHERE ${inTrace}`,
      values: valuesOf(trace),
    }, membersPage)
  }
}

/** The name of a partition that blocks share with locations. */
export function partitionOf(minute: bigint): string {
  return `minute ${minute}`
}

function valuesOf({ tenant, trace, traceStartUs }: TracePlace): Value[] {
  return [tenant, minuteOf(traceStartUs), bytesOfUuid(trace)]
}

/** The key of the chunks of a block. */
export function blockKey({ tenant, trace }: Pick<SpanPlace, 'tenant' | 'trace'>,
  id: BlockId): string {
  return JSON.stringify(['trace_block', tenant, trace, String(id)])
}

function membersIn(trace: TracePlace, row: Row): readonly SpanPlace[] {
  const cells = Object.values(row['members'] ?? {})
  return cells.flatMap((cell) => {
    const { project, spans, startUs } = TraceMembers.decode(cell)
    return startUs.map((start, index) => ({
      tenant: trace.tenant,
      trace: trace.trace,
      traceStartUs: trace.traceStartUs,
      project: uuidOfBytes(project),
      startUs: start,
      id: uuidOfBytes(spans.subarray(index * 16)),
    }))
  })
}

/** The cells of a project in a row, and how many cells are of other projects. */
function ownersIn({ project }: SpanPlace, row: Row) {
  const cells = Object.entries(row['members'] ?? {})
  const own = cells.filter(([, data]) => uuidOfBytes(TraceMembers.decode(data).project) === project)
  return { own: own.map(([key]) => BigInt(key)), others: cells.length - own.length }
}
