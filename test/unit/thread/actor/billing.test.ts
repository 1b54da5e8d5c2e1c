/** Billing of runs: one record per finished run, the same whichever owner writes it. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { BillingRow } from '../../../../src/billing/index.ts'
import { expectAlways } from '../../../support/expect-always.ts'
import type { MemoryLog } from '../../../support/memory-log.ts'
import { aRun, settled, ThreadHouse } from '../../../support/thread-house.ts'
import { ThreadPair } from '../../../support/thread-pair.ts'

const billedIn = ({ updates }: MemoryLog): BillingRow[] =>
  updates.flatMap((update) => update.table === 'billing' ? [update.row] : [])

/** One record per run: throws if two records of a run differ. */
function keptIn(log: MemoryLog): BillingRow[] {
  const kept = new Map<string, BillingRow>()
  for (const row of billedIn(log)) {
    expect(kept.get(row.runId) ?? row).toEqual(row)
    kept.set(row.runId, row)
  }
  return [...kept.values()]
}

describe('a finished run', () => {
  it('leaves a record with its start and end, written together with its end', async () => {
    const house = new ThreadHouse()
    house.env.advance(Date.UTC(2026, 10, 20, 23, 59, 59) - house.env.nowMs())
    const run = house.run()
    await house.client.startRun('t', 'x', run)
    await house.host.step(house.host.only, 'one')
    expect(billedIn(house.log)).toEqual([])
    house.env.advance(2_500)
    house.host.end(house.host.only)
    await settled()
    const [row, ...others] = billedIn(house.log)
    expect(others).toEqual([])
    expect(row).toEqual({
      tenant: 't',
      day: '2026-11-21',
      runId: run.runId,
      threadId: 'x',
      assistantId: 'a',
      graphId: 'agent',
      status: 'success',
      startedMs: Date.UTC(2026, 10, 20, 23, 59, 59),
      endedMs: Date.UTC(2026, 10, 21, 0, 0, 1, 500),
    })
    const { tables } = house
    const ended = await tables.runs.get('t', 'x', run.runId)
    expect([ended!.updatedAtMs, ended!.startedAtMs]).toEqual([row!.endedMs, row!.startedMs])
  })

  it('leaves no record if billing is off', async () => {
    const house = new ThreadHouse()
    house.billing = false
    house.restart()
    await house.startRun('x')
    house.host.end(house.host.only)
    await settled()
    expect(house.log.updates.map(({ table }) => table)).toContain('run')
    expect(billedIn(house.log)).toEqual([])
  })

  it('leaves a record even if it never began, or was rolled back or deleted', async () => {
    const house = new ThreadHouse()
    const [first, waiting, second] = [house.run(), house.run(), house.run({ strategy: 'rollback' })]
    await house.client.startRun('t', 'x', first)
    await house.client.startRun('t', 'x', waiting)
    house.env.advance(1_000)
    await house.client.startRun('t', 'x', second)
    await settled()
    house.env.advance(1_000)
    await house.client.delete('t', 'x')
    const said = billedIn(house.log).map((
      { runId, status, startedMs, endedMs },
    ) => [runId, status, startedMs === null ? null : endedMs - startedMs])
    expect(said.toSorted()).toEqual(
      [[first.runId, 'interrupted', 1_000], [waiting.runId, 'interrupted', null], [second.runId,
        'interrupted', 1_000]].toSorted(),
    )
  })
})

describe('the owner of a thread dies:', () => {
  it('the next owner writes the record that the log owes', async () => {
    const pair = new ThreadPair()
    await pair.client.startRun('t', 'x', aRun('r'))
    const before = pair.log.updates.length
    pair.host.end(pair.host.only)
    await settled()
    const [record] = billedIn(pair.log)
    pair.log.updates.length = before
    pair.env.advance(90_000_000)
    pair.kill()
    await settled()
    expect(billedIn(pair.log)).toEqual([record])
  })

  it('a run that is resumed is billed from the start of its first attempt', async () => {
    const pair = new ThreadPair()
    pair.env.advance(5_000)
    const startedMs = pair.env.nowMs()
    await pair.client.startRun('t', 'x', aRun('r'))
    pair.env.advance(1_000)
    pair.kill()
    await settled()
    pair.env.advance(1_000)
    expect(pair.host.only.execution.attempt).toBe(1)
    pair.host.end(pair.host.only)
    await settled()
    expect(billedIn(pair.log)).toMatchObject([{ startedMs, endedMs: startedMs + 2_000 }])
  })

  it('the next owner bills the runs of a deleted thread before it purges that', async () => {
    const pair = new ThreadPair()
    await pair.client.startRun('t', 'x', aRun('r'))
    const before = pair.log.updates.length
    pair.log.purge = () => new Promise(() => {})
    void pair.client.delete('t', 'x').catch(() => {})
    await settled()
    const [record] = billedIn(pair.log)
    pair.log.updates.length = before
    pair.kill()
    await settled()
    expect(billedIn(pair.log)).toEqual([record])
    expect(record).toMatchObject({ runId: 'r', status: 'interrupted' })
  })

  it('at any moment, each finished run has one record and no other run has any', async () => {
    const act = fc.oneof(
      fc.record({ do: fc.constant('start'),
        strategy: fc.constantFrom('enqueue', 'interrupt', 'rollback') }),
      fc.record({ do: fc.constantFrom('end', 'kill', 'hand over', 'delete') }),
    ) as fc.Arbitrary<{ readonly do: string; readonly strategy?: 'enqueue' }>
    await expectAlways(fc.asyncProperty(fc.array(act, { maxLength: 15 }), async (acts) => {
      const pair = new ThreadPair()
      const started: string[] = []
      for (const { do: what, strategy } of acts) {
        pair.env.advance(1_000)
        const { host } = pair
        if (what === 'start') {
          const runId = `r${started.push(`r${started.length}`) - 1}`
          await pair.client.startRun('t', 'x', aRun(runId, { strategy: strategy! }))
        } else if (what === 'end') { for (const one of host.running.values()) host.end(one) }
        else if (what === 'kill') pair.kill()
        else if (what === 'hand over') await pair.handOver(AbortSignal.abort())
        else if (what === 'delete') await pair.client.delete('t', 'x').catch(() => {})
        await settled()
      }
      const row = await pair.tables.threads.get('t', 'x')
      const left = new Set(row?.deleted ? [] : row?.unfinished.map(({ runId }) => runId))
      expect(keptIn(pair.log).map(({ runId }) => runId).toSorted())
        .toEqual(started.filter((runId) => !left.has(runId)).toSorted())
    }), { share: 5 })
  })
})
