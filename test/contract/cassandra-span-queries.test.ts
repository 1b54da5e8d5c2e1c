/** Cassandra answers random filters as a plain look at every span does. */

import { it } from 'vitest'

import { cassandraForTests } from '../support/cassandra.ts'
import { filterAgreement } from '../support/filter-agreement.ts'
import { isNight } from '../support/repeats.ts'
import { cassandraSpanPlace } from './cassandra-span-place.ts'

const cassandra = await cassandraForTests()

it.skipIf(!cassandra)('Random filters find what a look at every span finds.', async ({
  onTestFinished,
}) => {
  const place = await cassandraSpanPlace(cassandra!)
  onTestFinished(() => place.remove())
  const [writer, reader] = [await place.open('write'), await place.open('read')]
  await filterAgreement({ writer, reader }, 'acme', { traces: isNight ? 30 : 20,
    questions: isNight ? 1_500 : 8, seed: 12 })
})
