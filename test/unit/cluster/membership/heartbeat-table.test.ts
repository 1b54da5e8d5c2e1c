/** The heartbeats that were read last: who came, who went, and since when one stands still. */

import { describe, expect, it } from 'vitest'

import { HeartbeatTable } from '../../../../cluster/membership/heartbeat-table.ts'

const heartbeat = (id: string, count: number, leaving = false) => ({ id, address: `${id}:1`, count,
  leaving })
const member = (id: string) => ({ id, address: `${id}:1` })

describe('a table of heartbeats', () => {
  it('says who is gone, and whether anything about the members changed', () => {
    const table = new HeartbeatTable()
    const reads = [
      [heartbeat('m1', 1), heartbeat('m2', 1)],
      [heartbeat('m1', 2), heartbeat('m2', 1)],
      [heartbeat('m1', 3), heartbeat('m2', 2, true)],
      [heartbeat('m1', 4)],
    ]
    expect(reads.map((found, index) => table.read(found, index * 1_000))).toEqual([
      { isOther: true, gone: [] },
      { isOther: false, gone: [] },
      { isOther: true, gone: [] },
      { isOther: true, gone: [member('m2')] },
    ])
    expect(table.members).toEqual([member('m1')])
  })

  it('has those that leave among its members, but not among those that stay', () => {
    const table = new HeartbeatTable()
    table.read([heartbeat('m1', 1), heartbeat('m2', 1, true)], 0)
    expect([table.members, table.staying])
      .toEqual([[member('m1'), member('m2')], [member('m1')]])
  })

  it('knows since when a heartbeat stands still, not counting a gap between reads', () => {
    const table = new HeartbeatTable()
    const seenMs = (count: number, nowMs: number) => {
      table.read([heartbeat('m1', count)], nowMs)
      return table.get('m1')!.seenMs
    }
    expect([seenMs(1, 0), seenMs(1, 3_000), seenMs(2, 4_000), seenMs(2, 5_000)])
      .toEqual([0, 0, 4_000, 4_000])
    // More than three seconds without a read: this member may have stood still itself.
    expect(seenMs(2, 8_001)).toBe(8_001)
  })
})
