/** A plan leaves out nothing that a filter wants. */

import { it } from 'vitest'

import { filterAgreement } from '../../../support/filter-agreement.ts'
import { memorySpans } from '../../../support/memory-spans.ts'
import { strictScan } from '../../../support/strict-scan.ts'

it.each([
  ['reads everything', memorySpans(), 1],
  ['leaves out what it may', strictScan(memorySpans()), 2],
])('Pages of a store that %s are what a look at every span finds.', async (_, store, seed) => {
  await filterAgreement({ writer: store, reader: store }, 'acme', { traces: 40, questions: 60,
    seed })
})
