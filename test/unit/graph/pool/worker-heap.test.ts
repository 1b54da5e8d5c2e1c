/** A graph that fills its worker's memory: its own run ends, and no other loses anything. */

import { describe, expect, it } from 'vitest'

import { compilerHeapMb, defaultHeapMb, memoryMb } from '../../../../src/graph/pool/worker-heap.ts'
import { useGates } from '../../../support/gate.ts'
import { hostProject, logged, TestHost } from '../project/host-project.ts'
import { isNight } from '../../../support/repeats.ts'

const gate = useGates()
const success = { status: 'success', waiting: false, interrupts: '{}', error: null }

/** `fill` never frees what it makes; it yields now and then, as a graph that grows would. */
const filling = `
  export const fill = one(async ({ url }) => {
    if (url) await fetch(url)
    const kept = []
    for (let n = 1; ; n++) {
      kept.push(new Array(10_000).fill(n / 3))
      if (n % 100 === 0) await new Promise(setImmediate)
    }
  })`

describe('a graph that fills the memory of its worker', () => {
  it('ends its own run, once it was alone; the others move on without losing an attempt',
    async () => {
      const test = await TestHost.start(1, await hostProject(filling), { heapMb: 64 })
      const held = gate()
      const neighbour = test.run('hold', { url: held.url })
      await held.arrived()
      const options = { threadId: 'x', runId: 'x' }
      expect(await test.run('fill', {}, options).end).toBe('displaced')
      expect(await neighbour.end).toBe('displaced')
      const again = gate()
      const resumed = test.run('hold', { url: again.url })
      await again.arrived()
      expect(await test.run('fill', {}, options).end).toBe('full')
      again.open()
      expect(await resumed.end).toEqual(success)
      expect(logged(resumed)).toBe('held')
      expect(test.env.lines.map(({ message }) => message))
        .toContain('Graphs have filled the memory of a worker.')
    })

  it.runIf(isNight)('is found even if a neighbour is suspected first', async () => {
    const test = await TestHost.start(1, await hostProject(filling), { heapMb: 64 })
    const [held, second] = [gate(), gate()]
    const innocent = { threadId: 'i', runId: 'i' }
    const guilty = { threadId: 'g', runId: 'g' }
    // The innocent run is entered last; the guilty one continues when its answer comes.
    const filling1 = test.run('fill', { url: held.url }, guilty)
    await held.arrived()
    const waiting1 = test.run('hold', { url: second.url }, innocent)
    await second.arrived()
    held.open()
    expect([await filling1.end, await waiting1.end]).toEqual(['displaced', 'displaced'])
    const third = gate()
    const waiting2 = test.run('hold', { url: third.url }, innocent)
    await third.arrived()
    expect(await test.run('fill', {}, guilty).end).toBe('displaced')
    expect(await test.run('fill', {}, guilty).end).toBe('full')
    third.open()
    expect(await waiting2.end).toEqual(success)
  })
})

describe("the default of a worker's memory", () => {
  it("is the memory less the server's share, by workers, within bounds", () => {
    expect([512, 2048, 9999].map(compilerHeapMb)).toEqual([256, 512, 1024])
    expect(defaultHeapMb(4096, 2)).toBe(1536)
    expect(defaultHeapMb(4096, 8)).toBe(384)
    expect(defaultHeapMb(1024, 2)).toBe(256)
    expect(defaultHeapMb(512, 8)).toBe(128)
    expect(defaultHeapMb(262_144, 8)).toBe(4096)
  })

  it('starts from what this process may have', () => {
    expect(memoryMb()).toBeGreaterThan(256)
    expect(memoryMb()).toBeLessThan(64 * 1024 * 1024)
  })
})
