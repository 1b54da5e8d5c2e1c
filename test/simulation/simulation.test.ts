/** Ownership and the log in simulated worlds: what holds, and that each rule is needed for it. */

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

import { describe, expect, it } from 'vitest'

import { report } from './report.ts'
import type { Rule } from './rule.ts'
import { simulate } from './simulation.ts'

const command = fileURLToPath(new URL('./simulate.ts', import.meta.url))
const longMs = 240_000

describe('a simulated cluster', () => {
  it('loses, repeats and contradicts nothing, whatever goes wrong in 500 worlds', async () => {
    const bad: string[] = []
    let [acknowledged, reads, owners] = [0, 0, 0]
    for (let seed = 1; seed <= 500; seed++) {
      const outcome = await simulate({ seed })
      acknowledged += outcome.acknowledged
      reads += outcome.reads
      owners += outcome.owners
      if (outcome.findings.length > 0) bad.push(report(outcome))
    }
    expect(bad).toEqual([])
    // Worlds in which nothing succeeds, or nobody takes over, would prove nothing.
    expect(acknowledged).toBeGreaterThan(10_000)
    expect(reads).toBeGreaterThan(10_000)
    expect(owners).toBeGreaterThan(1_500)
  }, longMs)

  it('lives the same life again from the same seed', async () => {
    const life = async () => (await simulate({ seed: 77, tracing: true })).trace
    const first = await life()
    await simulate({ seed: 78 })
    expect(await life()).toEqual(first)
    expect(first.length).toBeGreaterThan(20)
  })
})

/** How many worlds show what a rule is for: some of them are seldom needed. */
const worlds: Readonly<Record<Rule, number>> = {
  chain: 100, order: 100, open_row: 300, validate_after: 300, reply_gate: 150, read_repair: 100,
  places_again: 150, roll_over: 600, rank: 300, fence: 50, fence_quorum: 300, rows_after: 100,
  rows_last: 600,  drain: 100,
}

describe('a simulated cluster without one of the rules', () => {
  for (const [rule, limit] of Object.entries(worlds)) {
    it(`breaks a promise: ${rule}`, async () => {
      let found = 0
      for (let seed = 1; found === 0 && seed <= limit; seed++) {
        const { findings } = await simulate({ seed, without: rule as Rule })
        if (findings.length > 0) found = seed
      }
      expect(found).toBeGreaterThan(0)
    }, longMs)
  }
})

describe('npm run simulate', () => {
  it('says in one line what it found and how to see it again, and tells the story', () => {
    const args = [command, '--seeds', '20', '--without', 'fence']
    const { status, stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
    expect(status).toBe(1)
    const [, seed] = /^seed (\d+): \w+: .* — (?:npm run simulate -- --seed \1 .*--trace)$/m
      .exec(stdout) ?? []
    expect(seed).toBeDefined()
    expect(stdout).toMatch(/\d+\.\d {2}all is well again/)
    expect(stdout).toMatch(/20 seeds, \d+ bad; .* seeds a second\n$/)
  })
})
