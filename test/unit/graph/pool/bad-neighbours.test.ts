/** User code that harms its worker: other runs, other graphs and the server continue. */

import { once } from 'node:events'
import { watch } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setEnvironmentData } from 'node:worker_threads'

import { describe, expect, it, onTestFinished } from 'vitest'

import { startGraphHost } from '../../../../src/graph/index.ts'
import { virtualEnv } from '../../../support/env.ts'
import { useGates } from '../../../support/gate.ts'
import { isNight } from '../../../support/repeats.ts'
import { hostProject, TestHost } from '../project/host-project.ts'

const gate = useGates()
const success = { status: 'success', waiting: false, interrupts: '{}', error: null }
const question = { kind: 'state', configurable: {}, ns: '', checkpointId: null,
  subgraphs: false } as const

/** The only run of a worker, and a question to the graph `asked` that the same worker gets. */
async function besideAQuestion(test: TestHost) {
  const { log, end } = test.run('where', {}, { threadId: 't' })
  await end
  const held = gate()
  const run = test.run('hold', { url: held.url })
  await held.arrived()
  return { run, ask: () => void test.host.ask('asked', 't', question, log).catch(() => {}) }
}

describe('user code', () => {
  it('that ends its worker costs other runs no attempt, and then runs alone', async () => {
    const test = await TestHost.start(1)
    const held = gate()
    const neighbour = test.run('hold', { url: held.url })
    await held.arrived()
    const options = { threadId: 'x', runId: 'x' }
    expect(await test.run('exit', {}, options).end).toBe('crashed')
    expect(await neighbour.end).toBe('displaced')
    const second = gate()
    const again = test.run('hold', { url: second.url })
    await second.arrived()
    expect(await test.run('exit', {}, options).end).toBe('crashed')
    second.open()
    expect(await again.end).toEqual(success)
  })

  it.runIf(isNight)('may post to its parent port and listen there without harm', async () => {
    const test = await TestHost.start(1, await hostProject(`
      import { parentPort } from 'node:worker_threads'
      let heard = 0
      parentPort.on('message', () => { heard += 1 })
      export const post = one(() => {
        for (const words of [{ type: 'ready' }, [null], 5]) parentPort.postMessage(words)
        if (heard > 0) throw new Error('that was not meant for me')
        return {}
      })`))
    expect(await test.run('post', {}).end).toEqual(success)
    expect(await test.run('post', {}).end).toEqual(success)
  })

  it('that ends its worker does not lose what its run sent before', async () => {
    const ended = new Int32Array(new SharedArrayBuffer(4))
    setEnvironmentData('over', ended)
    const test = await TestHost.start(1, await hostProject(`
      import { getEnvironmentData } from 'node:worker_threads'
      const { push } = Array.prototype
      const later = setImmediate
      /** Many messages, the last one of the run behind them, and then the end of the worker. */
      const endWithTheLast = () => {
        let isLast = false
        Array.prototype.push = function (...items) {
          if (!items[0]?.batch?.outcome) return push.apply(this, items)
          isLast = true
          const many = Array.from({ length: 5_000 }, () => ({ type: 'pong' }))
          return push.call(this, ...many, ...items)
        }
        globalThis.setImmediate = (post) => later(() => {
          post()
          if (!isLast) return
          const over = getEnvironmentData('over')
          Atomics.store(over, 0, 1)
          Atomics.notify(over, 0)
          process.exit(0)
        })
      }
      export const last = one(async ({ url }) => {
        await fetch(url)
        endWithTheLast()
        return {}
      })`))
    const held = gate()
    const { end } = test.run('last', { url: held.url })
    await held.arrived()
    held.open()
    // A busy main loop gets all of it at once, and the end of the worker first.
    expect(Atomics.wait(ended, 0, 0, 10_000)).not.toBe('timed-out')
    Atomics.wait(ended, 0, 1, 300)
    expect(await end).toEqual(success)
  })

  it.runIf(isNight)('may print without end: long output reaches the log in bounded pieces',
    async () => {
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

describe('a file whose import', () => {
  it('takes long is named in the log, once', async () => {
    const held = gate()
    const project = await hostProject(`export const slow = where; await fetch('${held.url}')`)
    const env = virtualEnv()
    const opening = startGraphHost({ env, workers: 2, project })
    onTestFinished(() => opening.then((host) => host.close()))
    await held.arrived()
    await expect.poll(() => {
      env.advance(5_000)
      return env.lines
    }).toMatchObject([{ level: 'warn', details: { graphId: 'where' } }])
    env.advance(20_000)
    expect(env.lines).toHaveLength(1)
    held.open()
    await opening
  })

  it.runIf(isNight)('takes long does not keep the previous project from getting new workers',
    async () => {
      const test = await TestHost.start(1)
      const held = gate()
      const reloading = test.host.reload(await hostProject(`await fetch('${held.url}')`))
      await held.arrived()
      expect(await test.run('exit', {}).end).toBe('crashed')
      expect(await test.run('where', {}).end).toEqual(success)
      held.open()
      await reloading
    })

  it.runIf(isNight)('ends the worker does not end the reload that came after it', async () => {
    const test = await TestHost.start(1)
    const [held, second] = [gate(), gate()]
    const first = test.host.reload(
      await hostProject(`await fetch('${held.url}'); process.exit(1)`),
    )
    await held.arrived()
    const reloading = test.host.reload(
      await hostProject(`export const fresh = where; await fetch('${second.url}')`),
    )
    expect(await first).toBe('superseded')
    await second.arrived()
    held.open()
    await expect.poll(() => test.env.lines.map(({ message }) => message))
      .toContain('A graph worker ended by itself.')
    second.open()
    await reloading
    expect(test.host.describe('fresh')).toBeDefined()
  })

  it.runIf(isNight)('was done is not blamed if a factory ends the worker', async () => {
    const project = await hostProject('export const quits = () => process.exit(3)')
    await expect(startGraphHost({ env: virtualEnv(), workers: 1, project })).rejects
      .toThrow('before it had loaded the project')
  })

  it.runIf(isNight)('never ends is named in the error if the worker exits over it', async () => {
    const project = await hostProject('export const never = where; await new Promise(() => {})')
    await expect(startGraphHost({ env: virtualEnv(), workers: 1, project })).rejects
      .toMatchObject({ code: 'graph_failed', message: expect.stringContaining('"where"') })
  })
})

describe('a factory', () => {
  it('that never returns does not keep other graphs from being served', async () => {
    // A start waits 10 s for a factory. The timers of this project make that a moment.
    const test = await TestHost.start(1, await hostProject(`
      const { setTimeout } = globalThis
      globalThis.setTimeout = (work, ms, ...more) =>
        setTimeout(work, ms === 10_000 ? 1 : ms, ...more)
      export const waits = () => new Promise(() => setInterval(() => {}, 1_000))`))
    expect(await test.run('where', {}).end).toEqual(success)
    expect(test.host.describe('waits')).toMatchObject({ stateChannels: null, nodes: [] })
  })
})

describe('a worker that spins', () => {
  it.runIf(isNight)('and answers before another has loaded the project loses nothing', async () => {
    const go = new Int32Array(new SharedArrayBuffer(8))
    setEnvironmentData('go', go)
    const test = await TestHost.start(1, await hostProject(`
      import { getEnvironmentData } from 'node:worker_threads'
      export const slow = one(() => {
        const go = getEnvironmentData('go')
        Atomics.store(go, 1, 1)
        Atomics.notify(go, 1)
        Atomics.wait(go, 0, 0)
        return 'over'
      })`))
    const held = gate()
    const neighbour = test.run('hold', { url: held.url })
    await held.arrived()
    const slow = test.run('slow', {})
    await Atomics.waitAsync(go, 1, 0).value
    test.stall(5000)
    expect(test.host.stats()).toMatchObject({ ready: 1, starting: 1, underWay: 2 })
    Atomics.store(go, 0, 1)
    Atomics.notify(go, 0)
    expect(await slow.end).toEqual(success)
    held.open()
    expect(await neighbour.end).toEqual(success)
    expect(test.host.stats().lost).toBe(0)
  })

  it('in a question gives back the only run that it has, at no attempt', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'heddle-asked-'))
    onTestFinished(() => rm(folder, { recursive: true }))
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
    expect(await test.until(run.end)).toBe('displaced')
  })
})

describe('a question that ends its worker', () => {
  it.runIf(isNight)('costs the only run there no attempt', async () => {
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
