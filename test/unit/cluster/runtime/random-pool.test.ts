/** Random bytes from a pool: each is given once, and the system is asked seldom. */

import { webcrypto } from 'node:crypto'
import { describe, expect, it } from 'vitest'

import { poolRandomness } from '../../../../cluster/index.ts'

/** A source with a pool that notes how many bytes the system was asked for. */
function pooled() {
  const asked: number[] = []
  const source: Pick<webcrypto.Crypto, 'getRandomValues'> = {
    getRandomValues: (array) => {
      asked.push(array!.byteLength)
      return webcrypto.getRandomValues(array)
    },
  }
  poolRandomness(source)
  return { asked, draw: (bytes: number) => source.getRandomValues(new Uint8Array(bytes)), source }
}

describe('a pool of random bytes', () => {
  it('gives no bytes twice, and asks the system once for 256 ids', () => {
    const { asked, draw } = pooled()
    const ids = Array.from({ length: 10_000 }, () => Buffer.from(draw(16)).toString('hex'))
    expect(new Set(ids).size).toBe(ids.length)
    expect(asked).toEqual(Array.from({ length: 40 }, () => 4_096))
  })

  it('fills what it was given, of any small length', () => {
    const { draw, source } = pooled()
    for (let bytes = 1; bytes <= 16; bytes++) {
      const sums = Array.from({ length: bytes }, () => 0)
      for (let tries = 0; tries < 200; tries++) {
        draw(bytes).forEach((byte, at) => {
          sums[at]! += byte
        })
      }
      // 127.5 on average, with a standard deviation of 5.2.
      for (const sum of sums) expect(Math.abs(sum / 200 - 127.5)).toBeLessThan(50)
    }
    const given = new Uint8Array(16)
    expect(source.getRandomValues(given)).toBe(given)
  })

  it('leaves everything else to the system', () => {
    const { asked, draw, source } = pooled()
    expect(draw(32)).toHaveLength(32)
    expect(source.getRandomValues(new Uint32Array(2))).toHaveLength(2)
    expect(asked).toEqual([32, 8])
  })
})
