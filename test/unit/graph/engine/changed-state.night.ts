/** Thousands of random graphs: the log holds what the library's own saver would hold. */

import fc from 'fast-check'
import { it } from 'vitest'

import { changingGraph } from '../../../support/changing-graph.ts'
import { expectAlways } from '../../../support/expect-always.ts'
import { expectAlike } from '../../../support/state-oracle.ts'

/** By night a hundred seconds of processor: five thousand graphs or more. */
const share = 200

it("holds what the library's own saver holds, after every step of thousands of random graphs", () =>
  expectAlways(fc.asyncProperty(changingGraph, expectAlike), { share }))
