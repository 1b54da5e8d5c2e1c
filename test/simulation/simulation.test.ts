/** Ownership, the log and lives of threads in simulated worlds: no violation, and why. */

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import { describe, expect, it } from 'vitest'

import { repeats } from '../support/repeats.ts'
import type { FaultName } from './faults.ts'
import { report } from './report.ts'
import { rules } from './rule.ts'
import type { Rule } from './rule.ts'
import { simulate } from './simulation.ts'

const command = fileURLToPath(new URL('./simulate.ts', import.meta.url))
const longMs = 600_000
const worldsMax = repeats({ day: 40, night: 80 })

describe('a simulated cluster', () => {
  it('loses, repeats and contradicts nothing in many worlds full of faults', async () => {
    const bad: string[] = []
    let [acknowledged, reads, removals, copies, owners] = [0, 0, 0, 0, 0]
    for (let seed = 1; seed <= worldsMax; seed++) {
      const outcome = await simulate({ seed })
      acknowledged += outcome.acknowledged
      reads += outcome.reads
      removals += outcome.removals
      copies += outcome.copies
      owners += outcome.owners
      if (outcome.findings.length > 0) bad.push(report(outcome))
    }
    expect(bad).toEqual([])
    // Worlds in which nothing succeeds, or nobody takes over, would prove nothing.
    expect(acknowledged / worldsMax).toBeGreaterThan(25)
    expect(reads / worldsMax).toBeGreaterThan(18)
    expect(removals / worldsMax).toBeGreaterThan(0.6)
    expect(copies / worldsMax).toBeGreaterThan(0.2)
    expect(owners / worldsMax).toBeGreaterThan(2.5)
  }, longMs)

  it('loses and brings back no item in 20 worlds full of faults', async () => {
    const bad: string[] = []
    let [acknowledged, reads] = [0, 0]
    for (let seed = 1; seed <= 20; seed++) {
      const outcome = await simulate({ seed, items: true })
      acknowledged += outcome.acknowledged
      reads += outcome.reads
      if (outcome.findings.length > 0) bad.push(report(outcome))
    }
    expect(bad).toEqual([])
    expect(acknowledged).toBeGreaterThan(500)
    expect(reads).toBeGreaterThan(500)
  })

  it('loses and brings back no record in 20 worlds full of faults', async () => {
    const bad: string[] = []
    let [acknowledged, reads] = [0, 0]
    for (let seed = 1; seed <= 20; seed++) {
      const outcome = await simulate({ seed, records: true })
      acknowledged += outcome.acknowledged
      reads += outcome.reads
      if (outcome.findings.length > 0) bad.push(report(outcome))
    }
    expect(bad).toEqual([])
    expect(acknowledged).toBeGreaterThan(150)
    expect(reads).toBeGreaterThan(150)
  })

  it('fires crons once for each due time in 20 worlds', async () => {
    const bad: string[] = []
    let fired = 0
    for (let seed = 1; seed <= 20; seed++) {
      const outcome = await simulate({ seed, crons: true })
      fired += outcome.fired
      if (outcome.findings.length > 0) bad.push(report(outcome))
    }
    expect(bad).toEqual([])
    expect(fired).toBeGreaterThan(100)
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
  /** The first world that is tried: one of the last before the first that shows it. */
  readonly from?: number
  /** How many worlds are tried at most. */
  readonly worlds: number
  /** Whether clients use items instead of lists. */
  readonly items?: boolean
}

const needs: Readonly<Record<Rule, Need>> = {
  chain: { from: 10, worlds: 100 },
  order: { worlds: 100 },
  open_row: { favourite: 'tear', worlds: 600 },
  validate_after: { favourite: 'isolate', worlds: 400 },
  reply_fence: { favourite: 'stop', from: 105, worlds: 300 },
  read_repair: { from: 7, worlds: 150 },
  places_again: { favourite: 'tear', from: 117, worlds: 200 },
  roll_over: { favourite: 'lapse', from: 400, worlds: 600 },
  fence: { worlds: 50 },
  fence_quorum: { favourite: 'part', from: 118, worlds: 600 },
  rows_after: { from: 10, worlds: 150 },
  rows_last: { favourite: 'lapse', from: 95, worlds: 400 },
  drain: { worlds: 150 },
  same_id: { worlds: 150 },
  same_life: { favourite: 'part', from: 60, worlds: 200 },
  copies_noted: { from: 11, worlds: 100 },
  purged_first: { from: 53, worlds: 400 },
  item_commands: { items: true, from: 15, worlds: 60 },
  due_run_id: { from: 6, worlds: 100 },
}

describe('a simulated cluster without one of the rules', () => {
  for (const rule of rules) {
    it(`breaks a promise: ${rule}`, async () => {
      const { favourite, from = 1, worlds, items = false } = needs[rule]
      let found = 0
      for (let seed = from; found === 0 && seed < from + worlds; seed++) {
        const { findings } = await simulate({ seed, without: rule, favourite, items })
        if (findings.length > 0) found = seed
      }
      expect(found).toBeGreaterThan(0)
    }, longMs)
  }
})

describe('npm run simulate', () => {
  it('prints in one line what it found and how to reproduce it, and the trace', () => {
    const args = [command, '--seeds', '6', '--without', 'fence']
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect(status).toBe(1)
    const [, seed] = /^seed (\d+): \w+: .* — (?:npm run simulate -- --seed \1 .*--trace)$/m
      .exec(stdout) ?? []
    expect(seed).toBeDefined()
    expect(stdout).toMatch(/\d+\.\d {2}all is well again/)
    expect(stdout).toMatch(/6 seeds, \d+ bad; .* seeds a second\n$/)
  })
})
