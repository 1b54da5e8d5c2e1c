/** A suspect's own process: it works as a thread does, and its end ends nothing else. */

import { describe, expect, it } from 'vitest'

import { useGates } from '../../../support/gate.ts'
import { isNight } from '../../../support/repeats.ts'
import { hostProject, logged, TestHost, useSharedHost } from '../project/host-project.ts'
import { askedToRemember, itemGraph, remembered, useDamagedItems } from './damaged-items.ts'

const gate = useGates()
const success = { status: 'success', waiting: false, interrupts: '{}', error: null }
const apart = { apart: true }

const harmful = `
  export const kill = one(() => {
    process.kill(process.pid, 'SIGKILL')
    return new Promise(() => {})
  })
  export const grow = one(() => {
    return new Array(2 ** 25).fill(process.pid / 7)
  })
  export const tell = one(async (_, config) => {
    console.log(\`printed by \${process.pid}\`)
    return [process.pid, ...await askForItems(config)]
  })`

const sharedHost = useSharedHost(`${harmful}${itemGraph}`)

describe('a run in a process of its own', () => {
  it('runs like any other: resumes its thread, asks for items, prints into the log', async () => {
    const test = sharedHost()
    const asked = useDamagedItems(test)
    const { threadId, log, end } = test.run('where', {})
    expect(await end).toEqual(success)
    const run = test.run('tell', {}, { ...apart, threadId, log })
    expect(await run.end).toEqual(success)
    const [pid, ...items] = logged(run) as [number, ...unknown[]]
    expect(pid).not.toBe(process.pid)
    expect(items).toEqual(remembered)
    expect(asked).toEqual(askedToRemember)
    expect(log.values().log).toHaveLength(2)
    await expect.poll(() => test.env.lines.map(({ message }) => message))
      .toContain(`printed by ${pid}`)
  })

  it('may kill its process: it is lost, and the others continue', async () => {
    const test = sharedHost()
    const held = gate()
    const beside = test.run('hold', { url: held.url })
    await held.arrived()
    expect(await test.run('kill', {}, apart).end).toBe('crashed')
    held.open()
    expect(await beside.end).toEqual(success)
  })

  it.runIf(isNight)('that takes one object beyond the limit, which no thread survives, is asked so',
    async () => {
      const test = await TestHost.start(1, await hostProject(`${harmful}${itemGraph}`), {
        heapMb: 64,
      })
      expect(await test.run('grow', {}, apart).end).toBe('full')
      expect(await test.run('where', {}).end).toEqual(success)
    })

  it.runIf(isNight)('that never returns ends when it is aborted', async () => {
    const test = await TestHost.start(1)
    const held = gate()
    const { id } = test.run('spin', { url: held.url }, apart)
    await held.arrived()
    held.open()
    test.stall(2_000)
    test.host.abort(id)
    await expect.poll(() => test.host.stats()).toMatchObject({ underWay: 0, ready: 1, starting: 0 })
  })
})
