/**
 * What user code posts in the name of its worker: the server continues, and others' jobs as well.
 */

import { describe, expect, it } from 'vitest'

import { isWorkerMail } from '../../../../src/graph/pool/mail-check.ts'
import type { WorkerMail } from '../../../../src/graph/pool/worker-mail.ts'
import { useGates } from '../../../support/gate.ts'
import { hostProject, logged, TestHost } from '../project/host-project.ts'

const gate = useGates()
const success = { status: 'success', waiting: false, interrupts: '{}', error: null }

/** User code that adds messages to those that its worker sends next. */
const forge = `
  const { push } = Array.prototype
  const forge = (mails) => {
    Array.prototype.push = function (...items) {
      if (items[0]?.type !== 'batch') return push.apply(this, items)
      Array.prototype.push = push
      return push.call(this, ...mails, ...items)
    }
  }
`

describe('the port of a worker', () => {
  it('is in no place where user code looks for it', async () => {
    const test = await TestHost.start(1, await hostProject(`
      import threads, { workerData, MessagePort } from 'node:worker_threads'
      const seen = []
      const { postMessage } = MessagePort.prototype
      MessagePort.prototype.postMessage = function (mails) {
        seen.push('post')
        return postMessage.call(this, mails)
      }
      for (const name of ['on', 'addEventListener', 'dispatchEvent', 'emit']) {
        const own = Object.getPrototypeOf(MessagePort.prototype)
        const before = own[name]
        if (!before) continue
        own[name] = function (...args) {
          if (this instanceof MessagePort) seen.push(name)
          return before.apply(this, args)
        }
      }
      export const search = one(() => JSON.stringify([workerData, threads.workerData,
        process.getBuiltinModule('worker_threads').workerData,
        process._getActiveHandles().filter((each) => each instanceof MessagePort).length, seen]))`))
    await test.run('where', {}).end
    const run = test.run('search', {})
    expect(await run.end).toEqual(success)
    expect(JSON.parse(logged(run) as string)).toEqual([null, null, null, 0, []])
  })

  it('takes anything without harm to the server and to runs beside', async () => {
    const test = await TestHost.start(1, await hostProject(`${forge}
      const junk = ['x', 5, null, {}, [], [null], { type: 'nothing' },
        { type: 'batch', job: 1 }, { type: 'batch', job: 1, batch: {} },
        { type: 'batch', job: 1, batch: { steps: [{ $case: 'checkpoint' }], events: [],
          ackId: 0, outcome: null } }, { type: 'read', job: 1, reading: 1 },
        { type: 'read', job: 1, reading: 1, what: { kind: 'list' } }, { type: 'ready' },
        { type: 'ready', graphs: [], failures: [], unknown: [] },
        { type: 'answer', job: 1, result: {} },
        { type: 'answer', job: 1, result: { error: { code: 'no such', message: 'x' } } },
        { type: 'refused', isTransient: false, reason: 'x' }, { type: 'loading', graphId: 'x' }]
      export const post = one(() => { forge(junk); return 'posted' })`))
    const held = gate()
    const beside = test.run('hold', { url: held.url })
    await held.arrived()
    const run = test.run('post', {})
    expect(await run.end).toEqual(success)
    expect(logged(run)).toBe('posted')
    held.open()
    expect(await beside.end).toEqual(success)
    expect(test.host.describe('where')).toBeDefined()
    expect(test.env.lines.filter(({ level }) => level === 'error')).toMatchObject(
      [{ message: 'A graph worker posted what is no message; it is ignored.' }],
    )
  })

  it('speaks for the jobs of its own worker only', async () => {
    const test = await TestHost.start(2, await hostProject(`${forge}
      const outcome = { status: 'success', waiting: false, interrupts: '{}', error: null }
      const over = { steps: [], events: [], ackId: 0, outcome }
      const what = { kind: 'tuple', ns: '', checkpointId: null }
      export const end = one(() => {
        // The start of the host has used up some hundreds of numbers, on a slow machine.
        const jobs = Array.from({ length: 3_000 }, (_, job) => job)
        forge(jobs.flatMap((job) => [{ type: 'batch', job, batch: over },
          { type: 'broken', job }, { type: 'read', job, reading: job, what }]))
        return 'forged'
      })`))
    const held = gate()
    const beside = test.run('hold', { url: held.url })
    await held.arrived()
    const run = test.run('end', {})
    await run.end
    await test.run('where', {}).end
    expect(beside.emitted.filter(({ kind }) => kind !== 'steps')).toEqual([])
    held.open()
    expect(await beside.end).toEqual(success)
    expect(logged(beside)).toBe('held')
  })
})

describe('a message', () => {
  const ended = { steps: [], events: [], ackId: 0, outcome: null }
  const good: WorkerMail[] = [
    { type: 'pong' },
    { type: 'broken', job: 1 },
    { type: 'loading', graphId: null },
    { type: 'refused', isTransient: false, reason: 'x' },
    { type: 'ready', graphs: [], failures: [], unknown: [] },
    { type: 'ready', graphs: [], failures: [], unknown: ['bare-stream'],
      engine: { version: '9.9.9', nearestKnown: '1.7.3' } },
    { type: 'batch', job: 1, batch: ended },
    { type: 'batch', job: 1,
      batch: { ...ended, texts: ['x'],
        events: [{ name: 'updates', json: '{}', valuesOf: '', durable: true }] } },
    { type: 'answer', job: 1, result: { value: undefined } },
    { type: 'answer', job: 1, result: { error: { code: 'invalid', message: 'x' } } },
    { type: 'read', job: 1, reading: 2, what: { kind: 'tuple', ns: '', checkpointId: null } },
  ]

  it.each(good)('that is one is taken: %j', (mail) => {
    expect(isWorkerMail(mail)).toBe(true)
  })

  it.each(good)('without one of its fields is refused: %j', (mail) => {
    for (const name of Object.keys(mail)) {
      expect(isWorkerMail({ ...mail, [name]: Symbol('nothing of ours') })).toBe(false)
    }
  })
})
