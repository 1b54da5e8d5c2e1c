/** Random bytes for ids, drawn many at a time: a call into the system for each id costs 15 µs. */

import { randomFillSync } from 'node:crypto'

const poolBytes = 8_192
/** Longer requests are keys, not ids: they go to the system as before. */
const pooledMax = 64

/** From here on `crypto.getRandomValues` serves short requests of this thread from a pool. */
export function poolRandomness(): void {
  const pool = new Uint8Array(poolBytes)
  let used = poolBytes
  const original = globalThis.crypto.getRandomValues
  Object.defineProperty(globalThis.crypto, 'getRandomValues', {
    configurable: true,
    writable: true,
    value: <Given extends NodeJS.TypedArray>(array: Given): Given => {
      if (!(array instanceof Uint8Array) || array.length > pooledMax) {
        return original.call(globalThis.crypto, array as never) as Given
      }
      if (used + array.length > poolBytes) {
        randomFillSync(pool)
        used = 0
      }
      array.set(pool.subarray(used, used + array.length))
      // No byte is given twice, nor left where somebody could find it.
      pool.fill(0, used, used += array.length)
      return array
    },
  })
}
