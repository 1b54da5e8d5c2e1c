/** Kept lines: those of a run in order, the last ones, within bounds for each tenant and in all. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lineBytes } from '../../../../src/graph/logs/run-line.ts'
import { RunLogs } from '../../../../src/graph/logs/run-logs.ts'
import { expectAlways } from '../../../support/expect-always.ts'

const line = (text: string) => ({ atMs: 1, level: 'info' as const, text })
const run = (tenant: string, runId: string) => ({ tenant, threadId: 't', runId })
const textsOf = (logs: RunLogs, of: ReturnType<typeof run>, page = { limit: 1_000 }) =>
  logs.read(of, page).lines.map(({ text }) => text)

describe('the lines of a run', () => {
  it('are numbered on from one attempt to the next, and read from a place on', () => {
    const logs = new RunLogs()
    logs.add({ ...run('a', 'r'), attempt: 1 }, { lines: [line('one'), line('two')], dropped: 0 })
    logs.add({ ...run('a', 'r'), attempt: 2 }, { lines: [line('three')], dropped: 4 })
    expect(logs.read(run('a', 'r'), { limit: 10 })).toEqual({ dropped: 4, truncated: false,
      lines: [{ ...line('one'), seq: 1, attempt: 1 }, { ...line('two'), seq: 2, attempt: 1 }, {
        ...line('three'),
        seq: 7,
        attempt: 2,
      }] })
    expect(logs.read(run('a', 'r'), { limit: 1 })).toMatchObject({ truncated: true,
      lines: [{ text: 'three' }] })
    expect(logs.read(run('a', 'r'), { limit: 1, after: 1 })).toMatchObject({ truncated: true,
      lines: [{ text: 'two' }] })
    expect(logs.read(run('a', 'r'), { limit: 9, after: 7 }))
      .toEqual({ lines: [], dropped: 4, truncated: false })
  })

  it('are seen by their tenant and thread only', () => {
    const logs = new RunLogs()
    logs.add({ ...run('a', 'r'), attempt: 1 }, { lines: [line('one')], dropped: 0 })
    expect(textsOf(logs, run('b', 'r'))).toEqual([])
    expect(textsOf(logs, { ...run('a', 'r'), threadId: 'u' })).toEqual([])
  })

  it('never take more than their bounds, and the last ones stay', () => {
    const limits = { bytes: 30_000, bytesOfTenant: 12_000 }
    const writing = fc.record({ tenant: fc.constantFrom('a', 'b', 'c', 'd'),
      runId: fc.constantFrom('r', 's', 't'), lines: fc.array(fc.nat(2_000), { maxLength: 8 }) })
    expectAlways(fc.property(fc.array(writing, { maxLength: 60 }), (writings) => {
      const logs = new RunLogs(limits)
      for (const { tenant, runId, lines } of writings) {
        const written = lines.map((length) => line('x'.repeat(length)))
        logs.add({ ...run(tenant, runId), attempt: 1 }, { lines: written, dropped: 0 })
        expect(logs.bytes).toBeLessThanOrEqual(limits.bytes)
        for (const each of ['a', 'b', 'c', 'd']) {
          const bytes = ['r', 's', 't'].flatMap((id) =>
            logs.read(run(each, id), { limit: 1_000 })
              .lines
          ).reduce((sum, kept) => sum + lineBytes(kept), 0)
          expect(bytes).toBeLessThanOrEqual(limits.bytesOfTenant)
        }
      }
    }))
    const logs = new RunLogs()
    for (let n = 0; n < 3_000; n++) {
      logs.add({ ...run('a', 'r'), attempt: 1 }, { lines: [line(String(n))], dropped: 0 })
    }
    const { lines, dropped } = logs.read(run('a', 'r'), { limit: 1_000 })
    expect([lines.length, dropped, lines.at(-1)]).toMatchObject([1_000, 2_000, { seq: 3_000,
      text: '2999' }])
    logs.add({ ...run('a', 'r'), attempt: 1 }, { dropped: 0,
      lines: Array.from({ length: 40 }, () => line('y'.repeat(8_000))) })
    const bytes = logs.read(run('a', 'r'), { limit: 1_000 })
      .lines.reduce((sum, kept) => sum + lineBytes(kept), 0)
    expect(bytes).toBeLessThanOrEqual(200 * 1024)
  })
})
