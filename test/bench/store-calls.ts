/** How often each table of a keyspace is written and read, by the counters of Cassandra's nodes. */

import { Client } from 'cassandra-driver'
import type { CassandraKeyspace } from '../support/cassandra-keyspace.ts'
import type { Line } from './report.ts'
import { spreadOf } from './statistics.ts'

/** Calls by what they do and to which table: `write log`. */
export type CallCounts = ReadonlyMap<string, number>

const views = [['write', 'coordinator_write_latency'], ['read', 'coordinator_read_latency'], [
  'scan',
  'coordinator_scan_latency',
]] as const

/** Counts since the nodes started. Nothing else may use the keyspace between two of these. */
export async function storeCalls(
  { contactPoints, dataCenter, keyspace }: CassandraKeyspace,
): Promise<CallCounts> {
  const client = new Client({ contactPoints: [...contactPoints], localDataCenter: dataCenter })
  const counts = new Map<string, number>()
  try {
    await client.connect()
    for (const host of client.hosts.values()) {
      for (const [what, view] of views) {
        const { rows } = await client.execute(
          `SELECT keyspace_name, table_name, count FROM system_views.${view}`,
          [],
          { host },
        )
        for (const row of rows) {
          if (!String(row['keyspace_name']).startsWith(keyspace)) continue
          const call = `${what} ${String(row['table_name'])}`
          counts.set(call, (counts.get(call) ?? 0) + Number(row['count']))
        }
      }
    }
    return counts
  } finally {
    await client.shutdown()
  }
}

/** Requests of one kind, and at most how many calls each of them may take. */
export interface CountedRequest {
  readonly times: number
  readonly request: string
  readonly writes?: number
  readonly reads?: number
  /** Reads without ownership checks; a line of their own. */
  readonly ofLog?: number
}

/** Calls for each of `times` requests, including those that the member makes anyway. */
export function callLines(before: CallCounts, after: CallCounts,
  { times, request, writes, reads, ofLog }: CountedRequest): Line[] {
  const each = [...after].map(([call, count]) =>
    [call, (count - (before.get(call) ?? 0)) / times] as const
  )
    .filter(([, calls]) => calls >= 0.005).toSorted(([, a], [, b]) => b - a)
  const line = (what: string, most: number | undefined, is: (call: string) => boolean): Line => {
    const some = each.filter(([call]) => is(call))
    return { measure: `${what} of Cassandra for each ${request}`, unit: 'rows',
      figures: some.map(([call, calls]) => `${call.split(' ')[1]} ${calls.toFixed(2)}`),
      ratio: spreadOf([some.reduce((sum, [, calls]) => sum + calls, 0)]),
      ...most !== undefined && { aim: { sign: '≤', value: most } } }
  }
  const isWrite = (call: string) => call.startsWith('write')
  return [line('writes', writes, isWrite), line('reads', reads, (call) => !isWrite(call)),
    ...ofLog === undefined
      ? []
      : [line('reads but ownership checks', ofLog, (call) => !isWrite(call) && !isCheck(call))]]
}

/** Reads that the member makes for all that waits, or without any request. */
function isCheck(call: string): boolean {
  return ['read node_session', 'read member_beat', 'scan node_session'].includes(call)
}
