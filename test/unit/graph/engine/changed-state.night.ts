/** Thousands of random graphs: the log holds what the library's own saver would hold. */

import fc from 'fast-check'
import { it } from 'vitest'

import { changingGraph } from '../../../support/changing-graph.ts'
import { expectAlways } from '../../../support/expect-always.ts'
import { repeats } from '../../../support/repeats.ts'
import { expectAlike } from '../../../support/state-oracle.ts'

/** Ten thousand need three minutes on two quiet cores. */
const share = repeats({ day: 200, night: 200 })

it("holds what the library's own saver holds, after every step of thousands of random graphs", () =>
  expectAlways(fc.asyncProperty(changingGraph, expectAlike), { share }))
