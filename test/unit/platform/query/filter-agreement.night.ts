/** A plan leaves out nothing that a filter wants, at length. */

import { it } from 'vitest'

import { filterAgreement } from '../../../support/filter-agreement.ts'
import { memorySpans } from '../../../support/memory-spans.ts'
import { repeats } from '../../../support/repeats.ts'
import { strictScan } from '../../../support/strict-scan.ts'

const questions = repeats({ day: 4_000, night: 10_000 })

it(`Pages of ${questions} random filters are what a look at every span finds.`, async () => {
  const store = strictScan(memorySpans())
  await filterAgreement({ writer: store, reader: store }, 'acme', { traces: 60, questions,
    seed: 3 })
})
