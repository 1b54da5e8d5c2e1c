/** Up to ten thousand random graphs: the log holds what the library's own saver would hold. */

import fc from 'fast-check'
import { it } from 'vitest'

import { changingGraph } from '../../../support/changing-graph.ts'
import { repeats } from '../../../support/repeats.ts'
import { expectAlike } from '../../../support/state-oracle.ts'

/** Ten thousand need three minutes on two quiet cores. */
const timeMs = repeats({ day: 8_000, night: 600_000 })

it("holds what the library's own saver holds, after every step of up to 10 000 random graphs", () =>
  fc.assert(fc.asyncProperty(changingGraph, expectAlike), {
    numRuns: 10_000,
    interruptAfterTimeLimit: timeMs,
    markInterruptAsFailure: false,
  }))
