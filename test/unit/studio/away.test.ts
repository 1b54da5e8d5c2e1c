/** Absences of the server: how often it is looked for. */

import { expect, it } from 'vitest'

import { probeDelayMs } from '../../../src/studio/away.ts'

it('looks for the server at once, then once a second at most, and ever less often', () => {
  const delays = Array.from({ length: 12 }, (_, tries) => probeDelayMs(tries))
  expect(delays.slice(0, 3)).toEqual([300, 1_000, 1_400])
  expect(delays.slice(1).every((ms) => ms >= 1_000 && ms <= 8_000)).toBe(true)
  expect(delays).toEqual(delays.toSorted((a, b) => a - b))
  expect(delays.at(-1)).toBe(8_000)
})
