/** A cron over time: what it fires, tries again, gives up and never does twice. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { nextDueMs } from '../../../src/crons/schedule.ts'
import { CronHouse } from './cron-house.ts'
import type { Fate } from './cron-house.ts'
import { expectAlways } from '../../support/expect-always.ts'

const minute = 60_000
const hour = 60 * minute
const beginMs = Date.UTC(2026, 0, 1)
const clock = (ms: number) => new Date(ms).toISOString().slice(11, 16)

describe('a cron', () => {
  it('fires at each due time, and sleeps between', async () => {
    const house = new CronHouse()
    await house.create({ schedule: '*/20 * * * *' })
    await house.advance(hour)
    expect(house.runs.map(clock)).toEqual(['00:20', '00:40', '01:00'])
    expect(house.tries).toEqual(house.runs)
    expect(house.records().map(({ $case }) => $case))
      .toEqual(['cronSaved', 'cronFired', 'cronFired', 'cronFired'])
  })

  it('is changed and deleted only by who sees it in its turn', async () => {
    const house = new CronHouse()
    const ofAnn = { kind: 'equals', key: 'owner', value: 'ann' } as const
    const { cronId } = await house.create({ metadataJson: '{"owner":"ann"}' })
    const name = { tenant: 't', cronId }
    await house.crons.patch(name, { enabled: false }, ofAnn)
    const given = house.crons.patch(name, { metadataJson: '{"owner":"ben"}' })
    const late = await Promise.allSettled([house.crons.patch(name, { enabled: true }, ofAnn),
      house.crons.delete(name, ofAnn)])
    await given
    for (const each of late) {
      expect(each).toMatchObject({ status: 'rejected', reason: { code: 'not_found' } })
    }
    expect((await house.crons.get(name)).enabled).toBe(false)
  })

  it('fires what it missed once, for the latest time', async () => {
    const house = new CronHouse()
    await house.create()
    await house.kill(10 * hour + 30_000)
    await house.advance(minute)
    expect(house.runs.map(clock)).toEqual(['10:00', '10:01'])
  })

  it('knows its newest outcome: a run, why there is none, or a run that somebody asked for',
    async () => {
      const house = new CronHouse()
      const name = { tenant: 't',
        cronId: (await house.create({ schedule: '*/20 * * * *' })).cronId }
      const outcome = async () => {
        const { lastMs, lastRunId, lastReason } = await house.crons.get(name)
        return [lastMs === 0 ? '' : clock(lastMs), lastRunId, lastReason]
      }
      expect(await outcome()).toEqual(['', '', ''])
      await house.advance(20 * minute)
      expect(await outcome()).toEqual(['00:20', `run ${house.runs[0]}`, ''])
      house.fate = 'skipped'
      await house.advance(20 * minute)
      expect(await outcome()).toEqual(['00:40', '', 'The deployment is paused.'])
      await house.advance(minute)
      await house.crons.triggered(name, 'by hand')
      expect(await outcome()).toEqual(['00:41', 'by hand', ''])
      const { nextMs } = await house.crons.patch(name, { metadataJson: '{"a":1}' })
      expect(clock(nextMs)).toBe('01:00')
      await house.kill(0)
      expect(await outcome()).toEqual(['00:41', 'by hand', ''])
      house.fate = 'gone'
      await house.advance(20 * minute)
      expect(await outcome()).toEqual(['01:00', '', 'The thread is gone.'])
    })

  it('fires again after a lost record, as the same run', async () => {
    const house = new CronHouse()
    const { tenant, cronId } = await house.create({ schedule: '0 * * * *' })
    const isSettled = () => house.crons.isSettled({ tenant, cronId }, beginMs + hour)
    house.fate = 'lost after'
    await house.advance(hour)
    house.fate = 'fired'
    expect(await isSettled()).toBe(false)
    await house.kill(1_000)
    await house.advance(minute)
    expect(house.tries.map(clock)).toEqual(['01:00', '01:00'])
    expect(house.runs.map(clock)).toEqual(['01:00'])
    expect(await isSettled()).toBe(true)
    await house.crons.delete({ tenant, cronId })
    expect(await house.crons.isSettled({ tenant, cronId }, Infinity)).toBe(true)
  })

  it('does not fire again when the clock goes back, also if it is changed then', async () => {
    const house = new CronHouse()
    const { cronId } = await house.create()
    await house.advance(10 * minute)
    house.aheadMs = -5 * minute
    await house.crons.patch({ tenant: 't', cronId }, { enabled: false })
    await house.crons.patch({ tenant: 't', cronId }, { enabled: true })
    await house.advance(6 * minute)
    expect(house.tries.map(clock).slice(8)).toEqual(['00:09', '00:10', '00:11'])
  })

  it.each(['while it is up', 'while it is down'])(
    'goes on where it was when a clock that was two days ahead is right again, %s',
    async (when) => {
      const house = new CronHouse()
      const name = { tenant: 't', cronId: (await house.create()).cronId }
      await house.advance(2 * minute)
      house.aheadMs = 48 * hour
      await house.advance(70_000)
      const ahead = house.runs.slice(2)
      expect(ahead.every((ms) => ms > beginMs + 48 * hour)).toBe(true)
      house.aheadMs = 0
      if (when === 'while it is down') await house.kill(0)
      await house.advance(10_000)
      const { nextMs } = await house.crons.get(name)
      expect(clock(nextMs)).toBe('00:04')
      await house.advance(2 * minute)
      expect(house.runs.slice(2 + ahead.length).map(clock)).toEqual(['00:04', '00:05'])
      expect(house.lines.filter((line) => line.includes('went back'))).toHaveLength(1)
      // What fired ahead fires no more when its time comes.
      await house.kill(48 * hour)
      await house.advance(3 * minute)
      expect(new Set(house.runs).size).toBe(house.runs.length)
      expect(house.runs.at(-1)! - house.env.nowMs()).toBeGreaterThan(-minute)
    },
  )

  it('follows the clock back if it was made, changed, refused or has ended while that was ahead',
    async () => {
      const house = new CronHouse()
      const early = await house.create({ schedule: '30 * * * *', endTimeMs: beginMs + hour })
      const tired = await house.create({ schedule: '*/20 * * * *' })
      await house.advance(minute)
      house.aheadMs = 48 * hour
      house.fate = 'refused'
      await house.advance(30_000)
      house.fate = 'fired'
      const late = await house.create({ schedule: '10 * * * *' })
      house.aheadMs = 0
      await house.advance(20_000)
      const times = await Promise.all(
        [early, tired, late].map(async ({ cronId }) =>
          clock((await house.crons.get({ tenant: 't', cronId })).nextMs)
        ),
      )
      expect(times).toEqual(['00:30', '00:20', '00:10'])
      house.runs.length = 0
      await house.advance(40 * minute)
      expect(house.runs.map(clock)).toEqual(['00:10', '00:20', '00:30', '00:40'])
    })

  it('fires the latest time that became due while it fired', async () => {
    const house = new CronHouse()
    await house.create()
    const { promise, resolve } = Promise.withResolvers<void>()
    house.gate = promise
    await house.advance(4 * minute + 30_000)
    resolve()
    await house.advance(20_000)
    expect(house.tries.map(clock)).toEqual(['00:01', '00:04'])
  })

  it('fires once when the clock goes on', async () => {
    const house = new CronHouse()
    await house.create()
    await house.advance(minute)
    house.aheadMs = 3 * hour
    await house.advance(2 * minute)
    expect(house.runs.map(clock)).toEqual(['00:01', '03:02', '03:03'])
  })

  it('tries a refused run again for a while, and then gives it up', async () => {
    const house = new CronHouse()
    await house.create({ schedule: '0 * * * *' })
    house.fate = 'refused'
    await house.advance(hour + 20 * minute)
    expect(house.tries).toHaveLength(10)
    const last = house.records().at(-1)!
    expect(last).toMatchObject({ $case: 'cronFired', value: { runId: '', reason: 'full' } })
    expect(house.lines).toEqual(['A cron has no run at a due time, as the run was refused.'])
    house.fate = 'fired'
    await house.advance(hour)
    expect(house.runs.map(clock)).toEqual(['02:00'])
  })

  it('gives up a run that will be refused for ever at once', async () => {
    const house = new CronHouse()
    await house.create({ schedule: '0 * * * *' })
    house.fate = 'rejected'
    await house.advance(hour + 20 * minute)
    expect(house.tries).toHaveLength(1)
  })

  it('takes a run that is admitted in the meantime', async () => {
    const house = new CronHouse()
    await house.create({ schedule: '0 * * * *' })
    house.fate = 'refused'
    await house.advance(hour + minute)
    house.fate = 'fired'
    await house.kill(1_000)
    await house.advance(5 * minute)
    expect(house.runs.map(clock)).toEqual(['01:00'])
  })

  it('passes the times at which it is skipped, says nothing, and fires at the next', async () => {
    const house = new CronHouse()
    await house.create()
    house.fate = 'skipped'
    await house.advance(5 * minute + 20_000)
    await house.kill(3 * minute)
    await house.advance(10_000)
    house.fate = 'fired'
    await house.kill(1_000)
    await house.advance(minute)
    expect([house.tries.length, house.runs.map(clock), house.lines]).toEqual([7, ['00:09'], []])
  })

  it('is disabled when what it fires for is gone', async () => {
    const house = new CronHouse()
    const { cronId } = await house.create()
    house.fate = 'gone'
    await house.advance(10 * minute)
    expect(house.tries).toHaveLength(1)
    expect(await house.crons.get({ tenant: 't', cronId }))
      .toMatchObject({ enabled: false, nextMs: 0 })
    expect(house.lines).toEqual(['A cron was disabled, as what it fires for is gone.'])
  })

  it('ends with its end, and fires at it', async () => {
    const house = new CronHouse()
    const { cronId } = await house.create({ endTimeMs: beginMs + 3 * minute })
    await house.advance(10 * minute)
    expect(house.runs.map(clock)).toEqual(['00:01', '00:02', '00:03'])
    expect((await house.crons.get({ tenant: 't', cronId })).nextMs).toBe(0)
  })

  it('can be changed and deleted while it fires', async () => {
    const house = new CronHouse()
    const name = { tenant: 't', cronId: (await house.create()).cronId }
    house.fate = 'lost after'
    await house.advance(minute)
    expect(await house.crons.patch(name, { metadataJson: '{"a":1}' }))
      .toMatchObject({ metadataJson: '{"a":1}' })
    await house.crons.delete(name)
    await expect(house.crons.get(name)).rejects.toMatchObject({ code: 'not_found' })
    await house.kill(hour)
    expect(house.tries).toHaveLength(1)
  })

  it('is deleted once, whatever is cut off', async () => {
    const house = new CronHouse()
    const name = { tenant: 't', cronId: (await house.create()).cronId }
    const { updates } = house.log
    const before = [...updates]
    await house.crons.delete(name)
    // The rest of the delete was lost with its owner.
    updates.push(...before)
    await house.kill(0)
    await expect(house.crons.get(name)).rejects.toMatchObject({ code: 'not_found' })
    expect(house.log.crons).toEqual([])
  })

  it('catches up with a log that is ahead of its row', async () => {
    const house = new CronHouse()
    const name = { tenant: 't', cronId: (await house.create()).cronId }
    await house.advance(3 * minute)
    const row = await house.crons.get(name)
    house.log.updates.splice(1)
    await house.kill(0)
    expect(await house.crons.get(name)).toEqual({ ...row, epoch: expect.any(Number),
      seq: row.seq + 1, storedBytes: expect.any(Number) })
  })
})

const fates: readonly Fate[] = ['fired', 'fired', 'fired', 'lost before', 'lost after',
  'fails before', 'fails after', 'refused']
const step = fc.oneof(
  { weight: 2, arbitrary: fc.constant({ kind: 'toggle' as const }) },
  { weight: 4,
    arbitrary: fc.record({ kind: fc.constant('advance' as const),
      ms: fc.integer({ min: 1_000, max: 10 * minute }) }) },
  { weight: 2,
    arbitrary: fc.record({ kind: fc.constant('kill' as const),
      ms: fc.integer({ min: 0, max: 90 * minute }) }) },
  { weight: 2,
    arbitrary: fc.record({ kind: fc.constant('jump' as const),
      ms: fc.oneof(fc.integer({ min: -hour, max: 3 * hour }),
        fc.integer({ min: -3 * minute, max: 3 * minute })) }) },
  { weight: 3,
    arbitrary: fc.record({ kind: fc.constant('fate' as const), fate: fc.constantFrom(...fates) }) },
)
const schedule = fc.constantFrom('* * * * *', '*/7 * * * *', '*/30 * * * *', '5,6 * * * *',
  '0 */2 * * *')

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never
const jump = (ms: number): Step => ({ kind: 'jump', ms })
const kill = (ms: number): Step => ({ kind: 'kill', ms })
/** The clock goes back behind the time at which the times were set, and behind a refusal. */
const examples: [string, Step[]][] = [
  ['* * * * *', [kill(4 * minute), { kind: 'toggle' }, jump(-3 * minute - 1)]],
  ['* * * * *', [{ kind: 'fate', fate: 'refused' }, kill(7 * minute), { kind: 'advance',
    ms: 1_000 }, jump(-6 * minute)]],
]

it('Whatever fails, each due time has one run, and of those that were missed the latest', () =>
  expectAlways(
    fc.asyncProperty(schedule, fc.array(step, { maxLength: 14 }), async (times, steps) => {
      const due = { schedule: times, timezone: '' }
      const house = new CronHouse()
      const name = { tenant: 't', cronId: (await house.create(due)).cronId }
      // What is thrown in a firing only makes the cron try it again.
      const wrong: string[] = []
      house.tried = (dueMs) => {
        const nowMs = house.env.nowMs()
        if (nextDueMs(due, dueMs - 1) !== dueMs) wrong.push('is no due time')
        if (dueMs > nowMs) wrong.push('fired before it was due')
        if (nextDueMs(due, dueMs) <= nowMs) wrong.push('fired though a later one was due')
        if (settledOf(house).includes(dueMs)) wrong.push('fired after it was settled')
      }
      for (const each of steps) {
        if (each.kind === 'fate') house.fate = each.fate
        else if (each.kind === 'jump') house.aheadMs += each.ms
        else if (each.kind === 'kill') await house.kill(each.ms)
        else if (each.kind === 'toggle') {
          await house.crons.patch(name, { enabled: false })
          await house.crons.patch(name, { enabled: true })
        } else await house.advance(each.ms)
      }
      house.fate = 'fired'
      await house.kill(0)
      const done = settledOf(house)
      expect(done).toHaveLength(new Set(done).size)
      // From now on nothing fails: each due time that comes has its run, unless it is settled.
      const fromMs = house.env.nowMs()
      await house.advance(130 * minute, minute)
      for (let ms = nextDueMs(due, fromMs + 3 * minute); ms <= house.env.nowMs() - minute;
        ms = nextDueMs(due, ms)) expect([...house.runs, ...done], clock(ms)).toContain(ms)
      expect(wrong).toEqual([])
    }),
    { share: 5, examples },
  ))

function settledOf(house: CronHouse): number[] {
  return house.records().flatMap((record) =>
    record.$case === 'cronFired' ? [record.value.dueMs] : []
  )
}
