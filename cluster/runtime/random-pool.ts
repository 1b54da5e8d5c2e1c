/** Random bytes in advance: the system is asked once for many ids, instead of once for each. */

import type { webcrypto } from 'node:crypto'

const poolBytes = 4_096

/** Of what is asked for: an id needs 16. Keys and secrets, which are longer, come as before. */
const smallBytes = 16

/**
 * Makes small requests for random bytes cheaper, for all code that asks the same object: they come
 * from a pool of the same source. Libraries ask for each id that they make.
 */
export function poolRandomness(
  crypto: Pick<webcrypto.Crypto, 'getRandomValues'> = globalThis.crypto,
): void {
  const fill = crypto.getRandomValues.bind(crypto)
  const pool = new Uint8Array(poolBytes)
  let used = poolBytes
  crypto.getRandomValues = (array) => {
    if (!(array instanceof Uint8Array) || array.byteLength > smallBytes) return fill(array)
    if (used + array.byteLength > poolBytes) {
      fill(pool)
      used = 0
    }
    for (let at = 0; at < array.byteLength; at++) {
      array[at] = pool[used]!
      // Nobody finds in memory what an id was made of.
      pool[used++] = 0
    }
    return array
  }
}
