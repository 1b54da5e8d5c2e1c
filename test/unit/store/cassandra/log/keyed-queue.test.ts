/** Lines: calls with a key in common pass one after another, others do not wait. */

import { describe, expect, it } from 'vitest'

import { KeyedQueue } from '../../../../../src/store/cassandra/log/keyed-queue.ts'

describe('lines', () => {
  /** A call that leaves when the test calls `leave`. */
  function call(lines: KeyedQueue, name: string, keys: readonly string[], log: string[]) {
    const slot = lines.enter(keys)
    const { promise, resolve } = Promise.withResolvers<void>()
    const done = (async () => {
      await slot.before
      log.push(name)
      await promise
      slot.leave()
    })()
    return { done, leave: resolve }
  }
  const settled = () => new Promise(setImmediate)

  it('let calls with a key in common pass one after another', async () => {
    const [lines, log]: [KeyedQueue, string[]] = [new KeyedQueue(), []]
    const a = call(lines, 'a', ['x'], log)
    const b = call(lines, 'b', ['x', 'y'], log)
    const c = call(lines, 'c', ['y'], log)
    const d = call(lines, 'd', ['z'], log)
    await settled()
    expect(log).toEqual(['a', 'd'])
    a.leave()
    await settled()
    expect(log).toEqual(['a', 'd', 'b'])
    b.leave()
    await settled()
    expect(log).toEqual(['a', 'd', 'b', 'c'])
    c.leave()
    d.leave()
    await lines.quiet()
    expect(lines.passed('x')).toBeUndefined()
  })

  it('forget a line once the last one has left', async () => {
    const lines = new KeyedQueue()
    const first = lines.enter(['x'])
    const second = lines.enter(['x'])
    first.leave()
    expect(lines.passed('x')).toBeDefined()
    second.leave()
    expect(lines.passed('x')).toBeUndefined()
    expect(lines.enter(['x']).before).toBeUndefined()
  })
})
