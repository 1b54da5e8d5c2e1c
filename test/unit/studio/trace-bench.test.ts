/** The bench of traces: rows that are chosen, and a work on them that ends or is stopped. */

import { describe, expect, it } from 'vitest'

import { readProjectSearch } from '../../../src/studio/addresses/traces.ts'
import { exampleOf } from '../../../src/studio/datasets/example-of.ts'
import { hasRow, toggled, withRange } from '../../../src/studio/rows/choice.ts'
import { runsAtOnce, runsMax, work } from '../../../src/studio/traces/bench/trace-work.ts'

const ids = (count: number) => Array.from({ length: count }, (_, at) => String(at))

describe('a choice', () => {
  it('has single rows, ranges, or all', () => {
    expect([...toggled(undefined, 'a')]).toEqual(['a'])
    expect([...toggled(new Set(['a', 'b']), 'a')]).toEqual(['b'])
    expect([...toggled('all', 'a')]).toEqual(['a'])
    expect([...withRange(new Set(['9']), ids(5), 3, 1)]).toEqual(['9', '1', '2', '3'])
    expect(hasRow('all', 'x')).toBe(true)
    expect(hasRow(new Set(['a']), 'x')).toBe(false)
    expect(hasRow(undefined, 'x')).toBe(false)
  })
})

describe('a work', () => {
  it('is done part by part, each run once', async () => {
    const parts: (readonly string[])[] = []
    const steps: number[] = []
    for await (
      const done of work([ids(45)], (part) => Promise.resolve(parts.push(part)),
        new AbortController().signal)
    ) steps.push(done)
    expect(parts.map(({ length }) => length)).toEqual([runsAtOnce, runsAtOnce, 5])
    expect(parts.flat()).toEqual(ids(45))
    expect(steps).toEqual([20, 40, 45])
  })

  it('ends at its bound, and when it is stopped', async () => {
    let last = 0
    const never = new AbortController().signal
    const act = () => Promise.resolve()
    for await (last of work([ids(runsMax - 10), ids(60)], act, never));
    expect(last).toBe(runsMax)
    const stop = new AbortController()
    for await (last of work([ids(100)], act, stop.signal)) stop.abort()
    expect(last).toBe(runsAtOnce)
  })
})

describe('an example of a span', () => {
  it('has objects, whatever the span has', () => {
    const id = crypto.randomUUID()
    expect(exampleOf('d', { id, inputs: 'hi', outputs: [1] }))
      .toMatchObject({ dataset_id: 'd', inputs: { input: 'hi' }, outputs: { output: [1] },
        split: ['base'], source_run_id: id })
    expect(exampleOf('d', { id, inputs: { a: 1 }, outputs: null }, 'train'))
      .toMatchObject({ inputs: { a: 1 }, outputs: null, split: ['train'] })
  })
})

describe('an address of the list', () => {
  it('may hold anything', () => {
    expect(readProjectSearch({ list: 'calls', order: 'oldest' })).toMatchObject({ list: 'calls',
      order: 'oldest' })
    expect(readProjectSearch({ list: 'x', order: {} })).toMatchObject({ list: undefined,
      order: undefined })
  })
})
