/** Since when repairs cover the ring of tokens. */

import { describe, expect, it } from 'vitest'

import { repairedSince } from '../../../../../src/store/cassandra/cluster/repair-coverage.ts'

const least = -(2n ** 63n)
const repair = (startedAtMs: number, ...ranges: readonly string[]) => ({ startedAtMs, ranges })

describe('repairs', () => {
  it('cover the ring when their parts meet all round', () => {
    expect(repairedSince([repair(5, '(-100,0]', '(0,100]', '(100,-100]')])).toBe(5)
    expect(repairedSince([repair(5, `(${least},0]`, `(0,${least}]`)])).toBe(5)
    expect(repairedSince([repair(5, '(7,7]')])).toBe(5)
  })

  it('cover it since the oldest one that is needed', () => {
    const [one, two, again] = [repair(1, '(-100,0]'), repair(2, '(0,-100]'), repair(3, '(-100,0]')]
    expect(repairedSince([two, one])).toBe(1)
    expect(repairedSince([one, again, two])).toBe(2)
  })

  it.each([
    ['there are none', []],
    ['a part is left out', [repair(1, '(-100,0]', '(1,-100]')]],
    ['the part past the end is left out', [repair(1, '(-100,0]', '(0,100]')]],
    ['a range is not understood', [repair(1, '(a,a]')]],
  ])('do not cover it where %s', (_, repairs) => {
    expect(repairedSince(repairs)).toBeUndefined()
  })
})
