/** User code that harms its worker: the others on it, and the server, go on. */

import { once } from 'node:events'
import { watch } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { useGates } from '../../support/gate.ts'
import { TestHost, hostProject } from './host-project.ts'

const gate = useGates()
const success = { status: 'success', waiting: false, interrupts: '{}', error: null }
const question = { kind: 'state', ns: '', checkpointId: null, subgraphs: false } as const

/** The only run that a worker has, and a question to the graph `asked` that comes to it as well. */
async function besideAQuestion(test: TestHost) {
  const { log, end } = test.run('where', {}, { threadId: 't' })
  await end
  const held = gate()
  const run = test.run('hold', { url: held.url })
  await held.arrived()
  return { run, ask: () => void test.host.ask('asked', 't', question, log).catch(() => {}) }
}

describe('user code', () => {
  it('that ends its worker costs the others no attempt, and is on its own then', async () => {
    const test = await TestHost.start(1)
    const held = gate()
    const neighbour = test.run('hold', { url: held.url })
    await held.arrived()
    const wish = { threadId: 'x', runId: 'x' }
    expect(await test.run('exit', {}, wish).end).toBe('crashed')
    expect(await neighbour.end).toBe('displaced')
    const second = gate()
    const again = test.run('hold', { url: second.url })
    await second.arrived()
    expect(await test.run('exit', {}, wish).end).toBe('crashed')
    second.open()
    expect(await again.end).toEqual(success)
  })

  it('may print without an end', async () => {
    const test = await TestHost.start(1, await hostProject(`
      export const pour = one(() => {
        for (let n = 0; n < 40; n++) process.stdout.write('y'.repeat(50_000))
        return {}
      })`))
    const printed = Promise.withResolvers<void>()
    let length = 0
    test.env.log.info = (message) => {
      expect(message.length).toBeLessThanOrEqual(64 * 1024)
      length += message.length
      if (length > 1_500_000) printed.resolve()
    }
    await test.run('pour', {}).end
    await printed.promise
  })
})

describe('a worker that spins', () => {
  it('over a question gives back the only run that it has', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'heddle-asked-'))
    const test = await TestHost.start(1, await hostProject(`
      export const asked = (config, { accessContext }) => {
        if (accessContext !== 'threads.read') return where
        process.getBuiltinModule('node:fs').mkdirSync(${JSON.stringify(join(folder, 'spins'))})
        for (;;);
      }`))
    const { run, ask } = await besideAQuestion(test)
    const spins = once(watch(folder), 'change')
    ask()
    await spins
    test.stall(5000)
    expect(await run.end).toBe('displaced')
    await rm(folder, { recursive: true })
  })
})

describe('a question that ends its worker', () => {
  it('costs the only run there no attempt, unless that is under suspicion already', async () => {
    const test = await TestHost.start(1, await hostProject(`
      export const asked = (config, { accessContext }) => {
        if (accessContext === 'threads.read') process.exit(1)
        return where
      }`))
    const { run, ask } = await besideAQuestion(test)
    ask()
    expect(await run.end).toBe('displaced')
  })
})
