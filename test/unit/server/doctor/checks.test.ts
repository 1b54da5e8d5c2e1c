/** The doctor finds faults that were planted, and nothing where all is well. */

import { describe, expect, it } from 'vitest'

import { examine } from '../../../../src/server/doctor/checks.ts'
import type { CassandraReading, Reading,
  RepairReading } from '../../../../src/server/doctor/reading.ts'

const [dayMs, gib] = [86_400_000, 2 ** 30]
const nowMs = 1_800_000_000_000

function repair(change: Partial<RepairReading>): RepairReading {
  return { table: 'heddle.thread_row', gcGraceMs: dayMs, createdAtMs: nowMs - 90 * dayMs,
    ...change }
}

const cassandra: CassandraReading = { clockAheadMs: 10, nodes: 3, replicas: { data: 3, control: 3 },
  members: [{ id: 'a', address: '127.0.0.1:1' }], shards: 64, orphaned: [],
  repairs: [repair({ repairedAtMs: nowMs - 0.4 * dayMs }), repair({ createdAtMs: nowMs - 1_000 })] }

const well: Reading = {
  nowMs,
  node: '24.1.0',
  fsyncMs: 0.5,
  disk: { freeBytes: 50 * gib, allBytes: 100 * gib, kind: 'ext4' },
  descriptors: 65_536,
  memory: { limitMb: 2_048, workers: 2, heapMb: 512, graphsMb: 1_024 },
  graphsUsers: { count: 100, fault: undefined },
  certificates: [{ file: 'ca.pem', endsAtMs: nowMs + 90 * dayMs }],
  unreadable: [],
  privateFiles: { count: 3, exposed: [] },
  keys: [{ id: 'k', expiresAtMs: null }],
  auth: 'keys',
  isPublic: true,
  trustedProxies: 1,
  posing: [],
  secrets: { stored: 3, unopened: 0, sealedWithOlder: 0 },
  revisions: { stored: 3, broken: [], deep: true },
  schema: { known: 8, oldest: 6, newest: 8 },
  lastBackupMs: nowMs - dayMs,
  hasClusterSecret: true,
  cassandra,
}

const cassandraWith = (change: Partial<CassandraReading>) => ({
  cassandra: { ...cassandra, ...change },
})

const { repairs: _, ...withoutRepairs } = cassandra

describe('the doctor', () => {
  it('finds all well where it is, with a line for each check', () => {
    const findings = examine(well)
    expect(findings.filter(({ verdict }) => verdict !== 'ok')).toEqual([])
    expect(findings).toHaveLength(23)
    expect(findings.some(({ cure }) => cure !== undefined)).toBe(false)
  })

  it.each<[string, 'warn' | 'bad', Partial<Reading>]>([
    ['node', 'bad', { node: '22.9.0' }],
    ['fsync', 'warn', { fsyncMs: 30 }],
    ['fsync', 'bad', { fsyncMs: 300 }],
    ['disk space', 'warn', { disk: { freeBytes: 2 * gib, allBytes: 100 * gib, kind: 'xfs' } }],
    ['disk space', 'bad', { disk: { freeBytes: 1_000, allBytes: 100 * gib, kind: 'xfs' } }],
    ['descriptors', 'warn', { descriptors: 1_024 }],
    ['descriptors', 'bad', { descriptors: 64 }],
    ['memory', 'warn', { memory: { limitMb: 1_024, workers: 4, heapMb: 512 } }],
    ['memory', 'bad', { memory: { limitMb: 256, workers: 4 } }],
    ['store', 'bad', { storeFault: 'Cassandra does not answer.' }],
    ['schema', 'warn', { schema: { known: 8, oldest: 6, newest: 7 } }],
    ['schema', 'bad', { schema: { known: 8, oldest: 9, newest: 9 } }],
    ['clock', 'warn', cassandraWith({ clockAheadMs: -20_000 })],
    ['clock', 'warn', { clockJump: { atMs: nowMs - dayMs, byMs: -2 * dayMs } }],
    ['private files', 'warn', {
      privateFiles: { count: 2, exposed: [{ file: 'secrets.key', mode: 0o644 }] },
    }],
    ['replication', 'warn', cassandraWith({ replicas: { data: 3, control: 1 } })],
    ['replication', 'bad', cassandraWith({ replicas: { data: 0, control: 3 } })],
    ['replication', 'bad', cassandraWith({ nodes: 2 })],
    ['repairs', 'warn',
      cassandraWith({ repairs: [repair({ repairedAtMs: nowMs - 0.6 * dayMs })] })],
    ['repairs', 'warn', cassandraWith({ repairs: [repair({ createdAtMs: nowMs - 0.6 * dayMs })] })],
    ['repairs', 'bad', cassandraWith({
      repairs: [...cassandra.repairs!, repair({ repairedAtMs: nowMs - 2 * dayMs })],
    })],
    ['repairs', 'bad', cassandraWith({ repairs: [repair({})] })],
    ['repairs', 'warn', { cassandra: withoutRepairs }],
    ['shards', 'warn', cassandraWith({ members: [] })],
    ['shards', 'bad', cassandraWith({ orphaned: [4, 5] })],
    ['cluster secret', 'warn', { hasClusterSecret: false }],
    ['certificates', 'warn', { certificates: [{ file: 'a', endsAtMs: nowMs + dayMs }] }],
    ['certificates', 'bad', { certificates: [{ file: 'a', endsAtMs: nowMs - 1 }] }],
    ['certificates', 'bad', { unreadable: ['/no/file'] }],
    ['keys', 'warn', { keys: [{ id: 'k', expiresAtMs: nowMs + dayMs }] }],
    ['keys', 'bad', { auth: 'none' }],
    ['secrets', 'warn', { secrets: { stored: 3, unopened: 0, sealedWithOlder: 2 } }],
    ['secrets', 'bad', { secrets: { stored: 3, unopened: 1, sealedWithOlder: 0 } }],
    ['graph processes', 'warn', { memory: { limitMb: 2_048, workers: 2, graphsMb: 1_900 } }],
    ['graph processes', 'warn', { memory: { limitMb: 2_048, workers: 2, graphsMb: 100 } }],
    ['graph users', 'bad', { graphsUsers: { count: 100, fault: 'This is user 7.' } }],
    ['revisions', 'bad', { revisions: { stored: 3, broken: ['shop r3'], deep: false } }],
    ['proxies', 'warn', { trustedProxies: 0 }],
    ['user proxies', 'warn', { posing: ['127.0.0.1/32'] }],
    ['backup', 'warn', { lastBackupMs: null }],
    ['backup', 'bad', { lastBackupFault: 'a.db is damaged.' }],
    ['backup', 'warn', { lastBackupMs: nowMs - 8 * dayMs }],
  ])('finds that "%s" is %s, and nothing else, and says what cures it', (check, verdict, fault) => {
    const found = examine({ ...well, ...fault }).filter((each) => each.verdict !== 'ok')
    expect(found).toEqual([{ check, verdict, message: expect.any(String),
      cure: expect.stringMatching(/[.]$/) }])
  })

  it.each([['nfs4', 'bad'], ['tmpfs', 'warn'], ['ext4', 'ok']])(
    'finds that a data directory on %s is %s',
    (kind, verdict) => {
      const { cassandra: _, ...embedded } = well
      const findings = examine({ ...embedded, disk: { ...well.disk!, kind } })
      expect(findings.find(({ check }) => check === 'disk kind')).toMatchObject({ verdict })
    },
  )

  it('asks for no repair of what has one replica', () => {
    const found = examine({ ...well, ...cassandraWith({ repairs: [] }) })
    expect(found.find(({ check }) => check === 'repairs')).toMatchObject({ verdict: 'ok' })
  })

  it('leaves out what it cannot know', () => {
    const { nowMs: now, node, memory, auth, isPublic, trustedProxies } = well
    const findings = examine({ nowMs: now, node, memory, certificates: [], unreadable: [], auth,
      isPublic, trustedProxies })
    expect(findings.map(({ check }) => check))
      .toEqual(['node', 'memory', 'graph processes', 'store', 'certificates', 'proxies'])
  })
})
