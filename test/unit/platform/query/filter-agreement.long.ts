/** A plan leaves out nothing that a filter wants, at length. */

import { it } from 'vitest'

import { filterAgreement } from '../../../support/filter-agreement.ts'
import { memorySpans } from '../../../support/memory-spans.ts'
import { strictScan } from '../../../support/strict-scan.ts'

it('Pages of 10 000 random filters are what a look at every span finds.', async () => {
  const store = strictScan(memorySpans())
  await filterAgreement({ writer: store, reader: store }, 'acme', { traces: 60, questions: 10_000,
    seed: 3 })
})
