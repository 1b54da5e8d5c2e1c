/**
 * Writes rows of spans again with another time to live. A cell gets the timestamp after its former
 * one: it replaces the former cell, and a removal that came since still wins.
 */

import type { Env } from '../../../../../cluster/index.ts'
import { bytesOfUuid, uuidOfBytes } from '../../../../platform/index.ts'
import type { SpanPlace, Uuid } from '../../../../platform/index.ts'
import { TraceMembers } from '../../../../../proto/gen/storage/v1/span.ts'
import type { Connection, Row, Statement, Value } from '../../driver/connection.ts'
import { forEachLimit } from '../../driver/for-each-limit.ts'
import { headOf } from '../rows/operation-cell.ts'
import { idMinute, minuteOf } from '../rows/partition-key.ts'

/** Heads that are read at a time, ids that one statement reads, and statements at a time. */
const [headsPage, idsAtOnce, statementsAtOnce] = [200, 50, 8]
/** Rows of a trace that are read at a time. */
const membersPage = 500
/** Difference of a time to live that is not worth a write, in seconds. */
const toleranceS = 120

/** Life of the spans of a project. */
export interface ProjectLife {
  readonly tenant: string
  readonly project: Uuid
  readonly lifeS: number
}

/** Keys of the rows that contain a body of several chunks. */
export interface BodyKeys {
  ofBlock(trace: Pick<SpanPlace, 'tenant' | 'trace'>, block: bigint): string
  ofFile(tenant: string, owner: Uint8Array, row: Row): string
}

/** Connection, keys and clock with which rows are written again. */
export interface RowLivesParts {
  readonly connection: Connection
  readonly bodies: BodyKeys
  /** Keys of the files of a span. */
  readonly fileOwners: (place: SpanPlace) => readonly Buffer[]
  /** Deletes the roll-ups of spans. */
  readonly touch: (places: readonly SpanPlace[]) => Promise<void>
  readonly env: Pick<Env, 'nowMs'>
}

/** Times to live of cells. */
class CellLife {
  readonly #lifeS: number
  readonly #nowS: number

  constructor(lifeS: number, nowMs: number) {
    this.#lifeS = lifeS
    this.#nowS = nowMs / 1_000
  }

  /** Seconds for which a cell that was written at a time lives from now on. Zero is for ever. */
  of(writtenUs: bigint): number {
    const fromS = Math.min(Number(writtenUs) / 1e6, this.#nowS)
    return Math.max(1, Math.ceil(fromS + this.#lifeS - this.#nowS))
  }

  isOther(writtenUs: bigint, ttlS: number | null): boolean {
    return ttlS === null || Math.abs(ttlS - this.of(writtenUs)) > toleranceS
  }
}

/** Rewrites the hours of a project, so that its spans are found as long as they live. */
export async function lengthenHours({ connection, env }: RowLivesParts,
  { tenant, project, lifeS }: ProjectLife, longerS: number): Promise<void> {
  const table = `${connection.keyspace}.span_bucket`
  const life = new CellLife(lifeS + longerS, env.nowMs())
  const rows = connection.pages({
    cql: `SELECT hour, WRITETIME(present) AS written, TTL(present) AS ttl FROM ${table} ` +
      'WHERE tenant = ? AND project = ?',
    values: [tenant, project],
  }, membersPage)
  for await (const page of rows) {
    await writeAll(connection, page.flatMap(({ hour, written, ttl }) => {
      if (hour === null || written === null || ttl === null || ttl >= life.of(written)) return []
      return [{
        cql: `UPDATE ${table} USING TIMESTAMP ? AND TTL ? SET present = true ` +
          'WHERE tenant = ? AND project = ? AND hour = ?',
        values: [written + 1n, life.of(written), tenant, project, hour],
      }]
    }))
  }
}

/** Rewrites the spans of a bucket that have another life, each after all that belongs to it. */
export async function rewriteBucket(parts: RowLivesParts, project: ProjectLife, bucket: number,
  isStopped: () => boolean): Promise<void> {
  const { connection, env } = parts
  const rows = connection.pages({
    cql: 'SELECT start_us, span_id, ops, terms, WRITETIME(ops) AS op_times, TTL(ops) AS op_ttls, ' +
      `WRITETIME(terms) AS term_times FROM ${connection.keyspace}.span_head ` +
      'WHERE tenant = ? AND project = ? AND bucket = ?',
    values: [project.tenant, project.project, bucket],
  }, headsPage)
  for await (const page of rows) {
    if (isStopped()) return
    const life = new CellLife(project.lifeS, env.nowMs())
    const others = page.filter(({ op_times: times, op_ttls: ttls }) =>
      times?.some((time, at) => life.isOther(time, ttls?.[at] ?? null))
    )
    const heads = others.flatMap((row) => headOf({ ...project, row }) ?? [])
    const traces = [...new Map(heads.map((head) => [head.trace, head])).values()]
    await forEachLimit(4, traces, (trace) => rewriteTrace(parts, trace, life))
    await rewriteLocations(parts, heads, life)
    await rewriteFiles(parts, heads, life)
    await writeAll(connection, others.flatMap((row) =>
      headStatements(connection.keyspace, project, bucket, row, life)
    ))
    // Spans that end now no longer count.
    await parts.touch(heads)
  }
}

function headStatements(keyspace: string, { tenant, project }: ProjectLife, bucket: number,
  { start_us: startUs, span_id: id, ops, terms, op_times: opTimes, term_times: termTimes }: Row,
  life: CellLife): readonly Statement[] {
  const update = (set: string, writtenUs: bigint, values: readonly Value[]): Statement => ({
    cql: `UPDATE ${keyspace}.span_head USING TIMESTAMP ? AND TTL ? SET ${set} ` +
      'WHERE tenant = ? AND project = ? AND bucket = ? AND start_us = ? AND span_id = ?',
    values: [writtenUs + 1n, life.of(writtenUs), ...values, tenant, project, bucket, startUs, id],
  })
  const cells = sortedCells(ops)
  return [
    ...(opTimes ?? []).map((time, at) =>
      update('ops[?] = ?', time, [cells[at]![0], cells[at]![1]])
    ),
    ...(termTimes ?? []).map((time, at) => update('terms = terms + ?', time, [[terms![at]!]])),
  ]
}

async function rewriteTrace(parts: RowLivesParts, trace: SpanPlace, life: CellLife): Promise<void> {
  const { connection, bodies } = parts
  const table = `${connection.keyspace}.trace_block`
  const inTrace = 'tenant = ? AND minute = ? AND trace_id = ?'
  const values = [trace.tenant, minuteOf(trace.traceStartUs), bytesOfUuid(trace.trace)]
  const rows = connection.pages({
    cql: 'SELECT block, members, chunks, WRITETIME(members) AS member_times, ' +
      'TTL(members) AS member_ttls, WRITETIME(data) AS written, TTL(data) AS ttl ' +
      `FROM ${table} WHERE ${inTrace}`,
    values,
  }, membersPage)
  for await (const page of rows) {
    for (const { block, members, chunks, member_times: times, member_ttls: ttls, written, ttl }
      of page) {
      const cells = sortedCells(members)
      const own = cells.map(([, data]) =>
        uuidOfBytes(TraceMembers.decode(data).project) === trace.project
      )
      await writeAll(connection, (times ?? []).flatMap((time, at) =>
        own[at] && life.isOther(time, ttls?.[at] ?? null)
          ? [{ cql: `UPDATE ${table} USING TIMESTAMP ? AND TTL ? SET members[?] = ? ` +
            `WHERE ${inTrace} AND block = ?`,
            values: [time + 1n, life.of(time), cells[at]![0], cells[at]![1], ...values, block] }]
          : []
      ))
      // A block of several projects lives as long as any of them needs it.
      const isShared = own.includes(false)
      if (written === null || !own.includes(true) || !life.isOther(written, ttl))
        continue
      if (isShared && (ttl === null || ttl >= life.of(written)))
        continue
      await rewriteBody(connection, { chunks, key: bodies.ofBlock(trace, block), life,
        statement: `UPDATE ${table} USING TIMESTAMP ? AND TTL ? SET data = ?, chunks = ? ` +
          `WHERE ${inTrace} AND block = ?`, select: `FROM ${table} WHERE ${inTrace} AND block = ?`,
        at: [...values, block] })
    }
  }
}

async function rewriteLocations({ connection }: RowLivesParts, heads: readonly SpanPlace[],
  life: CellLife): Promise<void> {
  const table = `${connection.keyspace}.span_location`
  for (const [minute, all] of Map.groupBy(heads, ({ id }) => idMinute(id))) {
    for (let at = 0; at < all.length; at += idsAtOnce) {
      const some = all.slice(at, at + idsAtOnce)
      const { tenant, project } = some[0]!
      const rows = await connection.read({
        cql: 'SELECT span_id, project, start_us, trace_id, trace_start_us, ' +
          `WRITETIME(trace_id) AS written, TTL(trace_id) AS ttl FROM ${table} ` +
          'WHERE tenant = ? AND minute = ? AND span_id IN ?',
        values: [tenant, minute, some.map(({ id }) => bytesOfUuid(id))],
      })
      await writeAll(connection, rows.flatMap((row) => {
        const { written, ttl } = row
        if (String(row['project']) !== project || written === null) return []
        if (!life.isOther(written, ttl)) return []
        return [{
          cql: `UPDATE ${table} USING TIMESTAMP ? AND TTL ? ` +
            'SET start_us = ?, trace_id = ?, trace_start_us = ? ' +
            'WHERE tenant = ? AND minute = ? AND span_id = ? AND project = ?',
          values: [written + 1n, life.of(written), row['start_us'], row['trace_id'],
            row['trace_start_us'], tenant, minute, row['span_id'], project],
        }]
      }))
    }
  }
}

async function rewriteFiles({ connection, bodies, fileOwners }: RowLivesParts,
  heads: readonly SpanPlace[], life: CellLife): Promise<void> {
  const table = `${connection.keyspace}.span_file`
  const owners = heads.flatMap((head) => fileOwners(head))
  const parts = Array.from({ length: Math.ceil(owners.length / idsAtOnce) },
    (_, at) => owners.slice(at * idsAtOnce, (at + 1) * idsAtOnce))
  const { tenant, project } = heads[0] ?? { tenant: '', project: '' }
  await forEachLimit(statementsAtOnce, parts, async (part) => {
    const rows = await connection.read({
      cql: 'SELECT owner, name, type, trace_id, chunks, version, project, ' +
        `WRITETIME(version) AS written, TTL(version) AS ttl FROM ${table} ` +
        'WHERE tenant = ? AND owner IN ?',
      values: [tenant, part],
    })
    for (const row of rows) {
      const { owner, name, type, chunks, version, written, ttl, trace_id: trace } = row
      if (row['project'] !== null && String(row['project']) !== project) continue
      if (written === null || !life.isOther(written, ttl)) continue
      await rewriteBody(connection, { chunks, key: bodies.ofFile(tenant, owner, row), life,
        statement: `UPDATE ${table} USING TIMESTAMP ? AND TTL ? ` +
          'SET data = ?, chunks = ? WHERE tenant = ? AND owner = ? AND name = ?',
        select: `FROM ${table} WHERE tenant = ? AND owner = ? AND name = ?`,
        at: [tenant, owner, name] })
      await connection.repeatableBatch([{
        cql: `UPDATE ${table} USING TIMESTAMP ? AND TTL ? ` +
          'SET type = ?, trace_id = ?, version = ?, project = ? ' +
          'WHERE tenant = ? AND owner = ? AND name = ?',
        values: [written + 1n, life.of(written), type, trace, version,
          row['project'] === null ? null : project, tenant, owner, name],
      }])
    }
  })
}

interface BodyRewrite {
  readonly chunks: number | null
  /** Key of its chunks. */
  readonly key: string
  readonly life: CellLife
  /** Writes timestamp, time to live, data and chunks at `at`. */
  readonly statement: string
  /** Table and condition from which the data is read at `at`. */
  readonly select: string
  readonly at: readonly Value[]
}

/** Rewrites a body: its chunks first, because its row names them. */
async function rewriteBody(connection: Connection,
  { chunks, key, life, statement, select, at }: BodyRewrite): Promise<void> {
  const table = `${connection.keyspace}.log_chunk`
  for (let part = 0; part < (chunks ?? 0); part++) {
    const [row] = await connection.read({
      cql: `SELECT data, WRITETIME(data) AS written FROM ${table} WHERE row_key = ? AND part = ?`,
      values: [key, part],
    })
    if (!row?.data || row.written === null) continue
    await connection.write({
      cql: `INSERT INTO ${table} (row_key, part, data) VALUES (?, ?, ?) ` +
        'USING TIMESTAMP ? AND TTL ?',
      values: [key, part, row.data, row.written + 1n, life.of(row.written)],
    })
  }
  const [row] = await connection.read({
    cql: `SELECT data, chunks, WRITETIME(data) AS written ${select}`,
    values: at,
  })
  if (!row || row.written === null) return
  await connection.repeatableBatch([{ cql: statement,
    values: [row.written + 1n, life.of(row.written), row.data, row.chunks, ...at] }])
}

async function writeAll(connection: Connection, statements: readonly Statement[]): Promise<void> {
  await forEachLimit(statementsAtOnce, statements,
    (statement) => connection.repeatableBatch([statement]))
}

/** Cells of a map with the order that Cassandra has for their times. */
function sortedCells(
  cells: Readonly<Record<string, Buffer>> | null,
): readonly (readonly [bigint, Buffer])[] {
  return Object.entries(cells ?? {}).map(([key, data]) => [BigInt(key), data] as const)
    .toSorted(([a], [b]) => a < b ? -1 : 1)
}
