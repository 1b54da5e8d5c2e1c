/** Effects of one thread in ten thousand random sequences of events. */

import { expect, it } from 'vitest'

import { useTasks } from '../../support/engine-thread.ts'
import { isNight } from '../../support/repeats.ts'
import { simulateThread } from './thread-world.ts'

useTasks()

const sequences = 10_000
/** Each night has sequences of its own. */
const first = isNight ? 1_000 + Number(process.env['HEDDLE_SEARCH_SEED'] ?? 0) % 1e9 : 1_000

it(`does each effect once in ${sequences} random sequences on one thread`, async () => {
  for (let seed = first; seed < first + sequences; seed++) {
    const { findings, trace } = await simulateThread(seed)
    expect(findings, `seed ${seed}:\n${trace.join('\n')}`).toEqual([])
  }
}, 7_200_000)
