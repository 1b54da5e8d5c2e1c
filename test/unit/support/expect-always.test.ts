/** A search ends in time, finds what is wrong, and makes it small. */

import { existsSync, readFileSync } from 'node:fs'

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { expectAlways, foundFile } from '../../support/expect-always.ts'

function busyMs(ms: number): void {
  const began = process.cpuUsage()
  for (;;) {
    const { user, system } = process.cpuUsage(began)
    if (user + system > ms * 1_000) return
  }
}

describe('a search', () => {
  it('ends when its time is over, and tries at least once', async () => {
    let tries = 0
    expectAlways(fc.property(fc.nat(), () => {
      tries++
      busyMs(3)
    }))
    expect(tries).toBeGreaterThan(0)
    expect(tries).toBeLessThan(500)
    tries = 0
    await expectAlways(fc.asyncProperty(fc.nat(), async () => {
      tries++
      busyMs(30)
    }), { share: 0.001 })
    expect(tries).toBe(1)
  })

  it('tries the same values again', () => {
    const seen = () => {
      const values: number[] = []
      expectAlways(fc.property(fc.nat(), (value) => void values.push(value)))
      return values
    }
    // How many it tries in its time depends on the machine.
    const [first, second] = [seen(), seen()]
    const both = Math.min(first.length, second.length, 5)
    expect(first.slice(0, both)).toEqual(second.slice(0, both))
  })

  it('finds the smallest value that fails, also after its time', async () => {
    const property = (value: number) => {
      busyMs(1)
      expect(value).toBeLessThan(1_000)
    }
    const written = () => (existsSync(foundFile) ? readFileSync(foundFile, 'utf8') : '')
    const before = written()
    expect(() => expectAlways(fc.property(fc.nat(), property), { isMeantToFail: true }))
      .toThrow(/Counterexample: \[1000\]/)
    await expect(
      expectAlways(fc.asyncProperty(fc.nat(), async (value) => property(value)), {
        isMeantToFail: true,
      }),
    ).rejects.toThrow(/Counterexample: \[1000\]/)
    expect(written()).toBe(before)
  })

  it('tries its examples first', () => {
    const seen: number[] = []
    expectAlways(fc.property(fc.nat(), (value) => void seen.push(value)), { examples: [[77]] })
    expect(seen[0]).toBe(77)
  })
})
