/** Ownership, the log and lives of threads in simulated worlds: no violation, and why. */

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import { describe, expect, it } from 'vitest'

import { isNight, repeats } from '../support/repeats.ts'
import type { FaultName } from './faults.ts'
import { report } from './report.ts'
import { rules } from './rule.ts'
import type { Rule } from './rule.ts'
import { simulate } from './simulation.ts'
import type { Outcome, SimulationOptions } from './simulation.ts'

const command = fileURLToPath(new URL('./simulate.ts', import.meta.url))
const longMs = 600_000
/** Seconds of processor for the worlds of each kind. All rules together take about four. */
const seconds = { lists: repeats({ day: 2, night: 30 }), others: repeats({ day: 0.5, night: 10 }) }
/** New worlds of each kind, however long they take. */
const worldsMin = repeats({ day: 3, night: 5 })

/** Members that are killed between two rows of a change, and the first world of that. */
const killsWanted = repeats({ day: 20, night: 1_000 })
const firstBetween = 5_000

/** Sums over the worlds of a search. */
interface Sums {
  readonly worlds: number
  readonly acknowledged: number
  readonly reads: number
  readonly removals: number
  readonly copies: number
  readonly owners: number
  readonly fired: number
}

/** Worlds in which nights found something: of lists, with searches, of items, of records. */
const foundLists = [7619, 8181, 589_473_508]
const foundSearching = [83, 99]
const foundItems = [123, 328]
const foundRecords = [23]

/**
 * Simulates the worlds that were `found`, then 1, 2, 3 … for a time, some at least. Expects no
 * finding in any.
 */
async function expectNoFindings(timeS: number, options: Omit<SimulationOptions, 'seed'> = {},
  found: readonly number[] = []): Promise<Sums> {
  const began = process.threadCpuUsage()
  const spentS = () => process.threadCpuUsage(began).user / 1e6
  const bad: string[] = []
  const outcomes: Outcome[] = []
  for (let at = 0; at < found.length + worldsMin || spentS() < timeS; at++) {
    const seed = found[at] ?? at - found.length + 1
    const outcome = await simulate({ ...options, seed })
    outcomes.push({ ...outcome, trace: [] })
    if (outcome.findings.length > 0) bad.push(report(outcome))
  }
  expect(bad).toEqual([])
  const sum = (name: Exclude<keyof Sums, 'worlds'>) =>
    outcomes.reduce((total, outcome) => total + outcome[name], 0)
  return { worlds: outcomes.length, acknowledged: sum('acknowledged'), reads: sum('reads'),
    removals: sum('removals'), copies: sum('copies'), owners: sum('owners'), fired: sum('fired') }
}

describe('a simulated cluster', () => {
  it('loses, repeats and contradicts nothing in many worlds full of faults', async () => {
    const { worlds, ...sums } = await expectNoFindings(seconds.lists, {}, foundLists)
    // Worlds in which nothing succeeds, or nobody takes over, would prove nothing.
    expect(sums.acknowledged / worlds).toBeGreaterThan(20)
    expect(sums.reads / worlds).toBeGreaterThan(14)
    expect(sums.removals / worlds).toBeGreaterThan(0.3)
    expect(sums.copies).toBeGreaterThan(0)
    expect(sums.owners / worlds).toBeGreaterThan(2)
  }, longMs)

  it('finds what was acknowledged when clients search for it', async () => {
    const { worlds, ...sums } = await expectNoFindings(seconds.others, { searches: true },
      foundSearching)
    expect(sums.acknowledged / worlds).toBeGreaterThan(15)
    expect(sums.owners / worlds).toBeGreaterThan(1.5)
  }, longMs)

  it(`misses and invents no run over ${killsWanted} kills between the rows of a change`,
    async () => {
      let [kills, worlds] = [0, 0]
      for (let seed = firstBetween; kills < killsWanted; seed++, worlds++) {
        const outcome = await simulate({ seed, searches: true, favourite: 'between' })
        expect(outcome.findings, report(outcome)).toEqual([])
        kills += outcome.killedBetween
      }
      console.log(`${kills} kills in ${worlds} worlds`)
    }, longMs)

  it('loses and brings back no item in worlds full of faults', async () => {
    const { worlds, ...sums } = await expectNoFindings(seconds.others, { items: true }, foundItems)
    expect(sums.acknowledged / worlds).toBeGreaterThan(20)
    expect(sums.reads / worlds).toBeGreaterThan(20)
  }, longMs)

  it('loses and brings back no record in worlds full of faults', async () => {
    const { worlds, ...sums } = await expectNoFindings(seconds.others, { records: true },
      foundRecords)
    expect(sums.acknowledged / worlds).toBeGreaterThan(5)
    expect(sums.reads / worlds).toBeGreaterThan(5)
  }, longMs)

  it('loses no value that is kept back and was seen, in worlds full of faults', async () => {
    const { worlds, ...sums } = await expectNoFindings(seconds.others, { held: true })
    expect(sums.acknowledged / worlds).toBeGreaterThan(5)
    expect(sums.reads / worlds).toBeGreaterThan(10)
  }, longMs)

  it('fires crons once for each due time in worlds full of faults', async () => {
    const { worlds, fired } = await expectNoFindings(seconds.others, { crons: true })
    expect(fired / worlds).toBeGreaterThan(3)
  }, longMs)

  it('has the same trace for the same seed', async () => {
    const life = async () => (await simulate({ seed: 77, tracing: true })).trace
    const first = await life()
    await simulate({ seed: 78 })
    expect(await life()).toEqual(first)
    expect(first.length).toBeGreaterThan(20)
  })
})

interface Need {
  /** The fault that shows that the rule is needed. */
  readonly favourite?: FaultName
  /** The first world that is tried: the first that shows it, until something changes. */
  readonly from: number
  /** How many worlds are tried at most. */
  readonly worlds: number
  /** Whether clients use items instead of lists, or values that are kept back. */
  readonly items?: boolean
  readonly held?: boolean
}

const needs: Readonly<Record<Rule, Need>> = {
  chain: { from: 3, worlds: 100 },
  order: { from: 18, worlds: 100 },
  open_row: { favourite: 'tear', from: 14, worlds: 600 },
  validate_after: { favourite: 'isolate', from: 3, worlds: 400 },
  reply_fence: { favourite: 'stop', from: 66, worlds: 300 },
  read_repair: { from: 85, worlds: 150 },
  cache_ends: { from: 5, worlds: 200 },
  places_again: { favourite: 'tear', from: 1, worlds: 200 },
  roll_over: { favourite: 'lapse', from: 100, worlds: 600 },
  fence: { from: 3, worlds: 50 },
  fence_quorum: { favourite: 'part', from: 379, worlds: 600 },
  rows_after: { from: 1, worlds: 150 },
  rows_last: { favourite: 'lapse', from: 18, worlds: 400 },
  drain: { from: 5, worlds: 150 },
  same_id: { from: 1, worlds: 150 },
  same_life: { favourite: 'part', from: 14, worlds: 200 },
  copies_noted: { from: 1, worlds: 100 },
  kept_first: { held: true, from: 1, worlds: 100 },
  purged_first: { from: 14, worlds: 400 },
  item_commands: { items: true, from: 31, worlds: 60 },
  due_run_id: { from: 5, worlds: 100 },
}

/** Taken away by day; by night each is. That a rule is missed says that the search is blind. */
const daily: readonly Rule[] = ['chain', 'fence', 'cache_ends', 'drain', 'same_id', 'item_commands']

describe('a simulated cluster without one of the rules', () => {
  for (const rule of rules) {
    it.runIf(isNight || daily.includes(rule))(`breaks a promise: ${rule}`, async () => {
      const { favourite, from, worlds, items = false, held = false } = needs[rule]
      let found = 0
      for (let seed = from; found === 0 && seed < from + worlds; seed++) {
        const { findings } = await simulate({ seed, without: rule, favourite, items, held })
        if (findings.length > 0) found = seed
      }
      expect(found).toBeGreaterThan(0)
    }, longMs)
  }
})

describe('npm run simulate', () => {
  it.runIf(isNight)('prints in one line what it found and how to reproduce it, and the trace',
    () => {
      const args = [command, '--seeds', '4', '--from', '13', '--without', 'fence']
      const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
      expect(status).toBe(1)
      const [, seed] = /^seed (\d+): \w+: .* — (?:npm run simulate -- --seed \1 .*--trace)$/m
        .exec(stdout) ?? []
      expect(seed).toBeDefined()
      expect(stdout).toMatch(/\d+\.\d {2}all is well again/)
      expect(stdout).toMatch(/4 seeds, \d+ bad; .* seeds a second\n$/)
    })
})
