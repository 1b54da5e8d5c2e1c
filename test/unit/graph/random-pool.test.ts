/** Random bytes from a pool are as good as the system's. */

import { Worker } from 'node:worker_threads'

import { describe, expect, it } from 'vitest'

/** In a thread of its own: the pool is for all of a thread. */
function drawn(expression: string): Promise<unknown> {
  const url = new URL('../../../src/graph/random-pool.ts', import.meta.url)
  const worker = new Worker(`
    import { parentPort } from 'node:worker_threads'
    import { poolRandomness } from '${url}'
    poolRandomness()
    parentPort.postMessage(${expression})`, { eval: true, execArgv: ['--input-type=module'] })
  return new Promise((resolve, reject) => worker.on('message', resolve).on('error', reject))
}

const ids = (count: number, bytes: number) => `Array.from({ length: ${count} }, () =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(${bytes}))).toString('hex'))`

describe('pooled randomness', () => {
  it('never gives the same bytes twice', async () => {
    const all = await drawn(ids(20_000, 16)) as string[]
    expect(new Set(all).size).toBe(20_000)
  })

  it('is spread evenly over all values', async () => {
    const all = await drawn(ids(4_000, 16)) as string[]
    const counts = new Array<number>(256).fill(0)
    for (const byte of Buffer.from(all.join(''), 'hex')) counts[byte]!++
    expect(Math.min(...counts)).toBeGreaterThan(150)
    expect(Math.max(...counts)).toBeLessThan(350)
  })

  it('fills the array that it was given, long ones and words as well', async () => {
    const filled = await drawn(`[new Uint8Array(100), new Uint32Array(4)].map((array) =>
      crypto.getRandomValues(array) === array && array.some((value) => value !== 0))`)
    expect(filled).toEqual([true, true])
  })
})
