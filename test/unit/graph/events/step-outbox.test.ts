/** The outbox of an execution: what it sends leaves in order, in batches, and is acknowledged. */

import { describe, expect, it } from 'vitest'

import { StepOutbox } from '../../../../src/graph/events/step-outbox.ts'
import { partsOf } from '../../../../src/graph/events/worker-batch.ts'
import type { WorkerBatch } from '../../../../src/graph/events/worker-batch.ts'
import type { Step, StepEvent } from '../../../../src/graph/execution.ts'

const step = (taskId: string): Step => ({ $case: 'writes',
  value: { ns: '', checkpointId: 'c', taskId, writes: [] } })
const event = (name: string): StepEvent => ({ name, json: '1', valuesOf: '', durable: false })
const outcome = { status: 'success', waiting: false, interrupts: '{}', error: null } as const

function open() {
  const sent: WorkerBatch[] = []
  const flushes: (() => void)[] = []
  const outbox = new StepOutbox({ send: (batch) => void sent.push(batch),
    schedule: (flush) => void flushes.push(flush) })
  return { outbox, sent, rest: () => {
    for (const flush of flushes.splice(0)) flush()
  } }
}

/** Resolves when all that needs nothing from outside is done. */
const settled = () => new Promise((done) => setImmediate(done))

function emitted({ steps, events }: WorkerBatch): string[] {
  return [...steps.map(({ value }) => 'taskId' in value ? value.taskId : ''),
    ...events.map(({ name }) => name)]
}

describe('Outbox', () => {
  it('sends the steps and events of one turn as one batch', () => {
    const { outbox, sent, rest } = open()
    outbox.step(step('a'))
    outbox.event(event('x'))
    outbox.step(step('b'))
    expect(sent).toEqual([])
    rest()
    expect(sent.map(emitted)).toEqual([['a', 'b', 'x']])
    rest()
    expect(sent).toHaveLength(1)
  })

  it('sends steps that are long together one by one, each with what came before it', () => {
    const { outbox, sent, rest } = open()
    const long = (taskId: string): Step => ({ $case: 'writes',
      value: { ns: '', checkpointId: 'c', taskId,
        writes: [{ index: 0, channel: 'x', value: { json: 'x'.repeat(800_000), form: 0 } }] } })
    outbox.step(step('a'))
    outbox.step(long('b'))
    outbox.event(event('x'))
    outbox.step(long('c'))
    outbox.step(step('d'))
    rest()
    expect(sent.map(emitted)).toEqual([['a', 'b', 'x'], ['c', 'd']])
  })

  it('sends the steps and fails to finish if an event cannot be serialized', async () => {
    const { outbox, sent, rest } = open()
    outbox.step(step('a'))
    outbox.event(event('x'))
    outbox.event(() => {
      throw new Error('a circle')
    })
    outbox.event(event('y'))
    rest()
    outbox.step(step('b'))
    outbox.event(event('z'))
    const acknowledged = outbox.acknowledged()
    rest()
    outbox.confirm(sent.at(-1)!.ackId)
    await acknowledged
    outbox.step(step('c'))
    await expect(outbox.finish(outcome)).rejects.toThrow('a circle')
    expect(sent.map(emitted)).toEqual([['a', 'x'], ['b'], ['c']])
    expect(sent.every((batch) => batch.outcome === null)).toBe(true)
  })

  it('finishes with the error of a run that also has an event without data', async () => {
    const { outbox, sent } = open()
    outbox.step(step('a'))
    outbox.event(() => {
      throw new Error('a circle')
    })
    const failed = { ...outcome, status: 'error' } as const
    await outbox.finish(failed)
    expect(sent).toMatchObject([{ steps: [step('a')], events: [], outcome: failed }])
  })

  it('rejects waits for the log, now or later, if a step cannot be completed', async () => {
    const { outbox, sent, rest } = open()
    outbox.step(step('a'))
    outbox.event(event('x'))
    outbox.hold(Promise.reject(new TypeError('a value that nobody can write down')))
    outbox.step(step('b'))
    outbox.event(event('y'))
    const now = expect(outbox.acknowledged()).rejects.toThrow('write down')
    rest()
    await now
    await expect(outbox.acknowledged()).rejects.toThrow('write down')
    outbox.step(step('c'))
    await expect(outbox.finish(outcome)).rejects.toThrow('write down')
    expect(sent.map(emitted)).toEqual([['a', 'x']])
    expect(sent).toMatchObject([{ ackId: 0, outcome: null }])
  })

  it('fails to finish if a step cannot be completed', async () => {
    const { outbox, sent } = open()
    outbox.step(step('a'))
    outbox.hold(Promise.reject(new Error('cannot be written')))
    await expect(outbox.finish(outcome)).rejects.toThrow('cannot be written')
    expect(sent.map(emitted)).toEqual([['a']])
    expect(sent[0]!.outcome).toBe(null)
  })

  it('acknowledges nothing after the batch that was confirmed', async () => {
    const { outbox, sent, rest } = open()
    const received: string[] = []
    const notify = (name: string) => {
      outbox.step(step(name))
      void outbox.acknowledged().then(() => received.push(name))
      rest()
    }
    notify('first')
    notify('second')
    void outbox.acknowledged().then(() => received.push('whoever asks then'))
    const [first, second] = sent.map(({ ackId }) => ackId)
    outbox.confirm(first!)
    await settled()
    expect(received).toEqual(['first'])
    outbox.confirm(second!)
    await settled()
    expect(received).toEqual(['first', 'second', 'whoever asks then'])
  })

  it('ends with the last part of a long batch, not before', () => {
    const long = (name: string) => ({ ...event(name), json: 'x'.repeat(700_000) })
    const batch = { steps: [step('a')], events: [long('x'), long('y')], ackId: 1, outcome }
    const parts = [...partsOf(batch)]
    expect(parts.length).toBeGreaterThan(1)
    expect(parts.map((part) => part.outcome)).toEqual([...parts.slice(1).map(() => null), outcome])
  })

  it('makes an event when it leaves if it is given as a function', () => {
    const { outbox, sent, rest } = open()
    let name = 'early'
    outbox.event(() => event(name))
    name = 'late'
    rest()
    expect(sent.map(emitted)).toEqual([['late']])
  })

  it('holds a batch back until its steps are complete, and later batches behind it', async () => {
    const { outbox, sent, rest } = open()
    const held = Promise.withResolvers<void>()
    outbox.step(step('a'))
    outbox.hold(held.promise)
    rest()
    outbox.event(event('x'))
    rest()
    const finished = outbox.finish(outcome)
    await Promise.resolve()
    expect(sent).toEqual([])
    held.resolve()
    await finished
    expect(sent.map(emitted)).toEqual([['a'], ['x'], []])
    expect(sent.at(-1)!.outcome).toBe(outcome)
  })

  it('waits for no reader once it is hurried, and drops what only readers get', async () => {
    const { outbox, sent, rest } = open()
    const long = (name: string, durable: boolean) => ({ ...event(name), json: 'x'.repeat(800_000),
      durable })
    for (const name of ['a', 'b', 'c']) {
      outbox.step(step(name))
      outbox.event(long(`${name} durable`, true))
      outbox.event(long(`${name} passing`, false))
      rest()
    }
    await settled()
    expect(sent.some(({ steps }) => emitted({ steps, events: [] } as never).includes('c')))
      .toBe(false)
    outbox.hurry()
    await outbox.finish(outcome)
    expect(sent.at(-1)!.outcome).toBe(outcome)
    expect(sent.flatMap(emitted)).toContain('c durable')
    expect(sent.flatMap(emitted)).not.toContain('c passing')
  })

  it('takes nothing more once it finishes, and only the first outcome', async () => {
    const { outbox, sent, rest } = open()
    const first = outbox.finish(outcome)
    outbox.step(step('late'))
    outbox.event(event('late'))
    await Promise.all([first, outbox.finish({ ...outcome, status: 'aborted' })])
    rest()
    expect(sent.map(({ steps, events, outcome: end }) => [steps, events, end]))
      .toEqual([[[], [], outcome]])
  })

  it('acknowledges when everything sent so far is in the log', async () => {
    const { outbox, sent, rest } = open()
    await outbox.acknowledged()
    outbox.step(step('a'))
    rest()
    const order: string[] = []
    const first = outbox.acknowledged().then(() => order.push('first'))
    rest()
    outbox.step(step('b'))
    const second = outbox.acknowledged().then(() => order.push('second'))
    rest()
    expect(sent.map(({ ackId }) => ackId)).toEqual([0, 1, 2])
    outbox.confirm(2)
    await Promise.all([first, second])
    expect(order).toEqual(['first', 'second'])
    await outbox.acknowledged()
    expect(sent).toHaveLength(3)
  })

  it('rejects all waits for the log once it is closed', async () => {
    const { outbox, rest } = open()
    outbox.step(step('a'))
    const left = outbox.acknowledged()
    rest()
    outbox.step(step('b'))
    const wanted = outbox.acknowledged()
    outbox.close()
    for (const waiting of [left, wanted, outbox.acknowledged()]) {
      await expect(waiting).rejects.toThrow('over')
    }
  })

  it('sends nothing after it was closed', async () => {
    const { outbox, sent, rest } = open()
    outbox.step(step('a'))
    outbox.close()
    rest()
    await outbox.finish(outcome)
    expect(sent).toEqual([])
  })

  describe('with more events than may be in flight', () => {
    const long = 'x'.repeat(700_000)
    const big = (name: string, durable = false): StepEvent => ({ name, json: `"${name}${long}"`,
      valuesOf: '', durable })
    const sizes = (
      { events, texts = [] }: WorkerBatch,
    ) => [events.map(({ json }) => json.length > 0), texts.map((text) => text.slice(1, 2))]

    it('holds back events that need no row until those before have landed', async () => {
      const { outbox, sent, rest } = open()
      outbox.step(step('a'))
      outbox.event(big('1'))
      outbox.event(big('2', true))
      for (const name of ['3', '4']) outbox.event(big(name))
      rest()
      outbox.event(event('later'))
      rest()
      const finished = outbox.finish(outcome)
      const arrived = []
      for (let landed = 0; landed < 2; landed += 1) {
        await settled()
        arrived.push(sent.length)
        outbox.landed()
      }
      await finished
      expect(emitted(sent[0]!)).toEqual(['a', '1', '2', '3', '4'])
      expect(sent.map(sizes)).toEqual([
        [[false, true, false, false], []],
        [[], ['1']],
        [[], ['3']],
        [[], ['4']],
        [[true], []],
        [[], []],
      ])
      expect(arrived).toEqual([2, 4])
      expect(sent.map(({ awaited }) => awaited)).toEqual(
        [undefined, true, undefined, true, undefined, undefined],
      )
      expect(sent.map((batch) => batch.outcome !== null).indexOf(true)).toBe(5)
    })

    it('waits as well if they come one by one', async () => {
      const { outbox, sent, rest } = open()
      for (const name of ['1', '2', '3']) {
        outbox.event(big(name))
        rest()
        await settled()
      }
      expect(sent).toHaveLength(2)
      outbox.landed()
      await settled()
      expect(sent).toHaveLength(3)
    })

    it('waits no more once it is closed', async () => {
      const { outbox, sent, rest } = open()
      for (const name of ['1', '2', '3']) outbox.event(big(name))
      rest()
      const finished = outbox.finish(outcome)
      await settled()
      const before = sent.length
      outbox.close()
      await finished
      expect(sent).toHaveLength(before)
    })
  })
})
