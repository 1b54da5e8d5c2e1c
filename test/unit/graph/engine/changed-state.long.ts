/** Ten thousand random graphs: the log holds what the library's own saver would hold. */

import fc from 'fast-check'
import { it } from 'vitest'

import { changingGraph } from '../../../support/changing-graph.ts'
import { expectAlike } from '../../../support/state-oracle.ts'

/** A slow machine tries fewer. */
const timeMs = 300_000

it("holds what the library's own saver holds, after every step of 10 000 random graphs", () =>
  fc.assert(fc.asyncProperty(changingGraph, expectAlike), {
    numRuns: 10_000,
    interruptAfterTimeLimit: timeMs,
    markInterruptAsFailure: false,
  }))
