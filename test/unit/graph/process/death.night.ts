/** The end of a graph process: what it had is lost, and the server goes on. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

import { describe, expect, it, onTestFinished, vi } from 'vitest'

import { Suspects } from '../../../../src/graph/index.ts'
import type { GraphProcess } from '../../../../src/graph/index.ts'
import { useGates } from '../../../support/gate.ts'
import type { Given, TestHost } from '../project/host-project.ts'
import { hostFolder } from '../project/host-project.ts'
import { startProcess } from './process-host.ts'

const gate = useGates()
const success = { status: 'success', waiting: false, interrupts: '{}', error: null }

const harmful = `
import { writeSync } from 'node:fs'
const kept = []
export const kill = one(() => {
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => {})
})
export const fill = one(async () => {
  for (;;) {
    kept.push(Buffer.alloc(2 ** 24, 1))
    await new Promise(setImmediate)
  }
})
export const pid = one(() => String(process.pid))
export const garbage = one(() => {
  writeSync(3, Buffer.alloc(64, 120))
  return new Promise(() => {})
})
export const forged = one(async () => {
  const { serialize } = await import('node:v8')
  const body = serialize([{ type: 'steps', id: 'x' }])
  const header = Buffer.alloc(4)
  header.writeUInt32LE(body.length)
  writeSync(3, Buffer.concat([header, body]))
  return new Promise(() => {})
})
export const patient = async (config, { accessContext }) => {
  if (accessContext === 'threads.read') await fetch(config.configurable.url)
  return where
}
`

/** Time in which the clock of a test goes on by a second, where its process does real work. */
const asFast = 1_000

/** The end of an execution while the clock of the test goes on by a second in each interval. */
async function endOf(test: TestHost<GraphProcess>, run: Given, interval = 50): Promise<unknown> {
  let end: unknown
  void run.end.then((value) => (end = value))
  await expect.poll(() => {
    test.env.advance(1_000)
    return end
  }, { timeout: 60_000, interval }).toBeDefined()
  return end
}

describe('a process that is killed', () => {
  it('loses what it executes, leaves questions without an answer, and says so once', async () => {
    const lastOf: (string | undefined)[] = []
    const died = vi.fn(() => void lastOf.push(...runs.map(({ emitted }) => emitted.at(-1)?.kind)))
    const test = await startProcess({ extra: harmful, died })
    const held = gate()
    const runs = [1, 2].map(() => test.run('hold', { url: held.url }))
    const question = { kind: 'state', configurable: { url: held.url }, ns: '', checkpointId: null,
      subgraphs: false } as const
    const { log, threadId, end } = test.run('where', {})
    await end
    const asked = test.host.ask('patient', threadId, question, log)
    const unanswered = expect(asked).rejects.toMatchObject({ code: 'unavailable' })
    await held.arrived(3)
    process.kill(test.host.pid, 'SIGKILL')
    expect(await Promise.all(runs.map(({ end }) => end))).toEqual(['crashed', 'crashed'])
    await unanswered
    expect(died).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('SIGKILL'))
    expect(lastOf).toEqual(['lost', 'lost'])
    await expect(test.host.schemas('where')).rejects.toMatchObject({ code: 'unavailable' })
    const [late, aborted] = [test.run('where', {}), test.run('where', {})]
    test.host.abort(aborted.id)
    test.env.advance(1_000)
    expect(await late.end).toBe('displaced')
    expect(aborted.emitted).toEqual([])
  })

  it('is nothing that a closed one reports', async () => {
    const died = vi.fn()
    const test = await startProcess({ died })
    const held = gate()
    const run = test.run('hold', { url: held.url })
    await held.arrived()
    const { pid } = test.host
    await test.host.close()
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
    expect(run.emitted.filter(({ kind }) => kind !== 'steps')).toEqual([])
    expect(died).not.toHaveBeenCalled()
  })
})

describe('a run that ends its process', () => {
  it('is a suspect, which gets a process of its own and ends no other', async () => {
    const suspects = new Suspects()
    const options = { runId: 'culprit', threadId: 'culprit' }
    const first = await startProcess({ extra: harmful, suspects })
    expect(await first.run('kill', {}, options).end).toBe('crashed')
    const died = vi.fn()
    const next = await startProcess({ extra: harmful, suspects, died })
    const held = gate()
    const beside = next.run('hold', { url: held.url })
    await held.arrived()
    expect(await next.run('kill', {}, options).end).toBe('crashed')
    held.open()
    expect(await beside.end).toEqual(success)
    expect(died).not.toHaveBeenCalled()
    // It is cleared by an end of its own.
    const cleared = next.run('pid', {}, options)
    expect(await cleared.end).toEqual(success)
    expect(cleared.log.values().log).not.toEqual([String(next.host.pid)])
    const trusted = next.run('pid', {}, options)
    await trusted.end
    expect(trusted.log.values().log).toEqual([String(next.host.pid)])
  })

  it('runs, pauses and is aborted apart, two at a time', async () => {
    const test = await startProcess({ extra: harmful })
    const held = gate()
    const runs = [1, 2, 3].map(() => test.run('hold', { url: held.url }, { apart: true }))
    await held.arrived(2)
    test.host.pause(runs[2]!.id)
    expect(await runs[2]!.end).toMatchObject({ status: 'drained' })
    test.host.abort(runs[0]!.id)
    const last = test.run('pid', {}, { apart: true })
    expect(await last.end).toEqual(success)
    held.open()
    expect(await runs[1]!.end).toEqual(success)
    await expect.poll(() => test.host.stats().underWay).toBe(0)
  })
})

describe('a process that uses too much memory', () => {
  it('is ended; the run goes on in one of its own, and ends with an error there', async () => {
    const suspects = new Suspects()
    const died = vi.fn()
    const test = await startProcess({ extra: harmful, memoryMb: 400, suspects, died })
    const options = { runId: 'r', threadId: 't' }
    expect(await endOf(test, test.run('fill', {}, options), asFast)).toBe('displaced')
    expect(died.mock.calls).toEqual([['It used more than 400 MiB of memory.']])
    expect(await endOf(test, test.run('fill', {}, options), asFast)).toBe('full')
  })

  it('ends a run that was alone with an error where nobody remembers it', async () => {
    const test = await startProcess({ extra: harmful, memoryMb: 400 })
    expect(await endOf(test, test.run('fill', {}), asFast)).toBe('full')
    expect(test.host.memoryBytes()).toBeGreaterThan(0)
  })
})

describe('a process that is silent', () => {
  it('for 30 seconds is ended', async () => {
    const died = vi.fn()
    const test = await startProcess({ died })
    const held = gate()
    const run = test.run('hold', { url: held.url })
    await held.arrived()
    process.kill(test.host.pid, 'SIGSTOP')
    for (let second = 0; second < 25; second++) test.env.advance(1_000)
    expect(died).not.toHaveBeenCalled()
    expect(await endOf(test, run)).toBe('crashed')
    expect(died).toHaveBeenCalledWith('It did not answer for 30 seconds.')
  })
})

describe('code that writes to the wire', () => {
  it.each(['garbage', 'forged'])('ends its process and not the server: %s', async (graphId) => {
    const died = vi.fn()
    const test = await startProcess({ extra: harmful, died })
    expect(await test.run(graphId, {}).end).toBe('crashed')
    expect(died).toHaveBeenCalledWith(expect.stringMatching(/^It sent what/))
  })
})

it('A process ends with its server.', async () => {
  const folder = await hostFolder()
  const script = `
    import { systemEnv } from '${
    fileURLToPath(import.meta.resolve('../../../../cluster/index.ts'))
  }'
    import { startGraphProcess } from
      '${fileURLToPath(import.meta.resolve('../../../../src/graph/index.ts'))}'
    const { pid } = await startGraphProcess({ configFile: '${folder}/langgraph.json',
      folder: '${folder}', variables: {}, workers: 1, memoryMb: 1024, allowsAddons: false,
      env: systemEnv() })
    console.log(pid)`
  const server = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void server.kill('SIGKILL'))
  const [line] = await once(createInterface(server.stdout!), 'line') as [string]
  const isAlive = () => {
    try {
      return process.kill(Number(line), 0)
    } catch {
      return false
    }
  }
  expect(isAlive()).toBe(true)
  server.kill('SIGKILL')
  await expect.poll(isAlive, { timeout: 30_000 }).toBe(false)
})
